package emails

import (
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
)

// The other names of fields that several bodies have.
var (
	HTMLAliases        = []string{"htmlBody", "html_body"}
	TextAliases        = []string{"textBody", "text_body", "plain_body"}
	ReplyToAliases     = []string{"replyTo"}
	scheduledAtAliases = []string{"scheduledAt"}
	nameAliases        = []string{"filename"}
	typeAliases        = []string{"contentType"}
	dataAliases        = []string{"content"}
	contentIDAliases   = []string{"contentId"}
)

// maxLine is the longest subject and header value, in characters.
const maxLine = 998

// sendBody declares a send request. What is wrong besides the types is judged by sending,
// and here only where one answer has to name both.
func sendBody(m *sending.Message) body.Object {
	tagNames := map[int]string{}
	return body.Object{
		Name:  "SendEmail",
		About: "A field given as `null` is the same as one that is left out. `from`, `subject` and `html` or `text` are required unless a template gives them.",
		Fields: append(ContentFields(m, bodyText(&m.HTML), plainText{readableText{&m.Text}, &m.NoText}, tagNames),
			body.Field{Name: "scheduled_at", Aliases: scheduledAtAliases, Type: body.Maybe(&m.ScheduledAt, body.Time),
				About: "Sends at this time instead of at once. Needs an offset or `Z`; at most 365 days ahead and not more than 60 seconds in the past. Not together with `attachments`."},
			body.Field{Name: "expires_at", Type: body.Maybe(&m.ExpiresAt, body.Time),
				About: "Until when the message is of use: what has not been delivered by then is not delivered late. The recipients that are still open fail with `email.failed` and " +
					"`failure.code` `expired`; nobody is suppressed for it. Needs an offset or `Z`; in the future, after `scheduled_at`, and at most 72 hours after the message is sent. Left out: when retries end."},
			body.Field{Name: "template", Type: templateType{&m.Template}, About: "Sends a published template. It gives what is left out here: `subject`, `from`, `reply_to`, " +
				"`unsubscribe` and `category` of the request win over the template's. The bodies are the template's if it has any: `html` and `text` are then refused."},
			body.Field{Name: "category", Type: body.Text(&m.Category).Length(1, suppression.MaxCategory).NotEmpty("is empty; leave it out for none"),
				About: "What kind of mail this is, in your words, on one line. An unsubscribe then stops this category only, and who has opted out of it is suppressed. Left out: as the template says, else none."},
			body.Field{Name: "unsubscribe", Type: body.Maybe(&m.Unsubscribe, body.Boolean), About: "Managed unsubscribe. Left out: as the template says, else off. `html` and `text` may have `{{unsubscribe_url}}` 100 times each."},
		),
		AnyOf: [][]string{{"template"}, {"from", "subject", "html"}, {"from", "subject", "text"}},
		Check: func(d *body.Decoder) {
			if d.Wrong() || len(tagNames) > 0 { // else Send validates
				d.Also(renamedTags(m.Validate(), tagNames))
			}
		},
	}
}

// sendExamples are bodies of a send.
func sendExamples() map[string]any {
	return map[string]any{
		"simple": map[string]any{"from": "Ada <ada@example.com>", "to": "bob@example.net", "subject": "Your receipt", "text": "Thank you."},
		"full": map[string]any{"from": map[string]any{"email": "ada@example.com", "name": "Ada"}, "to": []any{"Bob <bob@example.net>"}, "cc": []any{"carol@example.net"},
			"reply_to": "help@example.com", "subject": "Your receipt", "html": "<p>Thank you. <img src=\"cid:logo\"></p>", "text": "Thank you.",
			"tags": map[string]any{"kind": "receipt"}, "headers": map[string]any{"X-Order": "1742"},
			"attachments": []any{map[string]any{"name": "logo.png", "content_type": "image/png", "content_id": "logo", "data": "iVBORw0KGgo="}}},
		"from_template": map[string]any{"to": "bob@example.net", "template": map[string]any{"alias": "receipt", "variables": map[string]any{"name": "Bob", "total": "12.00 EUR"}},
			"scheduled_at": openapi.Tomorrow + "T09:30:00+01:00", "expires_at": openapi.Tomorrow + "T18:00:00+01:00", "unsubscribe": true, "category": "Receipts"},
	}
}

