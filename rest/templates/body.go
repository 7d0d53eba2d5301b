package templates

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/emails"
)

// bodyLimit allows for html and text of 1 MB each, with escaped characters.
const bodyLimit = 8 << 20

func addBody(in *templates.NewTemplate) body.Object {
	return body.Object{Name: "AddTemplate", Fields: []body.Field{
		{Name: "kind", Type: body.Choice(&in.Kind, language.Kinds()...), Default: language.KindTemplate, About: aboutKind},
		{Name: "alias", Type: aliasField(&in.Alias), About: aboutAlias, Example: "receipt"},
		{Name: "name", Type: nameField(&in.Name), Need: body.RequiredByService, About: "A human-readable name."},
		{Name: "subject", Type: subjectField(&in.Subject), About: aboutSubject},
		{Name: "from", Type: body.Mailbox(&in.From), About: aboutFrom},
		{Name: "reply_to", Aliases: emails.ReplyToAliases, Type: body.Mailboxes(&in.ReplyTo), About: aboutReplyTo},
		{Name: "html", Aliases: emails.HTMLAliases, Type: body.Text(&in.HTML), About: aboutHTML},
		{Name: "text", Aliases: emails.TextAliases, Type: body.Text(&in.Text), About: aboutText},
		{Name: "translations", Type: translationsField(&in.Translations), About: aboutTranslations},
		{Name: "variables", Type: variablesField(&in.Variables), About: aboutVariables},
		{Name: "unsubscribe_enabled", Type: body.Boolean(&in.UnsubscribeEnabled), Default: false, About: aboutUnsubscribe},
		{Name: "category", Type: categoryField(&in.Category), About: aboutCategory},
	}, Check: func(d *body.Decoder) { d.AddErrors(in.Validate()) }}
}

// changeBody declares a change. null clears optional fields.
func changeBody(c *templates.TemplateChange) body.Object {
	fields := append([]body.Field{
		{Name: "alias", Type: body.Pointer(&c.Alias, aliasField), Null: clearText(&c.Alias), About: aboutAlias, Example: "receipt"},
		{Name: "name", Type: body.Pointer(&c.Name, nameField), About: "A human-readable name."},
	}, draftFields(c)...)
	return body.Object{Name: "UpdateTemplate", Change: true, Fields: fields,
		Check: func(d *body.Decoder) { d.AddErrors(c.Validate()) }}
}

func clearText(to **string) func() { return func() { *to = new("") } }

// draftFields are the fields of a change to the draft.
func draftFields(c *templates.TemplateChange) []body.Field {
	return []body.Field{
		{Name: "subject", Type: body.Pointer(&c.Subject, subjectField), Null: clearText(&c.Subject), About: aboutSubject},
		{Name: "from", Type: sender{&c.From}, Null: func() { c.From = &templates.Mailbox{} }, About: aboutFrom},
		{Name: "reply_to", Aliases: emails.ReplyToAliases,
			Type: body.Pointer(&c.ReplyTo, body.Mailboxes[templates.Mailbox]),
			Null: func() { c.ReplyTo = &[]templates.Mailbox{} }, About: aboutReplyTo},
		{Name: "html", Aliases: emails.HTMLAliases, Type: body.Pointer(&c.HTML, body.Text), Null: clearText(&c.HTML), About: aboutHTML},
		{Name: "text", Aliases: emails.TextAliases, Type: body.Pointer(&c.Text, body.Text), Null: clearText(&c.Text), About: aboutText},
		{Name: "translations", Type: body.Pointer(&c.Translations, translationsField),
			Null: func() { c.Translations = &[]shape.Translation{} }, About: aboutTranslations},
		{Name: "variables", Type: body.Pointer(&c.Variables, variablesField), About: aboutVariables},
		{Name: "unsubscribe_enabled", Type: body.Pointer(&c.UnsubscribeEnabled, body.Boolean), About: aboutUnsubscribe},
		{Name: "category", Type: body.Pointer(&c.Category, categoryField), Null: clearText(&c.Category), About: aboutCategory},
	}
}

// unsaved reads changes to the draft.
type unsaved struct{ to **templates.TemplateChange }

