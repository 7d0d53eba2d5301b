package dnscheck

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/postrider/postrider/ent/schema/shape"
)

// Observation is what one check saw of one record. An unanswered one says nothing, and the
// record keeps its state.
type Observation struct {
	Purpose    Purpose
	Selector   string // of DKIM only
	Optional   bool   // verification does not depend on this one, though it does on its purpose
	Status     Status
	Found      []string
	Advice     string // one sentence; empty when verified
	Unanswered bool
	Operators  bool // what is wrong is a record of the installation itself
}

// Required reports whether the domain needs the record to be verified.
func (o Observation) Required() bool { return o.Purpose.isRequired() && !o.Optional }

// Merge returns the states after a check: what answered replaces what was known.
func Merge(known []shape.RecordState, seen []Observation) []shape.RecordState {
	merged := make([]shape.RecordState, 0, len(seen))
	for _, o := range seen {
		state := shape.RecordState{Purpose: string(o.Purpose), Selector: o.Selector, Status: string(o.Status),
			Found: clip(o.Found), Error: clean(o.Advice)}
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

// Same reports whether two checks saw the same. DNS servers turn the order of several values
// round, which is no change.
func Same(a, b []shape.RecordState) bool {
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
			slices.Equal(x.Found, y.Found)
	})
}

// clip bounds what a stranger's zone can make us store.
func clip(found []string) []string {
	const maxValues = 10
	out := make([]string, 0, min(len(found), maxValues))
	for _, value := range found[:min(len(found), maxValues)] {
		out = append(out, clean(value))
	}
	return out
}

// clean makes text with a stranger's bytes in it fit for a JSON column, which
// takes neither NUL nor broken UTF-8, and for one line of a page.
func clean(text string) string {
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
