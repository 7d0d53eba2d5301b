package resend

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/id"
)

func emailRoutes() []compat.Route {
	return []compat.Route{
		{Method: http.MethodPost, Path: "/emails", Limit: emailLimit, Handle: sendEmail},
		{Method: http.MethodPost, Path: "/emails/batch", Limit: batchLimit, Handle: sendBatch},
		{Method: http.MethodGet, Path: "/emails", Handle: listEmails},
		{Method: http.MethodGet, Path: "/emails/metrics", Handle: compat.Refuse("Metrics over the API are")},
		{Method: http.MethodGet, Path: "/emails/{id}", Handle: getEmail},
		{Method: http.MethodPatch, Path: "/emails/{id}", Handle: updateEmail},
		{Method: http.MethodPost, Path: "/emails/{id}/cancel", Handle: cancelEmail},
		{Method: http.MethodPost, Path: "/emails/{id}/share", Handle: compat.Refuse("Shared links to emails are")},
		{Method: http.MethodGet, Path: "/emails/{id}/attachments", Handle: sentMail.listFiles},
		{Method: http.MethodGet, Path: "/emails/{id}/attachments/{file}", Handle: sentMail.getFile},
	}
}

// emailInput is an email to send.
type emailInput struct {
	From        json.RawMessage   `json:"from"`
	To          json.RawMessage   `json:"to"`
	CC          json.RawMessage   `json:"cc"`
	BCC         json.RawMessage   `json:"bcc"`
	ReplyTo     json.RawMessage   `json:"reply_to"`
	Subject     *string           `json:"subject"`
	HTML        *string           `json:"html"`
	Text        *string           `json:"text"`
	Headers     json.RawMessage   `json:"headers"`
	Tags        json.RawMessage   `json:"tags"`
	Attachments []attachmentInput `json:"attachments"`
	ScheduledAt *string           `json:"scheduled_at"`
	Template    *templateInput    `json:"template"`
	TopicID     *string           `json:"topic_id"`
}

type attachmentInput struct {
	Content     content         `json:"content"`
	Filename    json.RawMessage `json:"filename"`
	Path        *string         `json:"path"`
	ContentType *string         `json:"content_type"`
	ContentID   *string         `json:"content_id"`
	// InlineContentID is the earlier name of ContentID.
	InlineContentID *string `json:"inline_content_id"`
}

type templateInput struct {
	ID        string          `json:"id"`
	Variables json.RawMessage `json:"variables"`
}

// content is base64, or the JSON encoding of a Node.js Buffer.
type content struct{ base64 *string }

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(text []byte) error {
	var buffer struct {
		Type string  `json:"type"`
		Data []uint8 `json:"-"`
		Raw  []int   `json:"data"`
	}
	if len(text) == 0 || text[0] != '{' {
		return json.Unmarshal(text, &c.base64)
	}
	if err := json.Unmarshal(text, &buffer); err != nil {
		return err
	}
	if buffer.Type != "Buffer" {
		return compat.Invalid("attachments", "must have base64 content")
	}
	for _, b := range buffer.Raw {
		if b < 0 || b > 255 {
			return compat.Invalid("attachments", "must have bytes as their content")
		}
		buffer.Data = append(buffer.Data, byte(b))
	}
	encoded := base64.StdEncoding.EncodeToString(buffer.Data)
	c.base64 = &encoded
	return nil
}

// email is an email in the format of our own API.
type email struct {
	From        json.RawMessage `json:"from,omitempty"`
	To          json.RawMessage `json:"to,omitempty"`
	CC          json.RawMessage `json:"cc,omitempty"`
	BCC         json.RawMessage `json:"bcc,omitempty"`
	ReplyTo     json.RawMessage `json:"reply_to,omitempty"`
	Subject     *string         `json:"subject,omitempty"`
	HTML        *string         `json:"html,omitempty"`
	Text        *string         `json:"text,omitempty"`
	Headers     json.RawMessage `json:"headers,omitempty"`
	Tags        json.RawMessage `json:"tags,omitempty"`
	Attachments []attachment    `json:"attachments,omitempty"`
	ScheduledAt string          `json:"scheduled_at,omitempty"`
	Template    *templateRef    `json:"template,omitempty"`
}

type attachment struct {
	Name        string  `json:"name,omitempty"`
	Data        *string `json:"data,omitempty"`
	ContentType *string `json:"content_type,omitempty"`
	ContentID   *string `json:"content_id,omitempty"`
}

