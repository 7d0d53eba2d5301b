package body

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Type reads a value into its target, and describes it. It reports invalid values to the decoder. A resource
// can define its own types.
type Type interface {
	Read(d *Decoder, path string, v Value)
	Schema(c Components) *huma.Schema
}

// TextType is a string.
type TextType struct {
	to          *string
	least, most int
	pattern     string
	format      string
}

// Text reads a string.
func Text(to *string) TextType { return TextType{to: to} }

// Length documents how many characters it has; 0 leaves a bound open.
func (t TextType) Length(least, most int) TextType {
	t.least, t.most = least, most
	return t
}

// Pattern documents a regular expression.
func (t TextType) Pattern(pattern string) TextType {
	t.pattern = pattern
	return t
}

// Format documents a format, such as uri.
func (t TextType) Format(format string) TextType {
	t.format = format
	return t
}

// Read implements Type.
func (t TextType) Read(d *Decoder, path string, v Value) {
	*t.to, _ = d.Text(path, v)
}

// Schema implements Type.
func (t TextType) Schema(Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, MinLength: unlessZero(t.least), MaxLength: unlessZero(t.most),
		Pattern: t.pattern, Format: t.format}
}

func unlessZero(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// Choice reads a string that is documented as an enum. The service refuses other values.
func Choice[S ~string](to *S, options ...S) Type { return choice[S]{to, options} }

type choice[S ~string] struct {
	to      *S
	options []S
}

func (t choice[S]) Read(d *Decoder, path string, v Value) {
	text, _ := d.Text(path, v)
	*t.to = S(text)
}

func (t choice[S]) Schema(Components) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, option := range t.options {
		s.Enum = append(s.Enum, string(option))
	}
	return s
}

// Boolean reads true or false.
func Boolean(to *bool) Type { return boolean{to} }

type boolean struct{ to *bool }

func (t boolean) Read(d *Decoder, path string, v Value) { *t.to = d.Boolean(path, v) }

func (boolean) Schema(Components) *huma.Schema { return &huma.Schema{Type: huma.TypeBoolean} }

// IntegerType is a whole number.
type IntegerType struct {
	to          *int
	least, most *float64
}

// Integer reads a whole number.
func Integer(to *int) IntegerType { return IntegerType{to: to} }

// AtLeast documents the minimum.
func (t IntegerType) AtLeast(least int) IntegerType {
	t.least = new(float64(least))
	return t
}

// UpTo documents the maximum, which can exceed 32 bits.
func (t IntegerType) UpTo(most int) IntegerType {
	t.most = new(float64(most))
	return t
}

// Read implements Type.
func (t IntegerType) Read(d *Decoder, path string, v Value) {
	limit := float64(1 << 31)
	if t.most != nil {
		limit = max(limit, *t.most)
	}
	*t.to, _ = d.integerUpTo(path, v, limit)
}

// Schema implements Type.
func (t IntegerType) Schema(Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Minimum: t.least, Maximum: t.most}
}

// Time reads a moment in ISO 8601.
func Time(to *time.Time) Type { return moment{to} }

type moment struct{ to *time.Time }

func (t moment) Read(d *Decoder, path string, v Value) { *t.to, _ = d.Time(path, v) }

func (moment) Schema(Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// Pointer sets a pointer to the value of a field. The pointer stays nil if the field is omitted or cannot be read.
func Pointer[T any, K Type](to **T, of func(*T) K) Type { return pointerType[T, K]{to, of} }

type pointerType[T any, K Type] struct {
	to **T
	of func(*T) K
}

func (t pointerType[T, K]) Read(d *Decoder, path string, v Value) {
	given, before := new(T), len(d.wrong)
	t.of(given).Read(d, path, v)
	if len(d.wrong) == before {
		*t.to = given
	}
}

func (t pointerType[T, K]) Schema(c Components) *huma.Schema { return t.of(new(T)).Schema(c) }

// ListType is an array.
type ListType[T any, K Type] struct {
	to          *[]T
	of          func(*T) K
	least, most int
}

// List reads an array.
func List[T any, K Type](to *[]T, of func(*T) K) ListType[T, K] {
	return ListType[T, K]{to: to, of: of}
}

// Count documents how many items it has; 0 leaves a bound open.
func (t ListType[T, K]) Count(least, most int) ListType[T, K] {
	t.least, t.most = least, most
	return t
}

// Read implements Type.
func (t ListType[T, K]) Read(d *Decoder, path string, v Value) {
	if !d.Expect(path, v, KindArray) {
		return
	}
	for at, item := range d.Items(path, v) {
		var one T
		t.of(&one).Read(d, at, item)
		*t.to = append(*t.to, one)
	}
}

// Schema implements Type.
func (t ListType[T, K]) Schema(c Components) *huma.Schema {
	s := ArrayOf(t.of(new(T)).Schema(c))
	s.MinItems, s.MaxItems = unlessZero(t.least), unlessZero(t.most)
	return s
}

// Any reads a value as encoding/json would, with numbers as they were written.
func Any(to *any) Type { return plain{to} }

type plain struct{ to *any }

func (t plain) Read(d *Decoder, path string, v Value) { *t.to = d.ReadPlain(path, v) }

func (plain) Schema(Components) *huma.Schema { return &huma.Schema{} }

// AnyObject reads an object with arbitrary fields.
func AnyObject(to *map[string]any) Type { return anyObject{to} }

type anyObject struct{ to *map[string]any }

func (t anyObject) Read(d *Decoder, path string, v Value) {
	if d.Expect(path, v, KindObject) {
		*t.to, _ = d.ReadPlain(path, v).(map[string]any)
	}
}

func (anyObject) Schema(Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// IntegerOrNull declares a number that null clears: to is nil if the field is omitted, and points to nil
// for null.
func IntegerOrNull(name string, to ***int, from, upTo int, about string) Field {
	return Field{Name: name, About: about, Null: func() { *to = new((*int)(nil)) }, Type: Pointer(to, func(n **int) Type {
		return Pointer(n, func(n *int) IntegerType { return Integer(n).AtLeast(from).UpTo(upTo) })
	})}
}