func unsavedObject(c *templates.TemplateChange) body.Object {
	return body.Object{Name: "UnsavedTemplate", Change: true, Fields: draftFields(c)}
}

func (t unsaved) Read(d *body.Decoder, path string, v body.Value) {
	*t.to = &templates.TemplateChange{}
	unsavedObject(*t.to).Read(d, path, v)
}

func (unsaved) Schema(c body.Components) *huma.Schema {
	return unsavedObject(&templates.TemplateChange{}).Schema(c)
}

const (
	aboutKind = "`layout`: a frame with blocks, which templates fill with `{% layout \"base\" %}`. `partial`: a piece, which " +
		"templates and layouts include with `{% render \"footer\" %}`. Neither can be sent. Cannot change later."
	aboutAlias        = "Unique in the account. Templates name layouts and partials by their alias."
	aboutSubject      = "The subject in Liquid, without line breaks."
	aboutFrom         = "The default sender, for sends that do not set one. Cannot contain Liquid."
	aboutReplyTo      = "The default reply addresses, for sends without `reply_to`. Cannot contain Liquid."
	aboutHTML         = "The HTML body in Liquid, at most 1 MB. Values are escaped."
	aboutText         = "The plain text body in Liquid, at most 1 MB."
	aboutTranslations = "The content in other languages, at most 50 and 4 MB. A send with `template.locale` uses the one " +
		"that fits best: `pt-BR`, else `pt`, else the template itself."
	aboutVariables = "The variables of the template, at most 100. Those of a partial are its arguments, and a layout " +
		"adds those that it uses to its templates."
	aboutUnsubscribe = "Whether Postrider manages unsubscribes, for sends that do not set `unsubscribe`."
	aboutCategory    = "The category of sends that do not set one. 1 to 100 characters."
)

func aliasField(to *string) body.TextType {
	return body.Text(to).Pattern("^([a-z0-9][a-z0-9_-]{0,63})?$")
}

func nameField(to *string) body.TextType { return body.Text(to).Length(0, templates.MaxName) }

func subjectField(to *string) body.TextType { return body.Text(to).Length(0, templates.MaxSubject) }

func categoryField(to *string) body.TextType { return body.Text(to) }

func variablesField(to *[]shape.Variable) body.Type {
	return body.List(to, variableObject).Count(0, language.MaxVariables)
}

func translationsField(to *[]shape.Translation) body.Type {
	return body.List(to, translationObject).Count(0, templates.MaxTranslations)
}

func translationObject(t *shape.Translation) body.Object {
	return body.Object{Name: "TemplateTranslationInput", Fields: []body.Field{
		{Name: "locale", Type: body.Text(&t.Locale), Need: body.RequiredByService,
			About: "The language as a BCP 47 tag, unique in the template.", Example: "pt-BR"},
		{Name: "subject", Type: subjectField(&t.Subject), Null: func() { t.Subject = "" },
			About: "The subject in Liquid. Defaults to that of the template."},
		{Name: "html", Aliases: emails.HTMLAliases, Type: body.Text(&t.HTML), Null: func() { t.HTML = "" },
			About: "The HTML body in Liquid, at most 1 MB. Without `html` and `text`, the bodies are those of the template."},
		{Name: "text", Aliases: emails.TextAliases, Type: body.Text(&t.Text), Null: func() { t.Text = "" }, About: aboutText},
	}}
}

func variableObject(v *shape.Variable) body.Object {
	return body.Object{Name: "TemplateVariableInput", Fields: []body.Field{
		{Name: "key", Type: body.Text(&v.Key), Need: body.RequiredByService,
			About: "Letters, digits, `-` and `_` in up to 5 parts joined by dots.", Example: "customer.name"},
		{Name: "type", Type: body.Choice(&v.Type, language.Types()...), Need: body.RequiredByService,
			About: "Type of the value. A value of another type is refused."},
		{Name: "required", Type: body.Boolean(&v.Required), Default: false, About: "Whether a send without it is refused."},
		{Name: "fallback", Type: body.Any(&v.Fallback), About: "Any JSON value of the type of the variable: used if a send does not provide one. null for none."},
		{Name: "example", Type: body.Any(&v.Example), About: "Any JSON value of the type of the variable, for previews. Sends do not use it. null for none."},
	}}
}

