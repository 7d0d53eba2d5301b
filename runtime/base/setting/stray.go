package setting

import (
	"fmt"
	"slices"
	"strings"
)

// prefix begins the names of the settings that are not shared with other programs.
const prefix = "POSTRIDER_"

// Stray is a variable of the environment that is named like a setting and is not one.
type Stray struct {
	Name    string
	Nearest string // the setting whose name differs least
}

func (s Stray) String() string {
	return fmt.Sprintf("%s is not a setting and has no effect; the nearest one is %s", s.Name, s.Nearest)
}

// Strays lists the variables that begin with POSTRIDER_ and are not known. environ has
// lines of the form NAME=value, as os.Environ gives them. The result is sorted by name.
func Strays(environ, known []string) []Stray {
	var found []Stray
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, prefix) && len(known) > 0 && !slices.Contains(known, name) {
			found = append(found, Stray{Name: name, Nearest: nearest(name, known)})
		}
	}
	slices.SortFunc(found, func(a, b Stray) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// nearest is the known name with the least edit distance, the first one of several.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance is the edit distance of Levenshtein: how many octets are to be inserted,
// deleted or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the octets of a so far, against each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // diagonal: one octet less of both
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
