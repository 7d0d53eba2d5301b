package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// CanonicalBody returns the form in which bodies are compared: no white space, members sorted by name (of
// duplicates the last one counts, as in decoders), strings without unnecessary escapes, and equal numbers
// alike. An empty body is canonical.
//
// form describes further differences between equal bodies; it may be nil. A field that means the same as an
// omitted one is omitted.
//
// The form is only for comparison. A long string, such as the data of an attachment, is replaced by its
// SHA-256, so that a large body is not held in memory twice.
func CanonicalBody(jsonBody []byte, form *Form) ([]byte, error) {
	if len(jsonBody) == 0 {
		return nil, nil
	}
	if !json.Valid(jsonBody) {
		return nil, errors.New("canonical form: body is not JSON")
	}
	c := canonicaliser{in: jsonBody}
	return c.appendValue(make([]byte, 0, min(len(jsonBody), 16<<10)), form), nil
}

// canonicaliser walks JSON that is known to be valid, so it checks nothing. json.Valid limits the depth to
// 10,000.
type canonicaliser struct {
	in  []byte
	pos int
}

// nextToken returns the next byte that is not white space.
func (c *canonicaliser) nextToken() byte {
	for {
		switch b := c.in[c.pos]; b {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return b
		}
	}
}

// appendValue appends the canonical form of the next value.
func (c *canonicaliser) appendValue(out []byte, form *Form) []byte {
	begin, isArray := len(out), c.nextToken() == '['
	out = c.appendNotation(out, form)
	if form == nil || form.Rewrite == nil || isArray {
		return out
	}
	return append(out[:begin], form.Rewrite(out[begin:])...)
}

// appendNotation is appendValue without Rewrite.
func (c *canonicaliser) appendNotation(out []byte, form *Form) []byte {
	switch c.nextToken() {
	case '{':
		return c.appendObject(out, form)
	case '[':
		return c.appendList(out, form)
	case '"':
		token := c.stringToken()
		if form != nil && form.Text != nil && len(token) < digestFrom {
			return appendQuoted(out, form.Text(decodeString(token)))
		}
		return appendString(out, token)
	case 't', 'f', 'n':
		return append(out, c.readLiteral()...)
	default:
		return appendNumber(out, c.readLiteral())
	}
}

// readLiteral returns a number, true, false or null: everything up to the next delimiter.
func (c *canonicaliser) readLiteral() []byte {
	start := c.pos
	for c.pos < len(c.in) && !strings.ContainsRune(",]} \t\r\n", rune(c.in[c.pos])) {
		c.pos++
	}
	return c.in[start:c.pos]
}

// stringToken returns a string with its quotes.
func (c *canonicaliser) stringToken() []byte {
	start := c.pos
	for c.pos++; c.in[c.pos] != '"'; c.pos++ {
		if c.in[c.pos] == '\\' {
			c.pos++
		}
	}
	c.pos++
	return c.in[start:c.pos]
}

func (c *canonicaliser) appendArray(out []byte, form *Form) (_ []byte, items int) {
	c.pos++
	out = append(out, '[')
	for ; c.nextToken() != ']'; items++ {
		if items > 0 {
			c.pos++ // the comma
			out = append(out, ',')
		}
		if c.nextToken() == '[' {
			out = c.appendList(out, nil) // form applies to the items
		} else {
			out = c.appendValue(out, form)
		}
	}
	c.pos++
	return append(out, ']'), items
}

// appendList appends an array. If its form is that of a single item or of an object, it appends that.
func (c *canonicaliser) appendList(out []byte, form *Form) []byte {
	begin := len(out)
	out, items := c.appendArray(out, form)
	switch {
	case form == nil:
	case form.OneOrMany && items == 1:
		return slices.Delete(out, begin, begin+1)[:len(out)-2]
	case form.Tags && items > 0:
		if object, ok := tagObject(out[begin:]); ok {
			return append(out[:begin], object...)
		}
	}
	return out
}

