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
					fmt.Errorf("has an unknown field %q at character %d; use %s, or quotes to search for it as a word",
						name, at, strings.Join(fields, ", "))
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
			return nil, fmt.Errorf("requires a value after %s: at character %d", term.Field, term.At)
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
		"must have a date such as 2026-01-31 or 2026-01-31T09:30:00Z after %s: at character %d, not %q",
		t.Field, t.At, t.Value)
	return nil
}

// IsPart reports whether the value of a field such as to: is a part of an address and not a complete one.
func IsPart(value string) bool {
	local, domain, _ := strings.Cut(value, "@")
	return local == "" || !strings.Contains(domain, ".")
}

// IDWord returns the id in a word: the word itself, or the id in a Message-ID that Postrider wrote.
func IDWord(word string) string {
	local, _, _ := strings.Cut(trimBrackets(word), "@")
	return local
}

// Contains returns a condition on a text, which must contain the value.
func (t Term) Contains(wrong fault.Fields, sql string) Contains {
	if !hasLetterOrDigit(t.Value) {
		wrong.Add("q", "must contain a letter or a digit after %s: (character %d)", t.Field, t.At)
	}
	return Contains{SQL: sql, Text: t.Value}
}

// SetOnce sets the value of a field, unless it is already set.
func (t Term) SetOnce(wrong fault.Fields, name string, into *string) {
	switch {
	case *into == "" || *into == t.Value:
		*into = t.Value
	case t.Field == "":
		wrong.Add(name, "cannot combine %s at character %d with another id or filter of its kind", t.Value, t.At)
	default:
		wrong.Add(name, "cannot combine %s: at character %d with another value or filter for it", t.Field, t.At)
	}
}
