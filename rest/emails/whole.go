package emails

import (
	"maps"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api/wire"
)

// EmailWhole is an email with the fields that lists omit.
type EmailWhole struct {
	EmailRecord

	HTML        *string            `json:"html" doc:"The HTML body; null if there is none or it was deleted by retention."`
	Text        *string            `json:"text" doc:"The plain text body; null if none was sent or it was deleted by retention. If there is only HTML, a text part is generated during delivery."`
	Headers     map[string]string  `json:"headers" nullable:"false" doc:"The custom header fields of the request."`
	Attachments []attachmentRecord `json:"attachments" nullable:"false" doc:"The attachments, without their data."`
	Recipients  []recipientRecord  `json:"recipients" nullable:"false" doc:"Every recipient with its delivery state, in the order of the request."`
}

// attachmentRecord describes a file of an email.
type attachmentRecord struct {
	Name        string  `json:"name" doc:"The file name of the attachment." example:"logo.png"`
	ContentType string  `json:"content_type" doc:"The media type of the attachment." example:"image/png"`
	ContentID   *string `json:"content_id" doc:"The content ID. null if the file is not inline." example:"logo"`
	Size        int     `json:"size" doc:"Decoded size in bytes." example:"8"`
}

type wholeAnswer struct {
	Email EmailWhole `json:"email" doc:"The email, with its content and recipients."`
}

func newWholeAnswer(w records.EmailDetail) wholeAnswer {
	return wholeAnswer{EmailWhole{EmailRecord: newEmailRecord(w.Email), HTML: w.HTML, Text: w.Text,
		Headers:     headersOf(w.Headers),
		Attachments: wire.ListOf(w.Files, newAttachmentRecord),
		Recipients:  wire.ListOf(w.Recipients, newRecipientRecord)}}
}

func newAttachmentRecord(f *ent.Attachment) attachmentRecord {
	return attachmentRecord{Name: f.Name, ContentType: f.ContentType, ContentID: wire.OrNull(f.ContentID), Size: f.Size}
}

func headersOf(list []shape.Header) map[string]string {
	out := make(map[string]string, len(list))
	for _, h := range list {
		out[h.Name] = h.Value
	}
	return out
}

func wholeExample() map[string]any {
	e := emailExample()
	recipient := recipientExample()
	maps.Copy(recipient, map[string]any{"state": "delivered", "next_attempt_at": nil, "code": 250,
		"enhanced_code": "2.0.0", "diagnostic": "250 2.0.0 Ok: queued as 4XyZ",
		"settled_at": "2026-01-15T09:30:01.250Z"})
	maps.Copy(e, map[string]any{"html": "<p>Thank you.</p>", "text": "Thank you.",
		"headers":     map[string]any{"X-Order": "1742"},
		"attachments": []any{map[string]any{"name": "logo.png", "content_type": "image/png", "content_id": "logo", "size": 8}}, "recipients": []any{recipient}})
	return e
}