type templateRef struct {
	ID        string          `json:"id,omitempty"`
	Alias     string          `json:"alias,omitempty"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

// translate converts the email to the format of our own API, and reports whether the result depends on the time.
func (in emailInput) translate(now time.Time) (out email, relative bool, err error) {
	if in.TopicID != nil && *in.TopicID != "" {
		return out, false, compat.Unsupported("Topics (topic_id) are")
	}
	out = email{From: in.From, To: in.To, CC: in.CC, BCC: in.BCC, ReplyTo: in.ReplyTo, Subject: in.Subject,
		HTML: in.HTML, Text: in.Text, Headers: in.Headers, Tags: in.Tags}
	for _, a := range in.Attachments {
		made, err := a.translate()
		if err != nil {
			return out, false, err
		}
		out.Attachments = append(out.Attachments, made)
	}
	if in.ScheduledAt != nil && *in.ScheduledAt != "" {
		at, isRelative, err := compat.ParseTime(*in.ScheduledAt, now)
		if err != nil {
			return out, false, compat.Invalid("scheduled_at", "%s", err)
		}
		out.ScheduledAt, relative = at.UTC().Format(time.RFC3339Nano), isRelative
	}
	if in.Template != nil {
		out.Template = &templateRef{Variables: in.Template.Variables}
		if id.Is(id.Template, in.Template.ID) {
			out.Template.ID = in.Template.ID
		} else {
			out.Template.Alias = in.Template.ID
		}
	}
	return out, relative, nil
}

func (a attachmentInput) translate() (attachment, error) {
	out := attachment{Data: a.Content.base64, ContentType: a.ContentType, ContentID: a.ContentID}
	if out.ContentID == nil {
		out.ContentID = a.InlineContentID
	}
	if a.Path != nil && *a.Path != "" {
		return out, compat.Unsupported("Attachments by URL (path) are")
	}
	if text := string(a.Filename); text != "" && text != "null" && text != "false" {
		if err := json.Unmarshal(a.Filename, &out.Name); err != nil {
			return out, compat.Invalid("attachments", "must have a string as their filename")
		}
	}
	return out, nil
}

func sendEmail(c *compat.Call) (*compat.Response, error) {
	var in emailInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	out, relative, err := in.translate(time.Now())
	if err != nil {
		return nil, err
	}
	ask := compat.Request{Method: http.MethodPost, Path: "/emails", Body: out, Key: c.Header("Idempotency-Key")}
	if relative && ask.Key != "" {
		if ask.Compared, err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	var sent struct {
		ID string `json:"id"`
	}
	if err := c.Do(ask, &sent); err != nil {
		return nil, err
	}
	return compat.OK(sent)
}

// record is an email in our own API.
type record struct {
	ID          string            `json:"id"`
	From        string            `json:"from"`
	To          []string          `json:"to"`
	CC          []string          `json:"cc"`
	BCC         []string          `json:"bcc"`
	ReplyTo     []string          `json:"reply_to"`
	Subject     string            `json:"subject"`
	LastEvent   string            `json:"last_event"`
	Tags        []json.RawMessage `json:"tags"`
	CreatedAt   string            `json:"created_at"`
	ScheduledAt *string           `json:"scheduled_at"`
	HTML        *string           `json:"html"`
	Text        *string           `json:"text"`
}

// shownEmail is an email in a list.
type shownEmail struct {
	ID          string   `json:"id"`
	MessageID   string   `json:"message_id"`
	From        string   `json:"from"`
	To          []string `json:"to"`
	CC          []string `json:"cc"`
	BCC         []string `json:"bcc"`
	ReplyTo     []string `json:"reply_to"`
	Subject     string   `json:"subject"`
	CreatedAt   string   `json:"created_at"`
	LastEvent   string   `json:"last_event"`
	ScheduledAt *string  `json:"scheduled_at"`
	TopicID     *string  `json:"topic_id"`
}

func (r record) show() shownEmail {
	return shownEmail{ID: r.ID, MessageID: messageID(r), From: r.From, To: orEmpty(r.To), CC: orEmpty(r.CC),
		BCC: orEmpty(r.BCC), ReplyTo: orEmpty(r.ReplyTo), Subject: r.Subject, CreatedAt: r.CreatedAt,
		LastEvent: lastEvent(r.LastEvent), ScheduledAt: r.ScheduledAt}
}

// lastEvent returns Resend's name of an event.
func lastEvent(name string) string {
	name = strings.TrimPrefix(name, "email.")
	if name == "cancelled" {
		return "canceled"
	}
	return name
}

// messageID returns the Message-ID that an email was sent with.
func messageID(r record) string {
	_, domain, _ := strings.Cut(strings.TrimSuffix(r.From, ">"), "@")
	return "<" + r.ID + "@" + domain + ">"
}

func listEmails(c *compat.Call) (*compat.Response, error) {
	return answerList(c, compat.ListRequest{Path: "/emails", Member: "emails", Name: "emails"},
		func(r record) string { return r.ID }, nil, record.show)
}

func getEmail(c *compat.Call) (*compat.Response, error) {
	var found struct {
		Email record `json:"email"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: joinPath("emails", c.Param("id"))},
		&found); err != nil {
		return nil, err
	}
	return compat.OK(struct {
		Object string `json:"object"`
		shownEmail
		HTML *string           `json:"html"`
		Text *string           `json:"text"`
		Tags []json.RawMessage `json:"tags"`
	}{"email", found.Email.show(), found.Email.HTML, found.Email.Text, orEmpty(found.Email.Tags)})
}

func updateEmail(c *compat.Call) (*compat.Response, error) {
	var in struct {
		ScheduledAt string `json:"scheduled_at"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	at, _, err := compat.ParseTime(in.ScheduledAt, time.Now())
	if err != nil {
		return nil, compat.Invalid("scheduled_at", "%s", err)
	}
	return changeEmail(c, map[string]any{"scheduled_at": at.UTC().Format(time.RFC3339Nano)})
}

func cancelEmail(c *compat.Call) (*compat.Response, error) {
	return changeEmail(c, map[string]any{"cancel": true})
}

func changeEmail(c *compat.Call, change map[string]any) (*compat.Response, error) {
	id := c.Param("id")
	if err := c.Do(compat.Request{Method: http.MethodPatch, Path: joinPath("emails", id), Body: change},
		nil); err != nil {
		return nil, err
	}
	return compat.OK(object{Object: "email", ID: id})
}
