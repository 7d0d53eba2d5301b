package postmark

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/id"
)

// email is an email to send, with or without a template.
type email struct {
	From          string            `json:"From"`
	To            string            `json:"To"`
	Cc            string            `json:"Cc"`
	Bcc           string            `json:"Bcc"`
	ReplyTo       string            `json:"ReplyTo"`
	Subject       *string           `json:"Subject"`
	HTMLBody      *string           `json:"HtmlBody"`
	TextBody      *string           `json:"TextBody"`
	Tag           string            `json:"Tag"`
	Metadata      map[string]string `json:"Metadata"`
	Headers       []header          `json:"Headers"`
	Attachments   []attachment      `json:"Attachments"`
	MessageStream string            `json:"MessageStream"`
	TrackOpens    *bool             `json:"TrackOpens"`
	TrackLinks    *string           `json:"TrackLinks"`

	TemplateID    json.RawMessage `json:"TemplateId"`
	TemplateAlias string          `json:"TemplateAlias"`
	TemplateModel json.RawMessage `json:"TemplateModel"`
	InlineCSS     *bool           `json:"InlineCss"`
}

type header struct {
	Name  string `json:"Name"`
	Value string `json:"Value"`
}

type attachment struct {
	Name               string `json:"Name"`
	Content            string `json:"Content"`
	ContentType        string `json:"ContentType"`
	ContentID          string `json:"ContentID"`
	ContentLength      *int   `json:"ContentLength"`
	ContentDisposition string `json:"Disposition"`
}

type mailbox struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

// readAddresses reads a list of addresses, which is a single string at Postmark.
func readAddresses(field, text string) ([]mailbox, error) {
	if text == "" {
		return nil, nil
	}
	found, err := mail.ParseAddressList(text)
	if err != nil {
		return nil, compat.Invalid(field, "must be addresses separated by commas")
	}
	var boxes []mailbox
	for _, a := range found {
		boxes = append(boxes, mailbox{a.Address, a.Name})
	}
	return boxes, nil
}

// check refuses unsupported fields by name.
func (e email) check() error {
	switch {
	case e.MessageStream != "" && e.MessageStream != "outbound":
		return compat.Unsupported("Message streams other than outbound are")
	case e.TrackOpens != nil:
		return compat.Unsupported("TrackOpens of an email (tracking is a setting of the domain) is")
	case e.TrackLinks != nil:
		return compat.Unsupported("TrackLinks of an email (tracking is a setting of the domain) is")
	case e.InlineCSS != nil && !*e.InlineCSS:
		return compat.Unsupported("InlineCss: false is")
	}
	return nil
}

// translate converts the email to the format of our own API.
func (e email) translate() (map[string]any, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, field := range []struct{ ours, theirs, text string }{{"from", "From", e.From}, {"to", "To", e.To},
		{"cc", "Cc", e.Cc}, {"bcc", "Bcc", e.Bcc}, {"reply_to", "ReplyTo", e.ReplyTo}} {
		boxes, err := readAddresses(field.theirs, field.text)
		switch {
		case err != nil:
			return nil, err
		case field.ours == "from" && len(boxes) == 1:
			out[field.ours] = boxes[0]
		case len(boxes) > 0:
			out[field.ours] = boxes
		}
	}
	for name, text := range map[string]*string{"subject": e.Subject, "html": e.HTMLBody, "text": e.TextBody} {
		if text != nil {
			out[name] = *text
		}
	}
	headers := map[string]string{}
	for _, h := range e.Headers {
		headers[h.Name] = h.Value
	}
	if len(headers) > 0 {
		out["headers"] = headers
	}
	if tags := e.tags(); len(tags) > 0 {
		out["tags"] = tags
	}
	e.addFiles(out)
	return out, e.addTemplate(out)
}

func (e email) tags() (tags []compat.Tag) {
	if e.Tag != "" {
		tags = append(tags, compat.NewTag("tag", e.Tag))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Metadata)) {
		tags = append(tags, compat.NewTag(name, e.Metadata[name]))
	}
	return tags
}

