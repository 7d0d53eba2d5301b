package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/suppression"
)

func sendOperation() operation {
	return operation{
		method: http.MethodPost, path: "/emails", id: "sendEmail", tag: tagEmails, needs: accounts.Send, idempotent: true,
		summary: "Send an email",
		description: "Stores the message durably, then answers; delivery follows at once. `from` must be on a verified domain of the account, or on the sandbox " +
			"domain if every recipient is the account email. At most 50 recipients over `to`, `cc` and `bcc`.\n\n" +
			"With `scheduled_at` the message is stored and sent at that time; until then it can be changed with `PATCH /emails/{id}`. Attachments are refused with it.\n\n" +
			"If a recipient is suppressed, the message is recorded and sent to nobody: the answer is 200 with the status `failed`, and the event is `email.suppressed`. It costs no quota.\n\n" +
			"With `unsubscribe` the message gets the header fields `List-Unsubscribe` and `List-Unsubscribe-Post` (RFC 8058), and `{{unsubscribe_url}}` in `subject`, `html` and `text` " +
			"becomes a link of the first address in `to`.",
		body: &requestBody{limit: emailBodyLimit, description: "The email to send.", schema: "SendEmail", examples: map[string]any{
			"simple": map[string]any{"from": "Ada <ada@example.com>", "to": "bob@example.net", "subject": "Your receipt", "text": "Thank you."},
			"full": map[string]any{"from": map[string]any{"email": "ada@example.com", "name": "Ada"}, "to": []any{"Bob <bob@example.net>"}, "cc": []any{"carol@example.net"},
				"reply_to": "help@example.com", "subject": "Your receipt", "html": "<p>Thank you. <img src=\"cid:logo\"></p>", "text": "Thank you.",
				"tags": map[string]any{"kind": "receipt"}, "headers": map[string]any{"X-Order": "1742"},
				"attachments": []any{map[string]any{"name": "logo.png", "content_type": "image/png", "content_id": "logo", "data": "iVBORw0KGgo="}}},
			"from_template": map[string]any{"to": "bob@example.net", "template": map[string]any{"alias": "receipt", "variables": map[string]any{"name": "Bob", "total": "12.00 EUR"}},
				"scheduled_at": "2026-01-16T09:30:00+01:00", "expires_at": "2026-01-16T18:00:00+01:00", "unsubscribe": true, "category": "Receipts"},
		}},
		answer: reflect.TypeFor[emailReceipt](), example: map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "sent"},
		problems: []int{http.StatusBadGateway},
	}
}

// sendSchemas are the request body and its parts, by component name.
func sendSchemas() map[string]*huma.Schema {
	return map[string]*huma.Schema{
		"SendEmail":         sendEmailSchema(),
		"AttachmentInput":   attachmentSchema(),
		"Mailbox":           mailboxSchema(),
		"TemplateReference": templateReferenceSchema(),
		"TagInput": closed(map[string]*huma.Schema{
			"name":  {Type: huma.TypeString, Pattern: tagPattern, Description: "Unique in the email."},
			"value": {Type: huma.TypeString, Pattern: tagPattern},
		}, "name", "value"),
	}
}

// maxLine is the longest subject and header value, in characters.
const maxLine = 998

const tagPattern = "^[A-Za-z0-9_-]{1,256}$"

func sendEmailSchema() *huma.Schema {
	maxTags, maxHeaders, maxFiles, maxSubject := sending.MaxTags, sending.MaxHeaders, sending.MaxAttachments, maxLine
	least, maxCategory := 1, suppression.MaxCategory
	list := func(description string) *huma.Schema {
		return oneOf(description, refTo("Mailbox"), &huma.Schema{Type: huma.TypeArray, Items: refTo("Mailbox")})
	}
	fields := map[string]*huma.Schema{
		"from":     {AllOf: []*huma.Schema{refTo("Mailbox")}, Description: "The sender, on a verified domain."},
		"to":       list("At least one recipient."),
		"cc":       list("Copies."),
		"bcc":      list("Copies that other recipients do not see."),
		"reply_to": list("Where replies go."),
		"subject":  {Type: huma.TypeString, MaxLength: &maxSubject, Description: "Without line breaks."},
		"html":     {Type: huma.TypeString, Description: "The body as HTML, at most 5 MB. `html`, `text` or both are required."},
		"text":     {Type: huma.TypeString, Description: "The body as plain text, at most 5 MB."},
		"tags": oneOf("At most 10 pairs that are stored with the email.",
			&huma.Schema{Type: huma.TypeArray, MaxItems: &maxTags, Items: refTo("TagInput")},
			&huma.Schema{Type: huma.TypeObject, MaxProperties: &maxTags, AdditionalProperties: &huma.Schema{Type: huma.TypeString, Pattern: tagPattern}}),
		"headers": {Type: huma.TypeObject, MaxProperties: &maxHeaders, AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &maxSubject},
			Description: "Custom header fields. Those that the service writes itself are refused."},
		"attachments": {Type: huma.TypeArray, MaxItems: &maxFiles, Items: refTo("AttachmentInput"), Description: "At most 10 files of 10 MB each."},
		"scheduled_at": {Type: huma.TypeString, Nullable: true, Format: "date-time",
			Description: "Sends at this time instead of at once. Needs an offset or `Z`; at most 365 days ahead and not more than 60 seconds in the past. Not together with `attachments`."},
		"expires_at": {Type: huma.TypeString, Nullable: true, Format: "date-time",
			Description: "Until when the message is of use: what has not been delivered by then is not delivered late. The recipients that are still open fail with `email.failed` and " +
				"`failure.code` `expired`; nobody is suppressed for it. Needs an offset or `Z`; in the future, after `scheduled_at`, and at most 72 hours after the message is sent. Left out: when retries end."},
		"unsubscribe": {Type: huma.TypeBoolean, Nullable: true,
			Description: "Managed unsubscribe. Left out: as the template says, else off."},
		"category": {Type: huma.TypeString, Nullable: true, MinLength: &least, MaxLength: &maxCategory,
			Description: "What kind of mail this is, in your words, on one line. An unsubscribe then stops this category only, and who has opted out of it is suppressed. Left out: as the template says, else none."},
		"template": {AllOf: []*huma.Schema{refTo("TemplateReference")}, Description: "Sends a published template. It gives what is left out here: `subject`, `from`, `reply_to`, " +
			"`unsubscribe` and `category` of the request win over the template's. The bodies are the template's if it has any: `html` and `text` are then refused."},
	}
	s := closed(withAliasProperties(fields, sendAliases), "to")
	s.Description = "A field given as `null` is the same as one that is left out. `from`, `subject` and `html` or `text` are required unless a template gives them."
	s.AnyOf = []*huma.Schema{{Required: []string{"template"}}}
	for _, name := range []string{"html", "text"} {
		for _, n := range append([]string{name}, sendAliases[name]...) {
			s.AnyOf = append(s.AnyOf, &huma.Schema{Required: []string{"from", "subject", n}})
		}
	}
	return s
}

