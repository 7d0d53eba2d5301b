package body

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// See the package comment for why encoding/json is not used. FuzzParseJSON compares the two.

// maxDepth and maxValues bound the cost of walking a body.
const (
	maxDepth  = 64
	maxValues = 200_000
)

// JSONType is the type of a JSON value.
type JSONType string

// The kinds, as messages name them.
const (
	KindNull    JSONType = "null"
	KindBoolean JSONType = "a boolean"
	KindNumber  JSONType = "a number"
	KindString  JSONType = "a string"
	KindArray   JSONType = "an array"
	KindObject  JSONType = "an object"
)

// Value is a value in a body that parseJSON has accepted. It points into the body.
type Value struct{ raw []byte }

// Kind returns the type of the value.
func (v Value) Kind() JSONType {
	switch v.raw[0] {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBoolean
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	default:
		return KindNumber
	}
}

// IsTrue reports whether a boolean is true.
func (v Value) IsTrue() bool { return v.raw[0] == 't' }

// innerText returns the text between the quotes and reports whether it contains no escapes.
func (v Value) innerText() (text []byte, plain bool) {
	text = v.raw[1 : len(v.raw)-1]
	return text, bytes.IndexByte(text, '\\') < 0
}

// Text decodes a string. parseJSON has checked its escapes, so that one pass is enough: encoding/json needs three.
func (v Value) Text() string {
	rest, plain := v.innerText()
	if plain {
		return string(rest)
	}
	var text strings.Builder
	text.Grow(len(rest))
	for {
		before, escape, found := bytes.Cut(rest, []byte{'\\'})
		text.Write(before)
		if !found {
			return text.String()
		}
		rest = escape[1:]
		switch c := escape[0]; c {
		case 'b', 'f', 'n', 'r', 't':
			text.WriteByte("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
		case 'u':
			r := hexRune(rest)
			if rest = rest[4:]; utf16.IsSurrogate(r) {
				r = utf16.DecodeRune(r, hexRune(rest[2:]))
				rest = rest[6:]
			}
			text.WriteRune(r)
		default: // a quote, a slash or a backslash
			text.WriteByte(c)
		}
	}
}

// hexRune returns the number of the four hexadecimal digits at the beginning of a text.
func hexRune(text []byte) rune {
	n, err := strconv.ParseUint(string(text[:4]), 16, 16)
	if err != nil {
		panic(fmt.Sprintf("body: decode a string that parseJSON accepted: %v", err))
	}
	return rune(n)
}

// Items iterates over an array.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		pos := skipSpace(v.raw, 1)
		for i := 0; v.raw[pos] != ']'; i++ {
			end := skipValue(v.raw, pos)
			if !yield(i, Value{v.raw[pos:end]}) {
				return
			}
			pos = skipSeparator(v.raw, end)
		}
	}
}

// Members iterates over the fields of an object, in the caller's order.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		pos := skipSpace(v.raw, 1)
		for v.raw[pos] != '}' {
			end := skipString(v.raw, pos)
			name := Value{v.raw[pos:end]}.Text()
			pos = skipSpace(v.raw, skipSpace(v.raw, end)+1) // over the colon
			end = skipValue(v.raw, pos)
			if !yield(name, Value{v.raw[pos:end]}) {
				return
			}
			pos = skipSeparator(v.raw, end)
		}
	}
}

// The skip functions rely on parseJSON having accepted the text.

func skipSpace(data []byte, pos int) int {
	for pos < len(data) && (data[pos] == ' ' || data[pos] == '\t' || data[pos] == '\n' || data[pos] == '\r') {
		pos++
	}
	return pos
}

func skipSeparator(data []byte, pos int) int {
	pos = skipSpace(data, pos)
	if data[pos] == ',' {
		pos = skipSpace(data, pos+1)
	}
	return pos
}

func skipString(data []byte, pos int) int {
	for at := pos + 1; ; {
		quote := at + bytes.IndexByte(data[at:], '"')
		backslashes := 0
		for data[quote-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return quote + 1
		}
		at = quote + 1
	}
}

func skipValue(data []byte, pos int) int {
	depth := 0
	for {
		switch data[pos] {
		case '"':
			pos = skipString(data, pos)
		case '{', '[':
			depth++
			pos++
		case '}', ']':
			depth--
			pos++
		case ',', ':', ' ', '\t', '\n', '\r':
			pos++
		default:
			for pos < len(data) && strings.IndexByte(",]} \t\r\n", data[pos]) < 0 {
				pos++
			}
		}
		if depth == 0 {
			return pos
		}
	}
}

// syntaxError is the position at which a body stops being JSON.
type syntaxError struct {
	line, column int
	problem      string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.problem)
}

// parseJSON accepts exactly one JSON value (RFC 8259) in UTF-8 and nothing after it. The value can be nested maxDepth
// levels deep and contain maxValues values.
func parseJSON(data []byte) (Value, error) {
	p := parser{data: data}
	if !utf8.Valid(data) {
		return Value{}, p.fail(firstInvalid(data), "not valid UTF-8")
	}
	start := skipSpace(data, 0)
	p.pos = start
	if err := p.scanValue(0); err != nil {
		return Value{}, err
	}
	end := p.pos
	if p.pos = skipSpace(data, end); p.pos != len(data) {
		return Value{}, p.fail(p.pos, "unexpected data after the JSON value")
	}
	return Value{data[start:end]}, nil
}

func firstInvalid(data []byte) int {
	pos := 0
	for pos < len(data) {
		r, size := utf8.DecodeRune(data[pos:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		pos += size
	}
	return pos
}
