package body

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Limits of one error response. A hostile body must not be able to make the response, or the memory in which it is
// collected, as large as itself.
const (
	maxReasons  = 100
	maxElements = 200 // elements of one array or object
	maxShown    = 64  // bytes of a name sent by the caller
)

// Decoder reads one body and collects its errors by field path.
type Decoder struct {
	wrong      fault.Fields
	given      []string // fields of the body itself, by canonical name
	refuseNull bool     // for changes: null is neither a value nor the same as omitting the field
}

// ParseObject checks that a body is one JSON object.
func ParseObject(body []byte) (Value, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return Value{}, fault.Invalidf("The body is empty. It must be a JSON object")
	}
	root, err := parseJSON(body)
	if err != nil {
		return Value{}, fault.Invalidf("The body is not valid JSON: %s", err)
	}
	if root.Kind() != KindObject {
		return Value{}, fault.Invalidf("The body is %s. It must be a JSON object", root.Kind())
	}
	return root, nil
}

func newDecoder() *Decoder { return &Decoder{wrong: fault.Fields{}} }

// IsFull reports whether enough errors are collected. The rest of the body is then ignored.
func (d *Decoder) IsFull() bool { return len(d.wrong) >= maxReasons }

// Refuse records why a field is refused. Only the first reason of each field is kept.
func (d *Decoder) Refuse(path, format string, args ...any) { d.wrong.Add(path, format, args...) }

// AddErrors adds the errors of the service, so that one response reports every invalid field.
func (d *Decoder) AddErrors(wrong fault.Fields) {
	for path, reason := range wrong {
		if !d.IsFull() {
			d.Refuse(path, "%s", reason)
		}
	}
}

// Count returns the number of invalid fields so far.
func (d *Decoder) Count() int { return len(d.wrong) }

// HasErrors reports whether any field is invalid so far.
func (d *Decoder) HasErrors() bool { return len(d.wrong) > 0 }

// GivenFields lists the fields of the body that were given, by canonical name.
func (d *Decoder) GivenFields() []string { return d.given }

// Members iterates over the fields of an object, whose names must be unique. It stops if the body has too many errors
// or is too large.
func (d *Decoder) Members(path string, v Value) func(func(string, Value) bool) {
	return func(yield func(string, Value) bool) {
		seen := map[string]bool{}
		for name, member := range v.Members() {
			switch {
			case d.IsFull():
				return
			case len(seen) == maxElements:
				d.Refuse(path, "must have at most %d fields", maxElements)
				return
			case seen[name]:
				d.Refuse(Join(path, PrintableName(name)), "appears more than once")
				continue
			}
			seen[name] = true
			if !yield(name, member) {
				return
			}
		}
	}
}

// Items iterates over an array in the same way. The name is the path of an item.
func (d *Decoder) Items(path string, v Value) func(func(string, Value) bool) {
	return func(yield func(string, Value) bool) {
		for i, item := range v.Items() {
			if i == maxElements {
				d.Refuse(path, "must have at most %d items", maxElements)
				return
			}
			if d.IsFull() || !yield(fmt.Sprintf("%s[%d]", path, i), item) {
				return
			}
		}
	}
}

// Expect refuses a value that is not of the expected kind.
func (d *Decoder) Expect(path string, v Value, want JSONType) bool {
	if v.Kind() != want {
		d.Refuse(path, "must be %s, not %s", want, v.Kind())
		return false
	}
	return true
}

// Text reads a string. It reports false if the value is not a string.
func (d *Decoder) Text(path string, v Value) (string, bool) {
	if !d.Expect(path, v, KindString) {
		return "", false
	}
	return v.Text(), true
}

// Boolean reads true or false.
func (d *Decoder) Boolean(path string, v Value) bool {
	return d.Expect(path, v, KindBoolean) && v.IsTrue()
}

// ReadPlain reads any value as encoding/json would, with numbers as they were written.
func (d *Decoder) ReadPlain(path string, v Value) any {
	switch v.Kind() {
	case KindNull:
		return nil
	case KindBoolean:
		return v.IsTrue()
	case KindNumber:
		return json.Number(v.raw)
	case KindString:
		return v.Text()
	case KindArray:
		list := []any{}
		for i, item := range v.Items() {
			if d.IsFull() {
				break
			}
			list = append(list, d.ReadPlain(fmt.Sprintf("%s[%d]", path, i), item))
		}
		return list
	default:
		fields := map[string]any{}
		for name, member := range v.Members() {
			if d.IsFull() {
				break
			}
			at := Join(path, PrintableName(name))
			if _, twice := fields[name]; twice {
				d.Refuse(at, "appears more than once")
			}
			fields[name] = d.ReadPlain(at, member)
		}
		return fields
	}
}

// Integer reads a whole number of 32 bits. It reports false if the value is not one. 14.0 is a whole number, as in JSON
// Schema.
func (d *Decoder) Integer(path string, v Value) (int, bool) { return d.integerUpTo(path, v, 1<<31) }

func (d *Decoder) integerUpTo(path string, v Value, limit float64) (int, bool) {
	if !d.Expect(path, v, KindNumber) {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v.raw), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > limit {
		d.Refuse(path, "must be a whole number")
		return 0, false
	}
	return int(n), true
}

// Join returns the path of a field inside another.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// PrintableName returns a name sent by the caller in a form that is safe to repeat.
func PrintableName(name string) string {
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
