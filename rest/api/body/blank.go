package body

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// KeepsEmpty is implemented by types for which an empty string is a distinct value. A string of white space is not.
type KeepsEmpty interface{ KeepsEmpty() }

// omitsBlank reports whether a value is a blank text (an empty string, or only white space) that is treated as null.
// This applies to every optional free-text field, because forms and no-code tools send "" for values that their users
// left out.
func (o Object) omitsBlank(f *Field, v Value) bool {
	if v.Kind() != KindString || !isBlankToken(v.raw) {
		return false
	}
	omits := o.omittedTokens(f)
	return omits != nil && omits(v.raw)
}

// omittedTokens returns a function that reports whether a JSON string is treated as an omitted field, or nil if no
// string is. It is too slow to be called for each field of each request.
func (o Object) omittedTokens(f *Field) func(token []byte) bool {
	if f.Need != Optional || o.Single {
		return nil
	}
	if _, keeps := f.Type.(KeepsEmpty); keeps {
		return isWhiteSpaceToken
	}
	c := Components{}
	text := c.findText(f.Type.Schema(c))
	switch {
	case text == nil, len(text.Enum) > 0: // a blank scope of an API key must not grant the default one
		return nil
	case text.Format == "password": // which may consist of spaces
		return isEmptyToken
	default:
		return isBlankToken
	}
}

// findText returns the schema of a value in the form of a string, or nil if it cannot be a string.
func (c Components) findText(s *huma.Schema) *huma.Schema {
	if s.Ref != "" {
		s = c[strings.TrimPrefix(s.Ref, refPrefix)]
	}
	if s.Type == huma.TypeString {
		return s
	}
	for _, option := range s.OneOf {
		if text := c.findText(option); text != nil {
			return text
		}
	}
	return nil
}

func isWhiteSpaceToken(token []byte) bool { return isBlankToken(token) && !isEmptyToken(token) }

func isEmptyToken(token []byte) bool { return string(token) == `""` }

// isBlankToken reports whether a JSON value is a string that is empty or only white space. It stops at the first
// other character, as values can be large.
func isBlankToken(token []byte) bool {
	if len(token) < 2 || token[0] != '"' {
		return false
	}
	text := token[1 : len(token)-1]
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			r, size := utf8.DecodeRune(text[i:])
			if !unicode.IsSpace(r) {
				return false
			}
			i += size
			continue
		}
		r, last := unescape(text, i)
		if !unicode.IsSpace(r) {
			return false
		}
		i = last + 1
	}
	return true
}