// tagObject returns the object with the names and values of a canonical array of tags. It reports false if
// the array contains anything but tags with distinct names.
func tagObject(array []byte) ([]byte, bool) {
	c := canonicaliser{in: array}
	out := []byte{'{'}
	var tags []member
	for c.in[c.pos] != ']' {
		c.pos++ // the bracket or a comma
		t := member{start: len(out)}
		if !c.skipText(`{"name":`) || c.in[c.pos] != '"' {
			return nil, false
		}
		name := c.stringToken()
		t.name = decodeString(name)
		if !c.skipText(`,"value":`) || c.in[c.pos] != '"' {
			return nil, false
		}
		out = append(append(append(out, name...), ':'), c.stringToken()...)
		if !c.skipText(`}`) {
			return nil, false
		}
		t.end = len(out)
		tags, out = append(tags, t), append(out, ',')
	}
	out = sortMembers(out, 1, tags)
	return out, !hasDuplicates(tags)
}

// skipText steps over a text, or reports false if something else follows.
func (c *canonicaliser) skipText(text string) bool {
	if !bytes.HasPrefix(c.in[c.pos:], []byte(text)) {
		return false
	}
	c.pos += len(text)
	return true
}

type member struct {
	name       string
	start, end int    // positions of `"name":value` in the output
	omitUnless string // the member is omitted unless this member is present; "" means never
}

// appendObject appends the members in their order and sorts them only if needed.
func (c *canonicaliser) appendObject(out []byte, form *Form) []byte {
	c.pos++
	out = append(out, '{')
	begin := len(out)
	var members []member
	sorted := true
	for first := true; c.nextToken() != '}'; first = false {
		if !first {
			c.pos++ // the comma
		}
		c.nextToken()
		name, field := form.field(c.stringToken())
		c.nextToken()
		c.pos++ // the colon
		m := member{name: name, start: len(out)}
		out = append(appendQuoted(out, name), ':')
		value := len(out)
		out = c.appendValue(out, field.form())
		if field.isOmitted(out[value:]) {
			out = out[:m.start]
			continue
		}
		if field.hasDefault(out[value:]) {
			m.omitUnless, sorted = field.DefaultUnless, false
		}
		m.end = len(out)
		members = append(members, m)
		out = append(out, ',')
	}
	c.pos++
	if len(members) == 0 {
		return append(out, '}')
	}
	if sorted && slices.IsSortedFunc(members, byName) && !hasDuplicates(members) {
		out[len(out)-1] = '}' // over the last comma
		return out
	}
	return sortMembers(out, begin, members)
}

func byName(a, b member) int { return strings.Compare(a.name, b.name) }

func hasDuplicates(sorted []member) bool {
	for i := 1; i < len(sorted); i++ {
		if sorted[i].name == sorted[i-1].name {
			return true
		}
	}
	return false
}

// sortMembers rewrites the members in order, without those that are overridden or omitted.
func sortMembers(out []byte, begin int, members []member) []byte {
	slices.SortStableFunc(members, byName)
	sorted := make([]byte, 0, len(out)-begin)
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		if m.omitUnless != "" && !slices.ContainsFunc(members, func(o member) bool { return o.name == m.omitUnless }) {
			continue
		}
		sorted = append(append(sorted, out[m.start:m.end]...), ',')
	}
	if len(sorted) == 0 {
		return append(out[:begin], '}')
	}
	sorted[len(sorted)-1] = '}'
	return append(out[:begin], sorted...)
}

// digestFrom is the length in bytes from which a string is replaced by its digest.
const digestFrom = 4096

// appendString copies a string token without escapes unchanged, which is the case for base64 data.
func appendString(out, token []byte) []byte {
	if !isPlainToken(token) {
		token = appendQuoted(nil, decodeString(token))
	}
	if len(token) < digestFrom {
		return append(out, token...)
	}
	// No JSON value begins with #, so this cannot be confused with another string.
	sum := sha256.Sum256(token)
	return hex.AppendEncode(append(out, '#'), sum[:])
}

func isPlainToken(token []byte) bool {
	return bytes.IndexByte(token, '\\') < 0 && utf8.Valid(token)
}

func decodeString(token []byte) string {
	if isPlainToken(token) {
		return string(token[1 : len(token)-1])
	}
	var text string
	if err := json.Unmarshal(token, &text); err != nil {
		panic("idempotency: a string of valid JSON does not decode: " + err.Error())
	}
	return text
}

// appendQuoted escapes only what RFC 8259 section 7 requires.
func appendQuoted(out []byte, text string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < 0x20:
			out = append(out, '\\', 'u', '0', '0', digits[b>>4], digits[b&0xf])
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}