// resentFields says which fields a resend copies; see sending.TestResendCopiesEveryField.
const resentFields = "`from`, all recipients, `subject`, bodies, `tags`, `headers`, `reply_to`, `unsubscribe` and `category`. Attachments and `expires_at` are left out."

// ContentFields are the fields of a send that an answer to received mail has as well.
func ContentFields(m *sending.Message, html, text body.Type, tagNames map[int]string) []body.Field {
	return []body.Field{
		{Name: "from", Type: body.Mailbox(&m.From), About: "The sender, on a verified domain."},
		{Name: "to", Type: body.Mailboxes(&m.To), Need: body.RequiredByService, About: "At least one recipient."},
		{Name: "cc", Type: body.Mailboxes(&m.CC), About: "Copies."},
		{Name: "bcc", Type: body.Mailboxes(&m.BCC), About: "Copies that other recipients do not see."},
		{Name: "reply_to", Aliases: ReplyToAliases, Type: body.Mailboxes(&m.ReplyTo), About: "Where replies go."},
		{Name: "subject", Type: body.Text(&m.Subject).Length(0, maxLine), About: "Without line breaks."},
		{Name: "html", Aliases: HTMLAliases, Type: html, About: "The body as HTML, at most 5 MB. `html`, `text` or both are required."},
		{Name: "text", Aliases: TextAliases, Type: text, About: "The body as plain text, at most 5 MB. Left out, one is made from `html`; an empty one says that there is to be none."},
		{Name: "tags", Type: tagsType{&m.Tags, tagNames}, About: "At most 10 pairs that are stored with the email."},
		{Name: "headers", Type: headersType{&m.Headers}, About: "Custom header fields. Refused are: `" + strings.Join(sending.RefusedHeaders(), "`, `") + "`."},
		{Name: "attachments", Type: body.List(&m.Attachments, attachment).Count(0, sending.MaxAttachments), About: "At most 10 files of 10 MB each."},
	}
}

func attachment(f *sending.Attachment) body.Object {
	return body.Object{Name: "AttachmentInput", Fields: []body.Field{
		{Name: "name", Aliases: nameAliases, Type: body.Text(&f.Name), About: "File name; of a path its last element. Refused, whatever the letter case, are files that can run code: `" +
			strings.Join(sending.BlockedExtensions(), "`, `") + "`."},
		{Name: "content_type", Aliases: typeAliases, Type: body.Text(&f.ContentType), About: "Default: from the name.", Example: "application/pdf"},
		{Name: "data", Aliases: dataAliases, Type: body.Base64(&f.Data), Need: body.RequiredByService,
			About: "The file in base64: standard or URL alphabet, padding optional, white space tolerated. A file may be empty."},
		{Name: "content_id", Aliases: contentIDAliases, Type: body.Text(&f.ContentID), About: "Makes the part inline; `cid:` links to it resolve."},
	}}
}

func tag(t *shape.Tag) body.Object {
	return body.Object{Name: "TagInput", Fields: []body.Field{
		{Name: "name", Type: body.Text(&t.Name).Pattern(tagPattern), Need: body.RequiredByService, About: "Unique in the email."},
		{Name: "value", Type: body.Text(&t.Value).Pattern(tagPattern), Need: body.RequiredByService},
	}}
}

func templateReference(t *sending.TemplateRef) body.Object {
	return body.Object{Name: "TemplateReference", OneOf: [][]string{{"id"}, {"alias"}}, Fields: []body.Field{
		{Name: "id", Type: body.Text(&t.ID), About: "Of the template.", Example: "tpl_01kf0m4w7he6x8q2v5b3n9c1ta"},
		{Name: "alias", Type: body.Text(&t.Alias), About: "The template's alias, instead of its id.", Example: "receipt"},
		{Name: "variables", Type: body.AnyObject(&t.Variables),
			About: "Values for its variables, by key; a key with dots may be nested instead. A required one that is missing is named as `template.variables.<key>`."},
	}}
}
