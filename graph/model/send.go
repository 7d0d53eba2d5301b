package model

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/postrider/postrider/ent/email"
)

// SendEmailInput is an email to send. Its JSON is the body of POST /emails.
type SendEmailInput struct {
	From        *string            `json:"from,omitempty"`
	To          []string           `json:"to,omitempty"`
	Cc          []string           `json:"cc,omitempty"`
	Bcc         []string           `json:"bcc,omitempty"`
	ReplyTo     []string           `json:"reply_to,omitempty"`
	Subject     *string            `json:"subject,omitempty"`
	HTML        *string            `json:"html,omitempty"`
	Text        *string            `json:"text,omitempty"`
	Tags        []*TagInput        `json:"tags,omitempty"`
	Headers     HeaderInputs       `json:"headers,omitempty"`
	Attachments []*AttachmentInput `json:"attachments,omitempty"`
	ScheduledAt *time.Time         `json:"scheduled_at,omitempty"`
	ExpiresAt   *time.Time         `json:"expires_at,omitempty"`
	Template    *TemplateReference `json:"template,omitempty"`
	Category    *string            `json:"category,omitempty"`
	Unsubscribe *bool              `json:"unsubscribe,omitempty"`
}

// HeaderInput is a custom header field.
type HeaderInput struct{ Name, Value string }

// HeaderInputs are custom header fields. Their JSON is an object.
type HeaderInputs []*HeaderInput

// MarshalJSON writes the fields in their order. A name that appears twice is a mistake that the API reports.
func (h HeaderInputs) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, field := range h {
		if i > 0 {
			out.WriteByte(',')
		}
		for j, text := range []string{field.Name, field.Value} {
			encoded, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			if j > 0 {
				out.WriteByte(':')
			}
			out.Write(encoded)
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// AttachmentInput is a file of an email to send.
type AttachmentInput struct {
	Name        *string `json:"name,omitempty"`
	ContentType *string `json:"content_type,omitempty"`
	Data        string  `json:"data"`
	ContentID   *string `json:"content_id,omitempty"`
}

// TemplateReference selects a published template.
type TemplateReference struct {
	ID        *string         `json:"id,omitempty"`
	Alias     *string         `json:"alias,omitempty"`
	Locale    *string         `json:"locale,omitempty"`
	TimeZone  *string         `json:"time_zone,omitempty"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

// SendEmailResult is the result of sending an email.
type SendEmailResult struct {
	ID                   string
	Status               email.Status
	SuppressedRecipients []string
	Replayed             bool
}