// sender reads a sender. It cannot be empty; null clears it.
type sender struct{ to **templates.Mailbox }

func (t sender) Read(d *body.Decoder, path string, v body.Value) {
	*t.to = &templates.Mailbox{}
	body.Mailbox(*t.to).Read(d, path, v)
	if **t.to == (templates.Mailbox{}) {
		d.Refuse(path, "requires an email; send null for no sender")
	}
}

func (sender) Schema(c body.Components) *huma.Schema {
	return body.Mailbox(&templates.Mailbox{}).Schema(c)
}

func rollbackBody(number *int) body.Object {
	return body.Object{Name: "RollbackTemplate", Fields: []body.Field{
		{Name: "version", Type: version{number}, Need: body.Required, About: "Number of the version to restore."},
	}}
}

// version reads the number of a version.
type version struct{ to *int }

func (t version) Read(d *body.Decoder, path string, v body.Value) {
	number, ok := d.Integer(path, v)
	if *t.to = number; ok && number < 1 {
		d.Refuse(path, "must be 1 or more")
	}
}

func (t version) Schema(c body.Components) *huma.Schema {
	return body.Integer(t.to).AtLeast(1).Schema(c)
}

func renderBody(in *templates.PreviewInput) body.Object {
	return body.Object{Name: "RenderTemplate", Fields: []body.Field{
		{Name: "variables", Type: body.AnyObject(&in.Variables),
			About: "Values of the variables by key: `{\"customer.name\": …}` or `{\"customer\": {\"name\": …}}`. Undeclared variables are ignored."},
		{Name: "examples", Type: body.Boolean(&in.Examples), Default: false,
			About: "Whether variables that are not given take their example."},
		{Name: "locale", Type: body.Text(&in.Locale), About: "Language that filters such as `money` and `date` format " +
			"values for, as a BCP 47 tag. Defaults to American English.", Example: "pt-BR"},
		{Name: "time_zone", Type: body.Text(&in.TimeZone), About: "Time zone in which `date` and `datetime` show times, " +
			"from the IANA database. Defaults to the zone that a time contains.", Example: "America/Sao_Paulo"},
		{Name: "version", Type: versionOrDraft{&in.Version}, About: "Version to render. Defaults to `draft`."},
		{Name: "within", Type: body.Text(&in.Within), About: "ID or alias of a template that uses this layout or partial. " +
			"Its draft is rendered, with this layout or partial as it is now.", Example: "receipt"},
		{Name: "draft", Type: unsaved{&in.Draft}, About: "Changes to the draft that are rendered, but not saved. Fields " +
			"are as in an update; omitted fields keep the value of the draft."},
	}}
}

// versionOrDraft reads the number of a version; draft is 0.
type versionOrDraft struct{ to *int }

func (t versionOrDraft) Read(d *body.Decoder, path string, v body.Value) {
	if v.Kind() != body.KindString {
		version(t).Read(d, path, v)
	} else if v.Text() != "draft" {
		d.Refuse(path, "must be the number of a version, or draft")
	}
}

func (t versionOrDraft) Schema(c body.Components) *huma.Schema {
	return c.OneOf("TemplateVersionReference", "The number of a published version, or `draft`.",
		&huma.Schema{Type: huma.TypeString, Enum: []any{"draft"}}, version(t).Schema(c))
}

// maxImageBody has room for an image in base64, even if an encoder escapes every slash.
const maxImageBody = 2*templates.MaxImage + 4096

func imageBody(in *templates.NewImage) body.Object {
	return body.Object{Name: "AddTemplateImage", Fields: []body.Field{
		{Name: "name", Type: body.Text(&in.Name).Length(0, templates.MaxName), About: "The name of the file.",
			Example: "logo.png"},
		{Name: "content", Type: body.Base64(&in.Content), Need: body.RequiredByService,
			About: "A PNG, JPEG or GIF image in base64, of at most 1 MB and 4096 x 4096 pixels."},
	}, Check: func(d *body.Decoder) { d.AddErrors(in.Validate()) }}
}
