package doctor

import (
	"cmp"
	"fmt"
	"slices"
)

// Level is the severity of a finding.
type Level int

// The levels, from best to worst.
const (
	OK Level = iota
	Skipped
	Warning
	Error
)

var levelNames = [...]string{"ok", "skipped", "warning", "error"}

func (l Level) String() string { return levelNames[l] }

// MarshalText returns the name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Finding is the result of one check for one thing.
type Finding struct {
	Check    string `json:"check"`    // its name, for example "dns.spf"
	Level    Level  `json:"level"`    //
	Found    string `json:"found"`    // the actual value
	Expected string `json:"expected"` // the expected value
	Do       string `json:"do"`       // one or two sentences; empty if no action is needed
}

// RequiredRecord is a DNS record that an installation needs.
type RequiredRecord struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
	For   string `json:"for"` // purpose of the record
}

// Report is the result of all checks.
type Report struct {
	Level    Level            `json:"level"` // the worst level
	Records  []RequiredRecord `json:"records"`
	Findings []Finding        `json:"findings"`
}

// Add adds findings.
func (r *Report) Add(findings ...Finding) {
	for _, f := range findings {
		if f.Level != Skipped {
			r.Level = max(r.Level, f.Level)
		}
		r.Findings = append(r.Findings, f)
	}
}

// Count returns the number of findings with the level.
func (r *Report) Count(l Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

// Problems lists the warnings and errors, errors first.
func (r *Report) Problems() []Finding {
	bad := slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Level < Warning })
	slices.SortStableFunc(bad, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	return bad
}

// ExitCode returns 0 if everything is fine, 1 with warnings and 2 with errors.
func (r *Report) ExitCode() int { return max(0, int(r.Level)-int(Skipped)) }

// subject creates the findings of a check with one expectation.
type subject struct{ check, expected string }

func (s subject) ok(found string) Finding {
	return Finding{Check: s.check, Found: found, Expected: s.expected}
}

func (s subject) finding(l Level, found, do string, args ...any) Finding {
	return Finding{Check: s.check, Level: l, Found: found, Expected: s.expected, Do: fmt.Sprintf(do, args...)}
}