func (e email) addFiles(out map[string]any) {
	var files []map[string]any
	for _, a := range e.Attachments {
		file := map[string]any{"name": a.Name, "data": a.Content}
		if a.ContentType != "" {
			file["content_type"] = a.ContentType
		}
		if a.ContentID != "" {
			file["content_id"] = strings.TrimPrefix(a.ContentID, "cid:")
		}
		files = append(files, file)
	}
	if len(files) > 0 {
		out["attachments"] = files
	}
}

// addTemplate adds the template. A TemplateId is one of our IDs, or an alias.
func (e email) addTemplate(out map[string]any) error {
	name := e.TemplateAlias
	if text := strings.Trim(string(e.TemplateID), `"`); text != "" && text != "null" && text != "0" {
		if name != "" {
			return compat.Invalid("TemplateId", "cannot be combined with TemplateAlias")
		}
		name = text
	}
	if name == "" {
		return nil
	}
	template := map[string]any{"alias": name}
	if id.Is(id.Template, name) {
		template = map[string]any{"id": name}
	}
	if len(e.TemplateModel) > 0 {
		template["variables"] = e.TemplateModel
	}
	out["template"] = template
	return nil
}

// receipt is the result of one email.
type receipt struct {
	To          string `json:"To,omitempty"`
	SubmittedAt string `json:"SubmittedAt,omitempty"`
	MessageID   string `json:"MessageID,omitempty"`
	ErrorCode   int    `json:"ErrorCode"`
	Message     string `json:"Message"`
}

// sent is the response of our own API to one email.
type sent struct {
	ID     *string `json:"id"`
	Status string  `json:"status"`
	Error  *struct {
		Message string         `json:"message"`
		Code    string         `json:"code"`
		Details map[string]any `json:"details"`
	} `json:"error"`
}

// codeInactiveName is the code of a RefusalError for a suppressed recipient.
const codeInactiveName = "suppressed"

// receipt returns the result, or why the email is not sent.
func (s sent) receipt(c *compat.Call, e email) (receipt, error) {
	switch {
	case s.Error != nil:
		return receipt{}, &compat.RefusalError{Status: http.StatusBadRequest, Code: s.Error.Code,
			Message: compat.Describe(s.Error.Message, s.Error.Details)}
	case s.Status == "failed" && s.ID != nil:
		suppressed, err := findSuppressed(c, *s.ID)
		if err != nil {
			return receipt{}, err
		}
		return receipt{}, &compat.RefusalError{Status: http.StatusUnprocessableEntity, Code: codeInactiveName,
			// Postmark's libraries read the addresses from this sentence.
			Message: "You tried to send to recipients that are suppressed. Found inactive addresses: " +
				strings.Join(suppressed, ", ") + ". Inactive recipients are those that bounced, complained or " +
				"unsubscribed, or that you suppressed."}
	case s.ID == nil:
		return receipt{}, fmt.Errorf("an email without an id has the status %s", s.Status)
	}
	return receipt{To: e.To, SubmittedAt: time.Now().UTC().Format(time.RFC3339Nano), MessageID: *s.ID,
		Message: "OK"}, nil
}

func sendEmail(c *compat.Call) (*compat.Response, error) {
	var in email
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	done, err := sendOne(c, in)
	if err != nil {
		return nil, err
	}
	return compat.OK(done)
}

func sendOne(c *compat.Call, in email) (receipt, error) {
	body, err := in.translate()
	if err != nil {
		return receipt{}, err
	}
	var done sent
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/emails", Body: body}, &done); err != nil {
		return receipt{}, err
	}
	return done.receipt(c, in)
}

// findSuppressed returns the suppressed recipients that prevented an email from being sent.
func findSuppressed(c *compat.Call, emailID string) ([]string, error) {
	var found struct {
		Email struct {
			Recipients []recipient `json:"recipients"`
		} `json:"email"`
	}
	if err := c.Do(compat.Request{Method: http.MethodGet, Path: "/emails/" + emailID}, &found); err != nil {
		return nil, err
	}
	var suppressed []string
	for _, r := range found.Email.Recipients {
		if r.Diagnostic != nil && strings.HasPrefix(*r.Diagnostic, "suppressed") {
			suppressed = append(suppressed, r.Address)
		}
	}
	return suppressed, nil
}
