package rest

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/fault"
)

// templateBodyLimit holds html and text of 1 MB each, escaped as some encoders do.
const templateBodyLimit = 8 << 20

var templateAliases = map[string][]string{"html": sendAliases["html"], "text": sendAliases["text"], "reply_to": sendAliases["reply_to"]}

func decodeAddTemplate(body value) (in templates.AddInput, err error) {
	d := newDecoder()
	d.object("", body, withAliases(templateAliases, []field{
		{name: "alias", decode: func(path string, v value) { in.Alias = d.optionalText(path, v) }},
		{name: "name", decode: d.into(&in.Name)},
		{name: "subject", decode: d.into(&in.Subject)},
		{name: "from", decode: func(path string, v value) { in.From = templates.Mailbox(d.mailbox(path, v)) }},
		{name: "reply_to", decode: func(path string, v value) { in.ReplyTo = d.templateReplyTo(path, v) }},
		{name: "html", decode: d.into(&in.HTML)},
		{name: "text", decode: d.into(&in.Text)},
		{name: "variables", decode: func(path string, v value) { in.Variables = d.variables(path, v) }},
		{name: "unsubscribe_enabled", decode: func(path string, v value) { in.UnsubscribeEnabled = d.boolean(path, v) }},
		{name: "category", decode: func(path string, v value) { in.Category = d.optionalText(path, v) }},
	}))
	d.alsoWrong(in.Validate())
	return in, d.wrong.Err()
}

// alsoWrong adds what the service would refuse, so that one answer names it all.
func (d *decoder) alsoWrong(wrong fault.Fields) {
	for path, reason := range wrong {
		if !d.full() {
			d.refuse(path, "%s", reason)
		}
	}
}

// optionalText reads a string that is not empty: none is said by leaving it out.
func (d *decoder) optionalText(path string, v value) string {
	text, ok := d.text(path, v)
	if ok && text == "" {
		d.refuse(path, "is empty; leave it out, or give null, for none")
	}
	return text
}

func (d *decoder) templateReplyTo(path string, v value) []templates.Mailbox {
	var list []sending.Mailbox
	d.mailboxes(&list)(path, v)
	out := make([]templates.Mailbox, len(list))
	for i, b := range list {
		out[i] = templates.Mailbox(b)
	}
	return out
}

func (d *decoder) variables(path string, v value) []shape.Variable {
	if !d.expect(path, v, kindArray) {
		return nil
	}
	var out []shape.Variable
	for at, item := range d.items(path, v) {
		var one shape.Variable
		d.object(at, item, []field{
			{name: "key", decode: d.into(&one.Key)},
			{name: "type", decode: d.into(&one.Type)},
			{name: "required", decode: func(path string, v value) { one.Required = d.boolean(path, v) }},
			{name: "fallback", decode: func(path string, v value) { one.Fallback = d.plain(path, v) }},
		})
		out = append(out, one)
	}
	return out
}

func decodeTemplateChange(body value) (change templates.Change, err error) {
	d := newDecoder()
	d.refuseNull = true
	nothing := ""
	body = withoutNulls(body, map[string]func(){
		"alias":    func() { change.Alias = &nothing },
		"subject":  func() { change.Subject = &nothing },
		"from":     func() { change.From = &templates.Mailbox{} },
		"reply_to": func() { change.ReplyTo = &[]templates.Mailbox{} },
		"html":     func() { change.HTML = &nothing },
		"text":     func() { change.Text = &nothing },
		"category": func() { change.Category = &nothing },
	})
	text := func(target **string, read func(string, value) string) func(string, value) {
		return func(path string, v value) {
			given := read(path, v)
			*target = &given
		}
	}
	plain := func(path string, v value) string {
		given, _ := d.text(path, v)
		return given
	}
	d.object("", body, withAliases(templateAliases, []field{
		{name: "alias", decode: text(&change.Alias, d.optionalText)},
		{name: "name", decode: text(&change.Name, plain)},
		{name: "subject", decode: text(&change.Subject, plain)},
		{name: "from", decode: func(path string, v value) {
			from := templates.Mailbox(d.mailbox(path, v))
			if change.From = &from; from == (templates.Mailbox{}) {
				d.refuse(path, "is empty; give null for none")
			}
		}},
		{name: "reply_to", decode: func(path string, v value) {
			list := d.templateReplyTo(path, v)
			change.ReplyTo = &list
		}},
		{name: "html", decode: text(&change.HTML, plain)},
		{name: "text", decode: text(&change.Text, plain)},
		{name: "variables", decode: func(path string, v value) {
			list := d.variables(path, v)
			change.Variables = &list
		}},
		{name: "unsubscribe_enabled", decode: func(path string, v value) {
			on := d.boolean(path, v)
			change.UnsubscribeEnabled = &on
		}},
		{name: "category", decode: text(&change.Category, d.optionalText)},
	}))
	d.alsoWrong(change.Validate())
	if err := d.wrong.Err(); err != nil {
		return change, err
	}
	if change.IsZero() {
		return change, fault.Invalidf("The body changes nothing: give at least one field of the template")
	}
	return change, nil
}

