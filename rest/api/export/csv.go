package export

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/rest/api/wire"
)

// Column is a column of a CSV file. Text returns the cell of a record, or "" for null.
type Column[R any] struct {
	Name string
	Text func(R) string
}

// formulaStarts are the characters that make a spreadsheet read a cell as a formula. Some convert the full-width forms
// to ASCII.
const formulaStarts = "=+-@\t\r＝＋－＠"

// appendRow appends a row (RFC 4180). A cell that a spreadsheet would interpret as a formula is prefixed with an
// apostrophe.
func appendRow(out []byte, cells []string) []byte {
	for i, cell := range cells {
		if i > 0 {
			out = append(out, ',')
		}
		if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune(formulaStarts, first) {
			cell = "'" + cell
		}
		if !strings.ContainsAny(cell, "\",\r\n") {
			out = append(out, cell...)
			continue
		}
		out = append(out, '"')
		out = append(out, strings.ReplaceAll(cell, `"`, `""`)...)
		out = append(out, '"')
	}
	return append(out, "\r\n"...)
}

// OrEmpty returns the cell of a value that can be null.
func OrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// FormatTime returns a time as a cell of an export.
func FormatTime(t wire.Time) string { return time.Time(t).UTC().Format(wire.Layout) }

// OptionalMoment returns the cell of a time that can be null.
func OptionalMoment(t wire.OptionalTime) string {
	if t.At == nil {
		return ""
	}
	return FormatTime(wire.Time(*t.At))
}

// Addresses returns the cell of several addresses.
func Addresses(list []string) string { return strings.Join(list, ", ") }
