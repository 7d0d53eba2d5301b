package emails

import (
	"maps"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/rest/api/wire"
)

// EmailWhole is an email with what lists leave out.
type EmailWhole struct {
	EmailRecord

	HTML        *string            `json:"html" doc:"The body as HTML; null when there is none, and once it is deleted for its age."`
	Text        *string            `json:"text" doc:"The body as plain text; null when none was given, and once it is deleted. Where there is HTML alone, a text part is made from it on the way out."`
	Headers     map[string]string  `json:"headers" nullable:"false" doc:"The custom header fields of the request."`
	Attachments []attachmentRecord `json:"attachments" nullable:"false" doc:"Its files, without their data."`
	Recipients  []recipientRecord  `json:"recipients" nullable:"false" doc:"Every address that it goes to, in the order of the request, and where delivery to it stands."`
}

// attachmentRecord describes a file of an email.
type attachmentRecord struct {
	Name        string  `json:"name" example:"logo.png"`
	ContentType string  `json:"content_type" example:"image/png"`
	ContentID   *string `json:"content_id" doc:"null when the file is not inline." example:"logo"`
	Size        int     `json:"size" doc:"In octets, decoded." example:"8"`
}

type wholeAnswer struct {
	Email EmailWhole `json:"email"`
}

func newWholeAnswer(w records.Whole) wholeAnswer {
	return wholeAnswer{EmailWhole{EmailRecord: newEmailRecord(w.Email), HTML: w.HTML, Text: w.Text, Headers: headersOf(w.Headers),
		Attachments: wire.ListOf(w.Files, newAttachmentRecord), Recipients: wire.ListOf(w.Recipients, newRecipientRecord)}}
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
	maps.Copy(recipient, map[string]any{"state": "delivered", "next_attempt_at": nil, "code": 250, "enhanced_code": "2.0.0", "diagnostic": "250 2.0.0 Ok: queued as 4XyZ",
		"settled_at": "2026-01-15T09:30:01.250Z"})
	maps.Copy(e, map[string]any{"html": "<p>Thank you.</p>", "text": "Thank you.", "headers": map[string]any{"X-Order": "1742"},
		"attachments": []any{map[string]any{"name": "logo.png", "content_type": "image/png", "content_id": "logo", "size": 8}}, "recipients": []any{recipient}})
	return e
}
