package emails

import (
	"strings"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/openapi"
)

// Aliases of fields that several bodies have.
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

// maxLine is the longest subject, in characters.
const maxLine = 998

// sendBody declares a send request. Module sending validates everything except the types, unless a response must
// report both.
func sendBody(m *sending.Message) body.Object {
	tagNames := map[int]string{}
	return body.Object{
		Name: "SendEmail",
		About: "A field with the value `null` is treated as omitted. `from`, `subject` and `html` or `text` are " +
			"required unless a template provides them.",
		Fields: append(ContentFields(m, bodyText(&m.HTML), plainText{readableText{&m.Text}, &m.NoText}, tagNames),
			body.Field{Name: "scheduled_at", Aliases: scheduledAtAliases, Type: body.Pointer(&m.ScheduledAt, body.Time),
				About: "When to send the email. Defaults to immediately. Requires an offset or `Z`, at most 365 " +
					"days in the future and 60 seconds in the past. Cannot be combined with `attachments`."},
			body.Field{Name: "expires_at", Type: body.Pointer(&m.ExpiresAt, body.Time),
				About: "Delivery deadline. Recipients not delivered by then fail with `email.failed` and " +
					"`failure.code` `expired`, and are not suppressed. Requires an offset or `Z`; must be in the " +
					"future, after `scheduled_at`, and at most 72 hours after the message is sent. Defaults to the " +
					"end of retries."},
			body.Field{Name: "template", Type: templateType{&m.Template}, About: "Sends a published template. " +
				"`subject`, `from`, `reply_to`, `unsubscribe` and `category` of the request override those of the " +
				"template. If the template has a body, `html` and `text` are refused."},
			body.Field{Name: "category", Type: body.Text(&m.Category).Length(0, suppression.MaxCategory),
				About: "Your name for the kind of mail, on one line. An unsubscribe then applies to this " +
					"category only, and recipients who opted out of it are suppressed. Defaults to the category of " +
					"the template, if any."},
			body.Field{Name: "unsubscribe", Type: body.Pointer(&m.Unsubscribe, body.Boolean), Default: false,
				DefaultUnless: "template",
				About: "Whether Postrider manages unsubscribes. Defaults to the setting of the template, or false. `html` and " +
					"`text` may each contain `{{unsubscribe_url}}` up to 100 times."},
		),
		Check: func(d *body.Decoder) {
			if d.HasErrors() || len(tagNames) > 0 { // else Send validates
				d.AddErrors(renamedTags(m.Validate(), tagNames))
			}
		},
	}
}

// sendExamples are bodies of a send.
func sendExamples() map[string]any {
	return map[string]any{
		"simple": map[string]any{"from": "Ada <ada@example.com>", "to": "bob@example.net", "subject": "Your receipt", "text": "Thank you."},
		"full": map[string]any{"from": map[string]any{"email": "ada@example.com", "name": "Ada"},
			"to": []any{"Bob <bob@example.net>"}, "cc": []any{"carol@example.net"},
			"reply_to": "help@example.com", "subject": "Your receipt", "html": "<p>Thank you. <img src=\"cid:logo\"></p>", "text": "Thank you.",
			"tags": map[string]any{"kind": "receipt"}, "headers": map[string]any{"X-Order": "1742"},
			"attachments": []any{map[string]any{"name": "logo.png", "content_type": "image/png", "content_id": "logo", "data": "iVBORw0KGgo="}}},
		"from_template": map[string]any{"to": "bob@example.net",
			"template":     map[string]any{"alias": "receipt", "variables": map[string]any{"name": "Bob", "total": "12.00 EUR"}},
			"scheduled_at": openapi.Tomorrow + "T09:30:00+01:00", "expires_at": openapi.Tomorrow + "T18:00:00+01:00",
			"unsubscribe": true, "category": "Receipts"},
	}
}

// resentFields lists the fields that a resend copies; see sending.TestResendCopiesEveryField.
const resentFields = "`from`, all recipients, `subject`, bodies, `tags`, `headers`, `reply_to`, `unsubscribe` and " +
	"`category`. Attachments and `expires_at` are not copied."

// aboutHeaders is built once, because requests build their body declaration.
var aboutHeaders = "Custom header fields. A value can have at most 998 characters; `References` and `In-Reply-To`, which " +
	"are folded, at most 16,384. These fields are refused: `" + strings.Join(sending.RefusedHeaders(), "`, `") + "`."

