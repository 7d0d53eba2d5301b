package rest

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending"
)

func sendOperation() operation {
	return operation{
		method: http.MethodPost, path: "/emails", id: "sendEmail", tag: tagEmails, needs: accounts.Send, idempotent: true,
		summary: "Send an email",
		description: "Stores the message durably, then answers; delivery follows at once. `from` must be on a verified domain of the account, or on the sandbox " +
			"domain if every recipient is the account email. At most 50 recipients over `to`, `cc` and `bcc`.\n\nRefused for now, never ignored: " +
			"`scheduled_at`, `template`, `category`, and `unsubscribe` with the value true.",
		body: &requestBody{limit: emailBodyLimit, description: "The email to send.", schema: "SendEmail", examples: map[string]any{
			"simple": map[string]any{"from": "Ada <ada@example.com>", "to": "bob@example.net", "subject": "Your receipt", "text": "Thank you."},
			"full": map[string]any{"from": map[string]any{"email": "ada@example.com", "name": "Ada"}, "to": []any{"Bob <bob@example.net>"}, "cc": []any{"carol@example.net"},
				"reply_to": "help@example.com", "subject": "Your receipt", "html": "<p>Thank you. <img src=\"cid:logo\"></p>", "text": "Thank you.",
				"tags": map[string]any{"kind": "receipt"}, "headers": map[string]any{"X-Order": "1742"},
				"attachments": []any{map[string]any{"name": "logo.png", "content_type": "image/png", "content_id": "logo", "data": "iVBORw0KGgo="}}},
		}},
		answer: reflect.TypeFor[emailReceipt](), example: map[string]any{"id": "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "status": "sent"},
		problems: []int{http.StatusBadGateway},
	}
}

// sendSchemas are the request body and its parts, by component name.
func sendSchemas() map[string]*huma.Schema {
	return map[string]*huma.Schema{
		"SendEmail":       sendEmailSchema(),
		"AttachmentInput": attachmentSchema(),
		"Mailbox":         mailboxSchema(),
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
		"attachments":  {Type: huma.TypeArray, MaxItems: &maxFiles, Items: refTo("AttachmentInput"), Description: "At most 10 files of 10 MB each."},
		"scheduled_at": {Type: huma.TypeString, Nullable: true, Format: "date-time", Description: "Not supported yet: refused."},
		"unsubscribe":  {Type: huma.TypeBoolean, Nullable: true, Default: false, Description: "true is not supported yet: refused."},
		"template":     {Type: huma.TypeObject, Nullable: true, Description: "Not supported yet: refused."},
		"category":     {Type: huma.TypeString, Nullable: true, Description: "Not supported yet: refused."},
	}
	s := closed(withAliasProperties(fields, sendAliases), "from", "to", "subject")
	s.Description = "A field given as `null` is the same as one that is left out."
	for _, name := range []string{"html", "text"} {
		for _, n := range append([]string{name}, sendAliases[name]...) {
			s.AnyOf = append(s.AnyOf, &huma.Schema{Required: []string{n}})
		}
	}
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
