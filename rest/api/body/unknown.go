package body

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// describeUnknown returns the error for an unknown field, with the likely intended name: a misspelled schedule_at
// must not send immediately.
func describeUnknown(name string, fields []Field) string {
	best, distance := "", 3
	for _, f := range fields {
		for _, candidate := range append([]string{f.Name}, f.Aliases...) {
			if d := editDistance(name, candidate); d < distance {
				best, distance = candidate, d
			}
		}
	}
	if best == "" {
		return "is not a known field"
	}
	return fmt.Sprintf("is not a known field; did you mean %s?", best)
}

func editDistance(a, b string) int {
	if len(a) > maxShown {
		return len(a)
	}
	a, b = plainName(a), plainName(b)
	if d := levenshtein.ComputeDistance(a, b); d < len(b)/2 || d == 0 {
		return d
	}
	return maxShown
}

func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}
