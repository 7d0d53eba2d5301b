package rest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
)

// The other names that fields may be given by. The OpenAPI document says the same.
var (
	sendAliases = map[string][]string{
		"html":         {"htmlBody", "html_body"},
		"text":         {"textBody", "text_body", "plain_body"},
		"reply_to":     {"replyTo"},
		"scheduled_at": {"scheduledAt"},
	}
	attachmentAliases = map[string][]string{
		"name":         {"filename"},
		"content_type": {"contentType"},
		"data":         {"content"},
		"content_id":   {"contentId"},
	}
)

// maxHeaderName bounds what a refusal of a header field repeats.
const maxHeaderName = 200

// unreadable stands for a body text that was given and could not be read, so that
// it is not called missing as well.
const unreadable = "?"

// decodeMessage reads a send request. Its error names every wrong field: those of
// the wrong type and, beside them, those that sending would refuse.
func decodeMessage(root value) (sending.Message, error) {
	d := newDecoder()
	var m sending.Message
	tagNames := map[int]string{}
	d.object("", root, withAliases(sendAliases, []field{
		{name: "from", decode: func(path string, v value) { m.From = d.mailbox(path, v) }},
		{name: "to", decode: d.mailboxes(&m.To)},
		{name: "cc", decode: d.mailboxes(&m.CC)},
		{name: "bcc", decode: d.mailboxes(&m.BCC)},
		{name: "reply_to", decode: d.mailboxes(&m.ReplyTo)},
		{name: "subject", decode: d.into(&m.Subject)},
		{name: "html", decode: d.intoBody(&m.HTML)},
		{name: "text", decode: d.intoBody(&m.Text)},
		{name: "tags", decode: func(path string, v value) { m.Tags = d.tags(path, v, tagNames) }},
		{name: "headers", decode: func(path string, v value) { m.Headers = d.headers(path, v) }},
		{name: "attachments", decode: func(path string, v value) { m.Attachments = d.attachments(path, v) }},
		{name: "scheduled_at", decode: func(path string, v value) {
			if at, ok := d.time(path, v); ok {
				m.ScheduledAt = &at
			}
		}},
		{name: "expires_at", decode: func(path string, v value) {
			if at, ok := d.time(path, v); ok {
				m.ExpiresAt = &at
			}
		}},
		{name: "template", decode: func(path string, v value) { m.Template = d.template(path, v) }},
		{name: "category", decode: func(path string, v value) { m.Category = d.category(path, v) }},
		{name: "unsubscribe", decode: func(path string, v value) {
			wanted := d.boolean(path, v)
			m.Unsubscribe = &wanted
		}},
	}))
	if len(d.wrong) == 0 && len(tagNames) == 0 {
		return m, nil // Send validates
	}
	refused := m.Validate()
	for _, path := range slices.Sorted(maps.Keys(refused)) {
		if !d.full() {
			d.refuse(tagPath(path, tagNames), "%s", refused[path])
		}
	}
	return m, d.wrong.Err()
}

func withAliases(aliases map[string][]string, fields []field) []field {
	for i := range fields {
		fields[i].aliases = aliases[fields[i].name]
	}
	return fields
}

// template reads which template, and the values for its gaps. What cannot be read
// still says that there is one, so that what it may give is not called missing.
func (d *decoder) template(path string, v value) *sending.TemplateRef {
	t := &sending.TemplateRef{}
	before := len(d.wrong)
	d.object(path, v, []field{
		{name: "id", decode: d.into(&t.ID)},
		{name: "alias", decode: d.into(&t.Alias)},
		{name: "variables", decode: func(path string, v value) {
			if d.expect(path, v, kindObject) {
				t.Variables, _ = d.plain(path, v).(map[string]any)
			}
		}},
	})
	if len(d.wrong) > before && t.ID == "" && t.Alias == "" {
		t.ID = unreadable
	}
	return t
}

