package tracking

import "strings"

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	with       string
}

// applyEdits applies edits, which must be sorted and not overlap. All other bytes are copied unchanged.
func applyEdits(source string, edits []edit) string {
	if len(edits) == 0 {
		return source
	}
	size := len(source)
	for _, e := range edits {
		size += len(e.with) - (e.end - e.start)
	}
	var out strings.Builder
	out.Grow(size)
	at := 0
	for _, e := range edits {
		out.WriteString(source[at:e.start])
		out.WriteString(e.with)
		at = e.end
	}
	out.WriteString(source[at:])
	return out.String()
}
