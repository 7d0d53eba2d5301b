package dkim

import (
	"bytes"
	"strings"
)

// oversigned fields appear in h= once more than in the message, whether present or not (RFC 6376 section
// 8.15).
var oversigned = []string{
	"From", "To", "Cc", "Reply-To", "Sender", "Subject", "Date", "Message-ID", "In-Reply-To", "References",
	"MIME-Version", "Content-Type", "Content-Transfer-Encoding",
}

// whenPresent fields are signed, and oversigned, only if they occur: mailing lists add them, which alone
// should not break a signature. The two of RFC 8058 section 4 must be covered for one-click unsubscribe to
// work.
var whenPresent = []string{
	"List-Unsubscribe", "List-Unsubscribe-Post", "List-Id", "Feedback-ID", "Content-ID",
}

// selectFields returns the names for h=, or nil if there is no From to sign.
func selectFields(fields []field) []string {
	names := make([]string, 0, 40)
	for _, name := range oversigned {
		n := countFields(fields, name)
		if n == 0 && name == "From" {
			return nil
		}
		for range n + 1 {
			names = append(names, name)
		}
	}
	for _, name := range whenPresent {
		if n := countFields(fields, name); n > 0 {
			for range n + 1 {
				names = append(names, name)
			}
		}
	}
	return names
}

func countFields(fields []field, name string) int {
	n := 0
	for _, f := range fields {
		if equalFold(f.name, name) {
			n++
		}
	}
	return n
}

func equalFold(b []byte, name string) bool {
	return len(b) == len(name) && strings.EqualFold(string(b), name)
}

// picker returns the instances of a field from bottom to top (RFC 6376 section 5.4.2).
type picker struct {
	fields []field
	taken  []bool
}

func newPicker(fields []field) *picker {
	return &picker{fields: fields, taken: make([]bool, len(fields))}
}

func (p *picker) pickField(name string) (field, bool) {
	for i := len(p.fields) - 1; i >= 0; i-- {
		if !p.taken[i] && equalFold(p.fields[i].name, name) {
			p.taken[i] = true
			return p.fields[i], true
		}
	}
	return field{}, false
}

// appendRelaxedField appends a field in relaxed form (RFC 6376 section 3.4.2): name in lower case,
// unfolded, runs of white space reduced to one space, none around the colon and at the end.
func appendRelaxedField(b []byte, f field) []byte {
	for _, c := range f.name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	b = append(b, ':')
	value := f.raw[bytes.IndexByte(f.raw, ':')+1:]
	start := len(b)
	space := false
	for _, c := range value {
		switch c {
		case ' ', '\t', '\r', '\n':
			space = true
		default:
			if space && len(b) > start {
				b = append(b, ' ')
			}
			space = false
			b = append(b, c)
		}
	}
	return append(b, '\r', '\n')
}