// category reads a label. One that is given and empty is a mistake, not none.
func (d *decoder) category(path string, v value) string {
	label, ok := d.text(path, v)
	if ok && label == "" {
		d.refuse(path, "is empty; leave it out for none")
	}
	return label
}

func (d *decoder) intoBody(target *string) func(string, value) {
	return func(path string, v value) {
		text, ok := d.text(path, v)
		if !ok {
			text = unreadable
		}
		*target = text
	}
}

// mailbox reads an address: a string, or an object {email, name?}.
func (d *decoder) mailbox(path string, v value) sending.Mailbox {
	var b sending.Mailbox
	switch v.kind() {
	case kindString:
		b.Text = v.text()
	case kindObject:
		d.object(path, v, []field{{name: "email", decode: d.into(&b.Email)}, {name: "name", decode: d.into(&b.Name)}})
	default:
		d.refuse(path, "must be a string or an object {email, name}, not %s", v.kind())
	}
	return b
}

// mailboxes reads one address or an array of them.
func (d *decoder) mailboxes(target *[]sending.Mailbox) func(string, value) {
	return func(path string, v value) {
		if v.kind() != kindArray {
			if v.kind() != kindString && v.kind() != kindObject {
				d.refuse(path, "must be a string or an array of strings, not %s", v.kind())
				return
			}
			*target = []sending.Mailbox{d.mailbox(path, v)}
			return
		}
		for at, item := range d.items(path, v) {
			*target = append(*target, d.mailbox(at, item))
		}
	}
}

// tags reads an array of {name, value}, or an object whose members are the tags;
// names remembers those of an object, by position.
func (d *decoder) tags(path string, v value, names map[int]string) []shape.Tag {
	var tags []shape.Tag
	switch v.kind() {
	case kindArray:
		for at, item := range d.items(path, v) {
			var t shape.Tag
			d.object(at, item, []field{{name: "name", decode: d.into(&t.Name)}, {name: "value", decode: d.into(&t.Value)}})
			tags = append(tags, t)
		}
	case kindObject:
		for name, member := range d.members(path, v) {
			text, _ := d.text(join(path, shown(name)), member)
			names[len(tags)] = name
			tags = append(tags, shape.Tag{Name: name, Value: text})
		}
	default:
		d.refuse(path, "must be an array of {name, value} or an object, not %s", v.kind())
	}
	return tags
}

// tagPath gives a tag that came as a member of an object the path that its caller
// knows: tags.kind and not tags[0].value.
func tagPath(path string, names map[int]string) string {
	var i int
	var part string
	if n, err := fmt.Sscanf(path, "tags[%d].%s", &i, &part); err != nil || n != 2 {
		return path
	}
	if name, ok := names[i]; ok {
		return "tags." + shown(name)
	}
	return path
}

func (d *decoder) headers(path string, v value) []shape.Header {
	if !d.expect(path, v, kindObject) {
		return nil
	}
	var headers []shape.Header
	for name, member := range d.members(path, v) {
		if member.kind() == kindNull {
			continue
		}
		if len(name) > maxHeaderName {
			d.refuse(join(path, shown(name)), "has a name of more than %d characters", maxHeaderName)
			continue
		}
		text, _ := d.text(join(path, shown(name)), member)
		headers = append(headers, shape.Header{Name: name, Value: text})
	}
	return headers
}

func (d *decoder) attachments(path string, v value) []sending.Attachment {
	if !d.expect(path, v, kindArray) {
		return nil
	}
	var files []sending.Attachment
	for at, item := range d.items(path, v) {
		var f sending.Attachment
		d.object(at, item, withAliases(attachmentAliases, []field{
			{name: "name", decode: d.into(&f.Name)},
			{name: "content_type", decode: d.into(&f.ContentType)},
			{name: "data", decode: func(path string, v value) { f.Data = d.base64(path, v) }},
			{name: "content_id", decode: d.into(&f.ContentID)},
		}))

		files = append(files, f)
	}
	return files
}