func templateReferenceSchema() *huma.Schema {
	s := closed(map[string]*huma.Schema{
		"id":    {Type: huma.TypeString, Description: "Of the template.", Examples: []any{"tpl_01kf0m4w7he6x8q2v5b3n9c1ta"}},
		"alias": {Type: huma.TypeString, Description: "The template's alias, instead of its id.", Examples: []any{"receipt"}},
		"variables": {Type: huma.TypeObject, Nullable: true, AdditionalProperties: true,
			Description: "Values for its variables, by key; a key with dots may be nested instead. A required one that is missing is named as `template.variables.<key>`."},
	})
	s.OneOf = []*huma.Schema{{Required: []string{"id"}}, {Required: []string{"alias"}}}
	return s
}

func attachmentSchema() *huma.Schema {
	s := closed(withAliasProperties(map[string]*huma.Schema{
		"name":         {Type: huma.TypeString, Description: "File name. Extensions that can run code are refused."},
		"content_type": {Type: huma.TypeString, Description: "Default: from the name.", Examples: []any{"application/pdf"}},
		"data": {Type: huma.TypeString, ContentEncoding: "base64",
			Description: "The file in base64: standard or URL alphabet, padding optional, white space tolerated."},
		"content_id": {Type: huma.TypeString, Description: "Makes the part inline; `cid:` links to it resolve."},
	}, attachmentAliases))
	for _, name := range append([]string{"data"}, attachmentAliases["data"]...) {
		s.AnyOf = append(s.AnyOf, &huma.Schema{Required: []string{name}})
	}
	return s
}

func mailboxSchema() *huma.Schema {
	return oneOf("An email address, with or without a display name.",
		&huma.Schema{Type: huma.TypeString, Description: "`a@b`, or `Name <a@b>`.", Examples: []any{"Ada <ada@example.com>"}},
		closed(map[string]*huma.Schema{
			"email": {Type: huma.TypeString, Description: "`a@b`.", Examples: []any{"ada@example.com"}},
			"name":  {Type: huma.TypeString, Nullable: true, Description: "Display name."},
		}, "email"))
}

func addDomainSchema() *huma.Schema {
	return closed(map[string]*huma.Schema{
		"name": {Type: huma.TypeString, Description: "A domain name that is yours; not a public suffix.", Examples: []any{"example.com"}},
		"inbound_enabled": {Type: huma.TypeBoolean, Nullable: true, Default: false,
			Description: "Whether the domain receives mail as well."},
	}, "name")
}

// withAliasProperties lists each alias as a field of its own, for readers and for
// validators: unknown names are refused, aliases are not.
func withAliasProperties(fields map[string]*huma.Schema, aliases map[string][]string) map[string]*huma.Schema {
	for name, others := range aliases {
		described := *fields[name]
		fields[name].Description = strings.TrimSpace(fields[name].Description + " Aliases: `" + strings.Join(others, "`, `") + "`.")
		for _, other := range others {
			alias := described
			alias.Description = "Another name for `" + name + "`; give one of them."
			fields[other] = &alias
		}
	}
	return fields
}

func refTo(name string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + name} }

func oneOf(description string, options ...*huma.Schema) *huma.Schema {
	return &huma.Schema{Description: description, OneOf: options}
}

// closed is an object that refuses unknown fields.
func closed(fields map[string]*huma.Schema, required ...string) *huma.Schema {
	slices.Sort(required)
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: fields, Required: required}
}
