package rest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/postrider/postrider/runtime/fault"
)

// What one answer names at most: a hostile body must not be able to make the
// answer, or the memory it is collected in, as large as itself.
const (
	maxReasons  = 100
	maxElements = 200 // of one array or object
	maxShown    = 64  // octets of a caller's own name
)

// decoder reads one body and collects what is wrong with it, by field path.
type decoder struct {
	wrong      fault.Fields
	refuseNull bool // for changes: null is neither a value nor the same as not given
}

// parseObject checks that a body is one JSON object.
func parseObject(body []byte) (value, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return value{}, fault.Invalidf("The body is empty; a JSON object is expected")
	}
	root, err := parseJSON(body)
	if err != nil {
		return value{}, fault.Invalidf("The body is not valid JSON: %s", err)
	}
	if root.kind() != kindObject {
		return value{}, fault.Invalidf("The body is %s; a JSON object is expected", root.kind())
	}
	return root, nil
}

func newDecoder() *decoder { return &decoder{wrong: fault.Fields{}} }

func (d *decoder) full() bool { return len(d.wrong) >= maxReasons }

func (d *decoder) refuse(path, format string, args ...any) { d.wrong.Add(path, format, args...) }

// field is one field of an object under its canonical name.
type field struct {
	name    string
	aliases []string
	decode  func(path string, v value)
}

func (f field) isCalled(name string) bool { return f.name == name || slices.Contains(f.aliases, name) }

// object reads the fields of an object. null is the same as not given, unless it
// is refused.
func (d *decoder) object(path string, v value, fields []field) {
	if !d.expect(path, v, kindObject) {
		return
	}
	given := map[string]string{} // canonical name to the name it was given by
	for name, member := range d.members(path, v) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.isCalled(name) })
		if i < 0 {
			d.refuse(join(path, shown(name)), "%s", unknown(name, fields))
			continue
		}
		if member.kind() == kindNull {
			if d.refuseNull {
				d.refuse(join(path, name), "must not be null; leave it out to keep what is set")
			}
			continue
		}
		f := fields[i]
		if earlier, twice := given[f.name]; twice {
			d.refuse(join(path, name), "means the same as %s, which is given too", earlier)
			continue
		}
		given[f.name] = name
		f.decode(join(path, f.name), member)
	}
}

// members walks an object whose names must differ, and stops where a body is
// too wrong or too large to go on.
func (d *decoder) members(path string, v value) func(func(string, value) bool) {
	return func(yield func(string, value) bool) {
		seen := map[string]bool{}
		for name, member := range v.members() {
			switch {
			case d.full():
				return
			case len(seen) == maxElements:
				d.refuse(path, "has more than %d fields", maxElements)
				return
			case seen[name]:
				d.refuse(join(path, shown(name)), "is given twice")
				continue
			}
			seen[name] = true
			if !yield(name, member) {
				return
			}
		}
	}
}

// items walks an array likewise.
func (d *decoder) items(path string, v value) func(func(string, value) bool) {
	return func(yield func(string, value) bool) {
		for i, item := range v.items() {
			if i == maxElements {
				d.refuse(path, "has more than %d items", maxElements)
				return
			}
			if d.full() || !yield(fmt.Sprintf("%s[%d]", path, i), item) {
				return
			}
		}
	}
}

func (d *decoder) expect(path string, v value, want kind) bool {
	if v.kind() != want {
		d.refuse(path, "must be %s, not %s", want, v.kind())
		return false
	}
	return true
}

// text reads a string; the second result is false when it is none.
func (d *decoder) text(path string, v value) (string, bool) {
	if !d.expect(path, v, kindString) {
		return "", false
	}
	return v.text(), true
}

// boolean reads true or false.
func (d *decoder) boolean(path string, v value) bool {
	return d.expect(path, v, kindBoolean) && v.isTrue()
}

// plain reads any value as encoding/json would, with numbers as they were written.
func (d *decoder) plain(path string, v value) any {
	switch v.kind() {
	case kindNull:
		return nil
	case kindBoolean:
		return v.isTrue()
	case kindNumber:
		return json.Number(v.raw)
	case kindString:
		return v.text()
	case kindArray:
		list := []any{}
		for i, item := range v.items() {
			if d.full() {
				break
			}
			list = append(list, d.plain(fmt.Sprintf("%s[%d]", path, i), item))
		}
		return list
	default:
		fields := map[string]any{}
		for name, member := range v.members() {
			if d.full() {
				break
			}
			at := join(path, shown(name))
			if _, twice := fields[name]; twice {
				d.refuse(at, "is given twice")
			}
			fields[name] = d.plain(at, member)
		}
		return fields
	}
}

// into makes a decode function that stores a string.
func (d *decoder) into(target *string) func(string, value) {
	return func(path string, v value) { *target, _ = d.text(path, v) }
}

// base64 decodes a string in the standard or the URL alphabet, with or without
// padding and white space. It works inside the body, which is then no longer JSON.
func (d *decoder) base64(path string, v value) []byte {
	if !d.expect(path, v, kindString) {
		return nil
	}
	text, _ := v.inner()
	n := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' { // some encoders escape every slash
			c, i = unescape(text, i)
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		text[n] = c
		n++
	}
	text = text[:n]
	for range 2 {
		if n := len(text); n > 0 && text[n-1] == '=' {
			text = text[:n-1]
		}
	}
	// The decoder writes behind where it reads, so both may be one buffer.
	n, err := base64.RawStdEncoding.Decode(text, text)
	if err != nil {
		d.refuse(path, "is not valid base64")
		return nil
	}
	return text[:n]
}

// unescape gives the character that the escape at pos stands for, 0 for one
// outside ASCII, and the position of the escape's last octet. parseJSON has
// accepted the text.
func unescape(text []byte, pos int) (c byte, last int) {
	switch c = text[pos+1]; c {
	case 'n':
		return '\n', pos + 1
	case 'r':
		return '\r', pos + 1
	case 't':
		return '\t', pos + 1
	case 'b', 'f':
		return 0, pos + 1
	case 'u':
		point, err := strconv.ParseUint(string(text[pos+2:pos+6]), 16, 16)
		if err != nil || point >= utf8.RuneSelf {
			point = 0
		}
		return byte(point), pos + 5
	default:
		return c, pos + 1
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shown is a caller's own name, fit to be repeated in an answer.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, name)
	if len(name) <= maxShown {
		return name
	}
	return strings.ToValidUTF8(name[:maxShown], "") + "…"
}

// unknown says that a field does not exist, and which one may have been meant: a
// misspelt schedule_at must not send at once.
func unknown(name string, fields []field) string {
	best, distance := "", 3
	for _, f := range fields {
		for _, candidate := range append([]string{f.name}, f.aliases...) {
			if d := nearness(name, candidate); d < distance {
				best, distance = candidate, d
			}
		}
	}
	if best == "" {
		return "is not a known field"
	}
	return fmt.Sprintf("is not a known field; did you mean %s?", best)
}

func nearness(a, b string) int {
	if len(a) > maxShown {
		return len(a)
	}
	a, b = plainName(a), plainName(b)
	if d := levenshtein.ComputeDistance(a, b); d < len(b)/2 || d == 0 {
		return d
	}
	return maxShown
}

func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}
