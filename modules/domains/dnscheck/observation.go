package dnscheck

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Observation is the result of one check for one record. If it is unanswered, the record keeps its state.
type Observation struct {
	Purpose    Purpose
	Selector   string // for DKIM only
	Optional   bool   // verification does not depend on this record, although it depends on others with this purpose
	Status     Status
	Found      []string
	Advice     string // one sentence; empty when verified
	Unanswered bool
	Operators  bool // the installation's own record is broken

	Findings []shape.RecordFinding // for BIMI only
}

// IsRequired reports whether the domain needs the record for verification.
func (o Observation) IsRequired() bool { return o.Purpose.isRequired() && !o.Optional }

// Merge returns the states after a check: new observations replace earlier ones, except unanswered ones.
func Merge(known []shape.RecordState, seen []Observation) []shape.RecordState {
	merged := make([]shape.RecordState, 0, len(seen))
	for _, o := range seen {
		state := shape.RecordState{Purpose: string(o.Purpose), Selector: o.Selector, Status: string(o.Status),
			Found: clipValues(o.Found), Error: sanitizeText(o.Advice), Findings: sanitizeFindings(o.Findings)}
		if o.Unanswered {
			state.Status, state.Found, state.Error = string(Missing), []string{}, o.Advice
			for _, k := range known {
				if k.Purpose == state.Purpose && k.Selector == state.Selector {
					state = k
				}
			}
		}
		merged = append(merged, state)
	}
	return merged
}

// SameResults reports whether two checks have the same results. The order of values does not matter, because DNS
// servers rotate it.
func SameResults(a, b []shape.RecordState) bool {
	ordered := func(states []shape.RecordState) []shape.RecordState {
		states = slices.SortedFunc(slices.Values(states), func(x, y shape.RecordState) int {
			return cmp.Or(cmp.Compare(x.Purpose, y.Purpose), cmp.Compare(x.Selector, y.Selector))
		})
		for i := range states {
			states[i].Found = slices.Sorted(slices.Values(states[i].Found))
		}
		return states
	}
	return slices.EqualFunc(ordered(a), ordered(b), func(x, y shape.RecordState) bool {
		return x.Purpose == y.Purpose && x.Selector == y.Selector && x.Status == y.Status && x.Error == y.Error &&
			slices.Equal(x.Found, y.Found) && slices.Equal(x.Findings, y.Findings)
	})
}

func sanitizeFindings(list []shape.RecordFinding) []shape.RecordFinding {
	var out []shape.RecordFinding
	for _, f := range list {
		f.Found = sanitizeText(f.Found)
		out = append(out, f)
	}
	return out
}

// clipValues limits how much data from a foreign zone is stored.
func clipValues(found []string) []string {
	const maxValues = 10
	out := make([]string, 0, min(len(found), maxValues))
	for _, value := range found[:min(len(found), maxValues)] {
		out = append(out, sanitizeText(value))
	}
	return out
}

// sanitizeText makes text from a foreign zone safe for a JSON column, which accepts neither NUL nor invalid UTF-8, and
// for one line of a page.
func sanitizeText(text string) string {
	const maxLength = 1000
	if len(text) > maxLength {
		text = text[:maxLength] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
