package body

import (
	"slices"
)

// Object declares a JSON object: a whole body, or a value inside one. It is a Type.
type Object struct {
	Name   string // name of its component in the document; if empty, it is described inline
	About  string
	Fields []Field

	// Change declares a PATCH: null is rejected. Omitted fields do not change.
	Change bool
	// NoNull rejects null where it would equal omitting the field.
	NoNull bool
	// Single documents that exactly one field is given.
	Single bool

	// Check runs after the fields of a body were read, and reports the errors that the service would report.
	Check func(d *Decoder)
}

// Field declares one field of an object.
type Field struct {
	Name    string
	Aliases []string
	Means   string // the field that this one is an alias of; both may be present
	Type    Type
	Need    Need
	About   string
	Default any
	Example any

	// DefaultUnless is a field that provides another default, so the document shows none; "": Default always applies.
	DefaultUnless string

	// Null is the effect of null on a field of a change; nil: null is rejected.
	Null func()
}

// Need determines which layer rejects an object without the field.
type Need int

// The needs. The document calls both of the latter required.
const (
	Optional Need = iota
	Required
	RequiredByService // the service refuses the object, with its own message and in its own order
)

// Names returns a field's name and its aliases.
func (f Field) Names() []string { return append([]string{f.Name}, f.Aliases...) }

func (f Field) isCalled(name string) bool { return f.Name == name || slices.Contains(f.Aliases, name) }

// Decode reads a body as it is declared. The error contains every invalid field.
func Decode[T any](root Value, declare func(*T) Object) (T, error) {
	var into T
	o := declare(&into)
	d := newDecoder()
	d.refuseNull = o.Change || o.NoNull
	d.given = o.readFields(d, "", root)
	if o.Check != nil {
		o.Check(d)
	}
	if err := d.wrong.Err(); err != nil {
		return into, err
	}
	return into, nil
}

// Read implements Type.
func (o Object) Read(d *Decoder, path string, v Value) { o.readFields(d, path, v) }

// readFields reads the fields of an object and returns the names of those that were given.
// null, and a blank text in an optional field, count as omitted, unless they are refused.
func (o Object) readFields(d *Decoder, path string, v Value) (given []string) {
	if !d.Expect(path, v, KindObject) {
		return nil
	}
	called := make([]string, len(o.Fields)) // by which name each was given
	for name, member := range d.Members(path, v) {
		i := slices.IndexFunc(o.Fields, func(f Field) bool { return f.isCalled(name) })
		if i < 0 {
			d.Refuse(Join(path, PrintableName(name)), "%s", describeUnknown(name, o.Fields))
			continue
		}
		f := &o.Fields[i]
		null := member.Kind() == KindNull
		blank := !null && o.omitsBlank(f, member)
		switch {
		case !null && !blank && called[i] != "":
			d.Refuse(Join(path, name), "is an alias of %s; send only one", called[i])
		case !null && !blank:
			called[i], given = name, append(given, f.Name)
			f.Type.Read(d, Join(path, f.Name), member)
		case f.Null != nil && called[i] == "":
			given = append(given, f.Name)
			f.Null()
		case f.Null == nil && null && d.refuseNull:
			d.Refuse(Join(path, name), "cannot be null; omit it to keep the current value")
		case f.Null == nil && blank && o.Change:
			d.Refuse(Join(path, name), "cannot be empty; omit it to keep the current value")
		}
	}
	for i, f := range o.Fields {
		if f.Need == Required && (called[i] == "" || isEmpty(f.Type)) {
			d.Refuse(Join(path, f.Name), "is required")
		}
	}
	return given
}

// isEmpty reports whether a field contains an empty text, which counts as omitted.
func isEmpty(t Type) bool {
	text, is := t.(TextType)
	return is && *text.to == ""
}
