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

// Canonical returns the form in which bodies are compared: no white space, members sorted by name (of equal
// names the last one counts, as in decoders), strings without unnecessary escapes. Numbers are unchanged: 1
// and 1.0 are different requests. An empty body is canonical.
//
// names lists members with several names; it may be nil. Such a member has its first name in the canonical
// form. If its value is null it is omitted, which means the same. A list of one item becomes that item if
// names declares both equivalent.
//
// The form is only for comparison: a long string, such as the data of an attachment, is replaced by its
// SHA-256, so that a large body is not held twice.
func Canonical(jsonBody []byte, names *Names) ([]byte, error) {
	if len(jsonBody) == 0 {
		return nil, nil
	}
	if !json.Valid(jsonBody) {
		return nil, errors.New("canonical form: body is not JSON")
	}
	c := canonicaliser{in: jsonBody}
	return c.appendValue(make([]byte, 0, min(len(jsonBody), 16<<10)), names), nil
}

// Names describes the names of the members of an object, or of the objects in an array.
type Names struct {
	First  map[string]string // first name of each member with several names, including itself
	Within map[string]*Names // names within a member, by its first name

	// OneOrMany are the members, by first name, that accept an item or a list of items.
	OneOrMany map[string]bool
}

func (n *Names) firstName(name string) (first string, several bool) {
	if n == nil {
		return name, false
	}
	if first, several = n.First[name]; several {
		return first, true
	}
	return name, false
}

func (n *Names) namesWithin(first string) *Names {
	if n == nil {
		return nil
	}
	return n.Within[first]
}

func (n *Names) oneOrMany(first string) bool { return n != nil && n.OneOrMany[first] }

// canonicaliser walks JSON that is known to be valid: it checks nothing. The depth is bounded by json.Valid
// (10,000).
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
func (c *canonicaliser) appendValue(out []byte, names *Names) []byte {
	switch c.nextToken() {
	case '{':
		return c.appendObject(out, names)
	case '[':
		out, _ = c.appendArray(out, names)
		return out
	case '"':
		return appendString(out, c.stringToken())
	default:
		return append(out, c.readLiteral()...)
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

func (c *canonicaliser) appendArray(out []byte, names *Names) (_ []byte, items int) {
	c.pos++
	out = append(out, '[')
	for ; c.nextToken() != ']'; items++ {
		if items > 0 {
			c.pos++ // the comma
			out = append(out, ',')
		}
		out = c.appendValue(out, names)
	}
	c.pos++
	return append(out, ']'), items
}

// itemOrList appends the value of a member that accepts an item or a list of items.
func (c *canonicaliser) itemOrList(out []byte, names *Names) []byte {
	if c.nextToken() != '[' {
		return c.appendValue(out, names)
	}
	begin := len(out)
	out, items := c.appendArray(out, names)
	if items != 1 {
		return out
	}
	return slices.Delete(out, begin, begin+1)[:len(out)-2]
}

type member struct {
	name       string
	start, end int // of `"name":value` in the output
}

// appendObject appends the members in their order and sorts them only if needed.
func (c *canonicaliser) appendObject(out []byte, names *Names) []byte {
	c.pos++
	out = append(out, '{')
	begin := len(out)
	var members []member
	for first := true; c.nextToken() != '}'; first = false {
		if !first {
			c.pos++ // the comma
		}
		c.nextToken()
		name, several := names.firstName(decodeString(c.stringToken()))
		c.nextToken()
		c.pos++ // the colon
		if c.nextToken() == 'n' && several {
			c.readLiteral()
			continue
		}
		m := member{name: name, start: len(out)}
		out = appendQuoted(out, name)
		if out = append(out, ':'); names.oneOrMany(name) {
			out = c.itemOrList(out, names.namesWithin(name))
		} else {
			out = c.appendValue(out, names.namesWithin(name))
		}
		m.end = len(out)
		members = append(members, m)
		out = append(out, ',')
	}
	c.pos++
	if len(members) == 0 {
		return append(out, '}')
	}
	if slices.IsSortedFunc(members, byName) && !hasDuplicates(members) {
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

// sortMembers rewrites the members in order, without overridden ones.
func sortMembers(out []byte, begin int, members []member) []byte {
	slices.SortStableFunc(members, byName)
	sorted := make([]byte, 0, len(out)-begin)
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		sorted = append(append(sorted, out[m.start:m.end]...), ',')
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
