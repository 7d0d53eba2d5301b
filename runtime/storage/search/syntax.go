package search

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Term is one part of a search text: a word, or a field with a value.
type Term struct {
	Field string // empty for a word
	Value string
	At    int // its position in characters, from 1
}

// Fields parses a search text such as `receipt to:bob@example.net tag:"kind=big order"`. A term is a word
// or field:value; quoted text is taken literally. An unknown name before a colon is rejected, unless the
// colon ends the word, as in `Re:`. The error is a sentence without a subject and contains the position of the
// mistake.
func Fields(text string, fields ...string) ([]Term, error) {
	var out []Term
	rest, at := text, 1
	for {
		trimmed := strings.TrimLeftFunc(rest, unicode.IsSpace)
		at += utf8.RuneCountInString(rest[:len(rest)-len(trimmed)])
		if rest = trimmed; rest == "" {
			return out, nil
		}
		term := Term{At: at}
		if name, behind, found := cutField(rest); found {
			if !slices.Contains(fields, name) {
				return nil,
					fmt.Errorf("has at character %d the unknown field %q; use one of %s, or quotes to search for "+
						"it as a word", at, name, strings.Join(fields, ", "))
			}
			term.Field = name
			at += len(name) + 1 // ASCII letters, so bytes are characters
			rest = behind
		}
		value, behind, closed := cutValue(rest)
		if !closed {
			return nil, fmt.Errorf("has an unclosed quote at character %d", at)
		}
		if value == "" && term.Field != "" {
			return nil, fmt.Errorf("has at character %d the field %s without a value", term.At, term.Field)
		}
		at += utf8.RuneCountInString(rest[:len(rest)-len(behind)])
		if rest, term.Value = behind, value; value != "" {
			out = append(out, term)
		}
	}
}

// cutField cuts a name and a colon off a text that begins with letters, a colon and something else.
func cutField(text string) (name, behind string, found bool) {
	name, behind, found = strings.Cut(text, ":")
	letters := name != "" && !strings.ContainsFunc(name,
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' })
	if !found || !letters || behind == "" || unicode.IsSpace([]rune(behind)[0]) {
		return "", "", false
	}
	return strings.ToLower(name), behind, true
}

// cutValue cuts off the quoted text, or the text up to the next space.
func cutValue(text string) (value, behind string, closed bool) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], true
	}
	value, behind, closed = strings.Cut(text[1:], `"`)
	return value, behind, closed
}

// Date parses the time of a field: a day, which begins at midnight UTC, or an RFC 3339 time.
func (t Term) Date(wrong fault.Fields, name string) *time.Time {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, t.Value); err == nil {
			return &at
		}
	}
	wrong.Add(name,
		"has at character %d, after %s:, %q, which must be a day such as 2026-01-31 or a time such as 2026-01-31T09:30:00Z",
		t.At, t.Field, t.Value)
	return nil
}

// SetOnce sets the value of a field, unless it is already set.
func (t Term) SetOnce(wrong fault.Fields, name string, into *string) {
	if *into != "" && *into != t.Value {
		wrong.Add(name, "has at character %d %s: twice, or in conflict with another filter", t.At, t.Field)
		return
	}
	*into = t.Value
}
