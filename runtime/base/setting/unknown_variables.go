package setting

import (
	"fmt"
	"slices"
	"strings"
)

// prefix starts the names of the settings that are not shared with other programs.
const prefix = "POSTRIDER_"

// UnknownVariable is an environment variable that is named like a setting but is not one.
type UnknownVariable struct {
	Name    string
	Nearest string // the setting with the most similar name
}

func (s UnknownVariable) String() string {
	return fmt.Sprintf("%s is not a setting and has no effect; did you mean %s?", s.Name, s.Nearest)
}

// UnknownVariables lists the variables that begin with POSTRIDER_ and are unknown. environ has lines of the form
// NAME=value, as returned by os.Environ. The result is sorted by name.
func UnknownVariables(environ, known []string) []UnknownVariable {
	var found []UnknownVariable
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, prefix) && len(known) > 0 && !slices.Contains(known, name) {
			found = append(found, UnknownVariable{Name: name, Nearest: nearestName(name, known)})
		}
	}
	slices.SortFunc(found, func(a, b UnknownVariable) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// nearestName returns the known name with the smallest edit distance; the first of several.
func nearestName(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return editDistance(name, a) - editDistance(name, b) })
}

// editDistance returns the Levenshtein distance of two names in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // of the bytes of a so far, against each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // diagonal: one byte less of both
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