// ContentFields are the fields of a send that a reply to received mail has too.
func ContentFields(m *sending.Message, html, text body.Type, tagNames map[int]string) []body.Field {
	return []body.Field{
		{Name: "from", Type: body.Mailbox(&m.From), About: "The sender, on a verified domain."},
		{Name: "to", Type: body.Mailboxes(&m.To), Need: body.RequiredByService, About: "At least one recipient."},
		{Name: "cc", Type: body.Mailboxes(&m.CC), About: "Cc recipients."},
		{Name: "bcc", Type: body.Mailboxes(&m.BCC), About: "Bcc recipients, hidden from other recipients."},
		{Name: "reply_to", Aliases: ReplyToAliases, Type: body.Mailboxes(&m.ReplyTo), About: "Addresses that replies are sent to."},
		{Name: "subject", Type: body.Text(&m.Subject).Length(0, maxLine), About: "The subject. It cannot contain line breaks."},
		{Name: "html", Aliases: HTMLAliases, Type: html, About: "The HTML body, at most 5 MB. At least one of " +
			"`html` and `text` is required."},
		{Name: "text", Aliases: TextAliases, Type: text, About: "The plain text body, at most 5 MB. Generated from " +
			"`html` if omitted. Send an empty string for no text part."},
		{Name: "tags", Type: tagsType{&m.Tags, tagNames}, About: "Up to 10 pairs that are stored with the email."},
		{Name: "headers", Type: headersType{&m.Headers},
			About: aboutHeaders},
		{Name: "attachments", Type: body.List(&m.Attachments, attachment).Count(0, sending.MaxAttachments), About: "Up to 10 files of 10 MB each."},
	}
}

func attachment(f *sending.Attachment) body.Object {
	return body.Object{Name: "AttachmentInput", Fields: []body.Field{
		{Name: "name", Aliases: nameAliases, Type: body.Text(&f.Name),
			About: "File name. Only the last element of a path is used. Files that can run code are refused, ignoring case: `" +
				strings.Join(sending.BlockedExtensions(), "`, `") + "`."},
		{Name: "content_type", Aliases: typeAliases, Type: body.Text(&f.ContentType), About: "Media type of the " +
			"file. Defaults to the type of the file name extension.", Example: "application/pdf"},
		{Name: "data", Aliases: dataAliases, Type: body.Base64(&f.Data), Need: body.RequiredByService,
			About: "The file in base64: standard or URL alphabet, padding optional, white space tolerated. A file may be empty."},
		{Name: "content_id", Aliases: contentIDAliases, Type: body.Text(&f.ContentID), About: "Makes the part " +
			"inline, so that `cid:` links resolve to it."},
	}}
}

func tag(t *shape.Tag) body.Object {
	return body.Object{Name: "TagInput", Fields: []body.Field{
		{Name: "name", Type: body.Text(&t.Name).Pattern(tagPattern), Need: body.RequiredByService, About: "The name " +
			"of the tag, unique within the email."},
		{Name: "value", Type: body.Text(&t.Value).Pattern(tagPattern), Need: body.RequiredByService,
			About: "The value " +
				"of the tag."},
	}}
}

const (
	aboutLocale = "Language of the recipient as a BCP 47 tag, which filters such as `money` and `date` format values " +
		"for. Defaults to American English."
	aboutTimeZone = "Time zone of the recipient from the IANA database, in which `date` and `datetime` show times. " +
		"Defaults to the zone that a time contains."
)

func templateReference(t *sending.TemplateRef) body.Object {
	return body.Object{Name: "TemplateReference", About: "A template. Send exactly one of `id` and `alias`.",
		Fields: []body.Field{
			{Name: "id", Type: body.Text(&t.ID), About: "ID of the template.", Example: "tpl_01kf0m4w7he6x8q2v5b3n9c1ta"},
			{Name: "alias", Type: body.Text(&t.Alias), About: "Alias of the template, as an alternative to its ID.", Example: "receipt"},
			{Name: "locale", Type: body.Text(&t.Locale), About: aboutLocale, Example: "pt-BR"},
			{Name: "time_zone", Type: body.Text(&t.TimeZone), About: aboutTimeZone,
				Example: "America/Sao_Paulo"},
			{Name: "variables", Type: body.AnyObject(&t.Variables),
				About: "Values of the variables by key. A key with dots may also be nested. A missing required variable " +
					"is reported as `template.variables.<key>`."},
		}}
}