// withoutNulls leaves out those members of an object that are null and may be,
// and runs what each of them means.
func withoutNulls(body value, means map[string]func()) value {
	aliases := map[string]func(){}
	maps.Copy(aliases, means)
	for name, others := range templateAliases {
		for _, other := range others {
			aliases[other] = means[name]
		}
	}
	found := false
	for name, member := range body.members() {
		found = found || member.kind() == kindNull && aliases[name] != nil
	}
	if !found {
		return body
	}
	var out bytes.Buffer
	out.WriteByte('{')
	for name, member := range body.members() {
		if take := aliases[name]; take != nil && member.kind() == kindNull {
			take()
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			panic("rest: a name cannot be encoded: " + err.Error())
		}
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(member.raw)
	}
	out.WriteByte('}')
	return value{out.Bytes()}
}

func decodeRollback(body value) (number int, err error) {
	d := newDecoder()
	d.object("", body, []field{{name: "version", decode: func(path string, v value) { number = d.version(path, v) }}})
	if number == 0 {
		d.refuse("version", "is required")
	}
	return number, d.wrong.Err()
}

func (d *decoder) version(path string, v value) int {
	number, ok := d.integer(path, v)
	if ok && number < 1 {
		d.refuse(path, "must be 1 or more")
	}
	return number
}

func decodePreview(body value) (in templates.PreviewInput, err error) {
	d := newDecoder()
	d.object("", body, []field{
		{name: "variables", decode: func(path string, v value) {
			if d.expect(path, v, kindObject) {
				in.Variables, _ = d.plain(path, v).(map[string]any)
			}
		}},
		{name: "version", decode: func(path string, v value) {
			if v.kind() != kindString {
				in.Version = d.version(path, v)
			} else if v.text() != "draft" {
				d.refuse(path, "must be the number of a version, or draft")
			}
		}},
	})
	return in, d.wrong.Err()
}

func templateSchemas() map[string]*huma.Schema {
	add, least, most, one := templateFields(false), 1, templates.MaxVariables, 1.0
	change := closed(withAliasProperties(templateFields(true), templateAliases))
	change.MinProperties = &least
	add["variables"].MaxItems, change.Properties["variables"].MaxItems = &most, &most
	return map[string]*huma.Schema{
		"Mailbox":        mailboxSchema(), // the same as that of sends
		"AddTemplate":    closed(withAliasProperties(add, templateAliases), "name"),
		"UpdateTemplate": change,
		"TemplateVariableInput": closed(map[string]*huma.Schema{
			"key":      {Type: huma.TypeString, Description: "Letters, digits, `-` and `_` in up to 5 parts joined by dots.", Examples: []any{"customer.name"}},
			"type":     {Type: huma.TypeString, Enum: []any{"string", "number", "boolean", "list", "object"}, Description: "A value of another type is refused."},
			"required": {Type: huma.TypeBoolean, Nullable: true, Default: false, Description: "Whether a send without it is refused."},
			"fallback": {Description: "What stands there when a send does not give it: a value of the type, or null for nothing."},
		}, "key", "type"),
		"RollbackTemplate": closed(map[string]*huma.Schema{"version": {Type: huma.TypeInteger, Minimum: &one, Description: "Number of the version to go back to."}}, "version"),
		"RenderTemplate": closed(map[string]*huma.Schema{
			"variables": {Type: huma.TypeObject, Nullable: true, AdditionalProperties: true, Description: "Values by key: `{\"customer.name\": …}` or `{\"customer\": {\"name\": …}}`. Those that are not declared are ignored."},
			"version": oneOf("What to render; default `draft`.", &huma.Schema{Type: huma.TypeString, Enum: []any{"draft"}},
				&huma.Schema{Type: huma.TypeInteger, Minimum: &one}),
		}),
	}
}

// templateFields are those of a new template, where null is the same as left out,
// or those of a change, where null takes a field away that may be.
func templateFields(isChange bool) map[string]*huma.Schema {
	maxName, maxSubject := templates.MaxName, templates.MaxSubject
	return map[string]*huma.Schema{
		"alias":   {Type: huma.TypeString, Nullable: true, Pattern: "^[a-z0-9][a-z0-9_-]{0,63}$", Description: "Unique in the account.", Examples: []any{"receipt"}},
		"name":    {Type: huma.TypeString, MaxLength: &maxName, Description: "For people."},
		"subject": {Type: huma.TypeString, Nullable: true, MaxLength: &maxSubject, Description: "Liquid, without line breaks."},
		"from":    oneOf("The sender, for sends that name none. No Liquid.", refTo("Mailbox"), &huma.Schema{Type: "null"}),
		"reply_to": oneOf("Where replies go, for sends that do not say. No Liquid.", refTo("Mailbox"),
			&huma.Schema{Type: huma.TypeArray, Items: refTo("Mailbox")}, &huma.Schema{Type: "null"}),
		"html":                {Type: huma.TypeString, Nullable: true, Description: "Liquid in HTML, at most 1 MB. Values are escaped."},
		"text":                {Type: huma.TypeString, Nullable: true, Description: "Liquid in plain text, at most 1 MB."},
		"variables":           {Type: huma.TypeArray, Nullable: !isChange, Items: refTo("TemplateVariableInput"), Description: "The gaps, at most 100."},
		"unsubscribe_enabled": {Type: huma.TypeBoolean, Nullable: !isChange, Description: "Managed unsubscribe, for sends that do not say `unsubscribe`."},
		"category":            {Type: huma.TypeString, Nullable: true, Description: "1 to 100 characters: what an unsubscribe stops, for sends that name none."},
	}
}
