package body

import "github.com/danielgtaylor/huma/v2"

// Texts is an object of strings.
func Texts(to *map[string]string) Type { return texts{to} }

type texts struct{ to *map[string]string }

// Read implements Type.
func (t texts) Read(d *Decoder, path string, v Value) {
	if !d.Expect(path, v, KindObject) {
		return
	}
	object, _ := d.ReadPlain(path, v).(map[string]any)
	*t.to = make(map[string]string, len(object))
	for name, value := range object {
		text, is := value.(string)
		if !is {
			d.Refuse(Join(path, name), "must be a string")
		}
		(*t.to)[name] = text
	}
}

// Schema implements Type.
func (texts) Schema(Components) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
}
