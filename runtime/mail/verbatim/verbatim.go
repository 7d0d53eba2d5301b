// Package verbatim carries messages that others composed, and changes of them only
// what it is told to.
//
// A message is its fields, each with the octets that it came as, and its body. Text
// bodies in it can be read as UTF-8 and given another content (Texts, Message.Write);
// everything around them keeps its octets. What is signed or encrypted end to end
// (RFC 1847, RFC 8551, RFC 3156) is never looked into: a changed octet would break it.
//
// Split is strict: what two readers could read in two ways is an error, because what
// was judged here must be what the recipient's program shows.
package verbatim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/mail/message"
)

// Field is a header field.
type Field struct {
	Name string
	Raw  []byte // the whole, with its folds and its last CRLF
}

// Is compares names.
func (f Field) Is(name string) bool { return strings.EqualFold(f.Name, name) }

// Value is unfolded (RFC 5322 section 2.2.3) and not decoded.
func (f Field) Value() string {
	_, value, _ := strings.Cut(string(f.Raw), ":")
	return strings.TrimSpace(strings.ReplaceAll(value, "\r\n", ""))
}

// The bounds of a header.
const (
	MaxHeader = 256 << 10 // octets
	MaxFields = 1000
	maxLine   = 998 // octets without CRLF, RFC 5322 section 2.1.1
)

// Split takes a message apart. Its lines end with CRLF and have at most 998 octets; the
// header has nothing but fields. Without an empty line it is all header.
func Split(message []byte) (fields []Field, body []byte, err error) {
	if err := checkLines(message); err != nil {
		return nil, nil, err
	}
	fields, rest, err := splitFields(message)
	if err != nil {
		return nil, nil, err
	}
	return fields, rest, nil
}

// splitFields reads a header block up to and with its empty line.
func splitFields(block []byte) (fields []Field, rest []byte, err error) {
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
			return nil, nil, fmt.Errorf("the header has more than %d octets or %d fields", MaxHeader, MaxFields)
		}
		name, _, found := bytes.Cut(raw, []byte(":"))
		if !found || !isName(name) {
			number := 1 + bytes.Count(whole[:len(whole)-len(block)], []byte("\n"))
			return nil, nil, fmt.Errorf("line %d of the header is no field", number)
		}
		fields = append(fields, Field{Name: string(name), Raw: withoutBlankFolds(raw)})
		block = rest
	}
	return fields, nil, nil
}

// withoutBlankFolds leaves out folds without text (RFC 5322 section 4.2): they end the
// header for some readers.
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

// isName is field-name of RFC 5322 section 3.6.8. White space before the colon, which
// section 4.5 has, hides a field from some readers.
func isName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(name) > 0
}

func checkLines(message []byte) error {
	for number := 1; len(message) > 0; number++ {
		end := bytes.IndexByte(message, '\n')
		if end < 1 || message[end-1] != '\r' {
			return fmt.Errorf("line %d does not end with CRLF", number)
		}
		line := message[:end-1]
		message = message[end+1:]
		switch {
		case len(line) > maxLine:
			return fmt.Errorf("line %d has %d octets; the limit is %d", number, len(line), maxLine)
		case bytes.IndexByte(line, '\r') >= 0:
			return fmt.Errorf("line %d has a bare CR", number)
		case bytes.IndexByte(line, 0) >= 0:
			return fmt.Errorf("line %d has a NUL character", number)
		}
	}
	return nil
}

// Join is the inverse of Split.
func Join(fields []Field, body []byte) []byte {
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

// Get is the value of the first field of the name.
func Get(fields []Field, name string) string {
	for _, f := range fields {
		if f.Is(name) {
			return f.Value()
		}
	}
	return ""
}

// Has tells whether there is such a field.
func Has(fields []Field, name string) bool {
	for _, f := range fields {
		if f.Is(name) {
			return true
		}
	}
	return false
}
