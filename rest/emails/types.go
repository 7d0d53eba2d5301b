package emails

import (
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// unreadable marks a text that was sent but could not be read, so that it is not also reported as missing.
const unreadable = "?"

// bodyText reads the html or text of a message.
func bodyText(to *string) body.Type { return readableText{to} }

type readableText struct{ to *string }

func (t readableText) Read(d *body.Decoder, path string, v body.Value) {
	text, ok := d.Text(path, v)
	if !ok {
		text = unreadable
	}
	*t.to = text
}

func (readableText) Schema(body.Components) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// plainText is bodyText for the text of a send, where an empty string means that no text part is generated from html.
type plainText struct {
	readableText

	none *bool
}

// KeepsEmpty implements body.KeepsEmpty.
func (plainText) KeepsEmpty() {}

func (t plainText) Read(d *body.Decoder, path string, v body.Value) {
	t.readableText.Read(d, path, v)
	*t.none = *t.to == ""
}

// templateType reads the template and the values of its variables. Even an invalid template counts as present, so that
// fields that it could provide are not reported as missing.
type templateType struct{ to **sending.TemplateRef }

func (t templateType) Read(d *body.Decoder, path string, v body.Value) {
	*t.to = &sending.TemplateRef{}
	before := d.Count()
	templateReference(*t.to).Read(d, path, v)
	if d.Count() > before && (*t.to).ID == "" && (*t.to).Alias == "" {
		(*t.to).ID = unreadable
	}
}

func (templateType) Schema(c body.Components) *huma.Schema {
	return templateReference(&sending.TemplateRef{}).Schema(c)
}

// Form returns the form of a template reference.
func (templateType) Form() *idempotency.Form { return templateReference(&sending.TemplateRef{}).Form() }

const tagPattern = "^[A-Za-z0-9_-]{1,256}$"

// tagsType reads an array of {name, value}, or an object whose fields are the tags. It remembers the names of an object
// by position.
type tagsType struct {
	to    *[]shape.Tag
	names map[int]string
}

func (t tagsType) Read(d *body.Decoder, path string, v body.Value) {
	switch v.Kind() {
	case body.KindArray:
		body.List(t.to, tag).Read(d, path, v)
	case body.KindObject:
		for name, member := range d.Members(path, v) {
			text, _ := d.Text(body.Join(path, body.PrintableName(name)), member)
			t.names[len(*t.to)] = name
			*t.to = append(*t.to, shape.Tag{Name: name, Value: text})
		}
	default:
		d.Refuse(path, "must be an array of {name, value} or an object, not %s", v.Kind())
	}
}

func (tagsType) Schema(c body.Components) *huma.Schema {
	most := sending.MaxTags
	list := body.ArrayOf(tag(&shape.Tag{}).Schema(c))
	list.MaxItems = &most
	byName := c.Ref("TagMap", func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, MaxProperties: &most, Description: "The values of tags by name.",
			AdditionalProperties: &huma.Schema{Type: huma.TypeString, Pattern: tagPattern}}
	})
	return c.OneOf("TagsInput", "Tags, as an array or as an object.", list, byName)
}

// Form treats tags in both forms as equal.
func (t tagsType) Form() *idempotency.Form {
	form := tag(&shape.Tag{}).Form()
	form.Tags, form.OmitEmpty = true, true
	return form
}

// renamedTags reports tags that were fields of an object under the paths that the caller knows: tags.kind instead of
// tags[0].value.
func renamedTags(wrong fault.Fields, names map[int]string) fault.Fields {
	if len(names) == 0 {
		return wrong
	}
	out := fault.Fields{}
	for _, path := range slices.Sorted(maps.Keys(wrong)) {
		var i int
		var part string
		reason := wrong[path]
		if n, err := fmt.Sscanf(path, "tags[%d].%s", &i, &part); err == nil && n == 2 {
			if name, ok := names[i]; ok {
				path = "tags." + body.PrintableName(name)
			}
		}
		out.Add(path, "%s", reason)
	}
	return out
}

// maxHeaderName limits how much of a field name an error repeats.
const maxHeaderName = 200

// headersType reads an object of header fields.
type headersType struct{ to *[]shape.Header }

func (t headersType) Read(d *body.Decoder, path string, v body.Value) {
	if !d.Expect(path, v, body.KindObject) {
		return
	}
	for name, member := range d.Members(path, v) {
		at := body.Join(path, body.PrintableName(name))
		switch {
		case member.Kind() == body.KindNull:
		case len(name) > maxHeaderName:
			d.Refuse(at, "has a name of more than %d characters", maxHeaderName)
		default:
			text, _ := d.Text(at, member)
			*t.to = append(*t.to, shape.Header{Name: name, Value: text})
		}
	}
}

// Form ignores the case of header field names.
func (headersType) Form() *idempotency.Form { return &idempotency.Form{Headers: true, OmitEmpty: true} }

func (headersType) Schema(body.Components) *huma.Schema {
	most, longest := sending.MaxHeaders, sending.MaxThreadValue
	return &huma.Schema{Type: huma.TypeObject, MaxProperties: &most,
		AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &longest}}
}
