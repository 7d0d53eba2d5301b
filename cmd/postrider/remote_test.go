package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Outside parties write subjects and names. In a table, they stay on one line and cannot move the cursor.
func TestCellsHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                "plain",
		"a\x1b[2Jb\u009b1A":    "a [2Jb 1A",
		"invoice\u202egnp.exe": "invoice gnp.exe",
		"two\r\nlines\tand":    "two  lines and",
		"\u2028\u2029":         "-",
		"":                     "-",
	} {
		if got := formatCell(text); got != want {
			t.Errorf("the cell of %q is %q, want %q", text, got, want)
		}
		if got := formatCell([]any{text, nil}); strings.ContainsAny(got, "\x1b\n\u202e\u2028") {
			t.Errorf("the cell of a list with %q is %q", text, got)
		}
	}
	if got := cleanLines("a\tb\x07\r\nc\n"); got != "a    b\nc" {
		t.Errorf("lines are %q, want their breaks only", got)
	}
	if got := shortenCell(strings.Repeat("ä", 100)); len([]rune(got)) != maxCell {
		t.Errorf("a long cell has %d characters, want %d", len([]rune(got)), maxCell)
	}
}

func TestFormatCell(t *testing.T) {
	t.Parallel()
	for encoded, want := range map[string]string{`{"v": null}`: "-", `{"v": true}`: "yes", `{"v": []}`: "-",
		`{"v": ["a", 12345678901234567890]}`: "a, 12345678901234567890", `{"v": [{"name": "kind", "value": "x"}]}`: "kind"} {
		fields, err := decodeItem(json.RawMessage(encoded))
		if err != nil {
			t.Fatal(err)
		}
		if got := formatCell(fields["v"]); got != want {
			t.Errorf("the cell of %s is %q, want %q", encoded, got, want)
		}
	}
}
