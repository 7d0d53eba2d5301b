// Package verbatim preserves messages composed elsewhere, and changes only the requested parts.
//
// A message is its fields, each with its original bytes, and its body. Text bodies in it can be read as
// UTF-8 and replaced (Texts, Message.Write); everything around them keeps its bytes. Content that is signed
// or encrypted end to end (RFC 1847, RFC 8551, RFC 3156) is never touched: a changed byte would break it.
//
// Split is strict: input that two readers could interpret differently is an error, because the recipient's
// program must show the same content that was checked here.
package verbatim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// HeaderField is a header field.
type HeaderField struct {
	Name string
	Raw  []byte // the complete field, with its folds and its final CRLF
}

// Is compares names.
func (f HeaderField) Is(name string) bool { return strings.EqualFold(f.Name, name) }

// Value returns the value, unfolded (RFC 5322 section 2.2.3) and not decoded.
func (f HeaderField) Value() string {
	_, value, _ := strings.Cut(string(f.Raw), ":")
	return strings.TrimSpace(strings.ReplaceAll(value, "\r\n", ""))
}

// The limits of a header.
const (
	MaxHeader = 256 << 10 // bytes
	MaxFields = 1000
	maxLine   = 998 // bytes without CRLF, RFC 5322 section 2.1.1
)

// Split splits a message into header and body. Lines must end with CRLF and have at most 998 bytes; the header
// must consist of fields. Without an empty line, everything is the header.
func Split(message []byte) (fields []HeaderField, body []byte, err error) {
	if err := checkLines(message, maxLine); err != nil {
		return nil, nil, err
	}
	return splitFields(message)
}

// SplitLongLines is like Split, but allows longer lines, which HeaderField.Fold and ShortenLines can fix.
func SplitLongLines(message []byte) (fields []HeaderField, body []byte, err error) {
	if err := checkLines(message, len(message)); err != nil {
		return nil, nil, err
	}
	return splitFields(message)
}

// splitFields parses a header block including its empty line.
func splitFields(block []byte) (fields []HeaderField, rest []byte, err error) {
	whole := block
	for len(block) > 0 {
		raw, rest, ok := message.NextField(block)
		switch {
		case !ok:
			return nil, nil, errors.New("the header has a line that does not end with CRLF")
		case len(bytes.TrimRight(raw, "\r\n")) == 0:
			return fields, rest, nil
		case raw[0] == ' ' || raw[0] == '\t':
			return nil, nil, errors.New("the header begins with a continuation line")
		}
		if len(whole)-len(rest) > MaxHeader || len(fields) > MaxFields {
			return nil, nil, fmt.Errorf("the header has more than %d bytes or %d fields", MaxHeader, MaxFields)
		}
		name, _, found := bytes.Cut(raw, []byte(":"))
		if !found || !isName(name) {
			number := 1 + bytes.Count(whole[:len(whole)-len(block)], []byte("\n"))
			return nil, nil, fmt.Errorf("line %d of the header is not a field", number)
		}
		fields = append(fields, HeaderField{Name: string(name), Raw: withoutBlankFolds(raw)})
		block = rest
	}
	return fields, nil, nil
}

// withoutBlankFolds removes folds without text (RFC 5322 section 4.2), which end the header for some
// readers.
func withoutBlankFolds(raw []byte) []byte {
	var kept []byte
	at := 0
	for line := range bytes.Lines(raw) {
		blank := at > 0 && len(bytes.TrimSpace(line)) == 0
		switch {
		case blank && kept == nil:
			kept = append(make([]byte, 0, len(raw)), raw[:at]...)
		case !blank && kept != nil:
			kept = append(kept, line...)
		}
		at += len(line)
	}
	if kept != nil {
		return kept
	}
	return raw
}

// isName reports whether a name is a field-name of RFC 5322 section 3.6.8. It rejects white space before
// the colon, allowed by section 4.5, which hides a field from some readers.
func isName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(name) > 0
}

// checkLines checks that lines end with CRLF, are not longer than limit, and have no bare CR and no NUL.
func checkLines(message []byte, limit int) error {
	for number := 1; len(message) > 0; number++ {
		end := bytes.IndexByte(message, '\n')
		if end < 1 || message[end-1] != '\r' {
			return fmt.Errorf("line %d does not end with CRLF", number)
		}
		line := message[:end-1]
		message = message[end+1:]
		switch {
		case len(line) > limit:
			return fmt.Errorf("line %d has %d bytes; the limit is %d", number, len(line), limit)
		case bytes.IndexByte(line, '\r') >= 0:
			return fmt.Errorf("line %d has a bare CR", number)
		case bytes.IndexByte(line, 0) >= 0:
			return fmt.Errorf("line %d has a NUL character", number)
		}
	}
	return nil
}

// Join is the inverse of Split.
func Join(fields []HeaderField, body []byte) []byte {
	size := 2 + len(body)
	for _, f := range fields {
		size += len(f.Raw)
	}
	out := make([]byte, 0, size)
	for _, f := range fields {
		out = append(out, f.Raw...)
	}
	return append(append(out, '\r', '\n'), body...)
}

// Get returns the value of the first field with the name.
func Get(fields []HeaderField, name string) string {
	for _, f := range fields {
		if f.Is(name) {
			return f.Value()
		}
	}
	return ""
}

// HasField reports whether there is such a field.
func HasField(fields []HeaderField, name string) bool {
	for _, f := range fields {
		if f.Is(name) {
			return true
		}
	}
	return false
}
