package sendgrid

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/id"
)

const (
	mailLimit     = 40 << 20 // bytes: 30 MB of an email, in base64
	mostEmails    = 100      // emails per call, as in our batch
	mostPersonals = "must have between 1 and 100 entries"
)

// mail is the body of mail/send.
type mail struct {
	Personalizations []personalization          `json:"personalizations"`
	From             *mailbox                   `json:"from"`
	ReplyTo          *mailbox                   `json:"reply_to"`
	ReplyToList      []mailbox                  `json:"reply_to_list"`
	Subject          string                     `json:"subject"`
	Content          []content                  `json:"content"`
	Attachments      []attachment               `json:"attachments"`
	TemplateID       string                     `json:"template_id"`
	Headers          map[string]string          `json:"headers"`
	Categories       []string                   `json:"categories"`
	CustomArgs       map[string]any             `json:"custom_args"`
	SendAt           int64                      `json:"send_at"`
	BatchID          string                     `json:"batch_id"`
	IPPoolName       string                     `json:"ip_pool_name"`
	ASM              map[string]json.RawMessage `json:"asm"`
	Sections         map[string]json.RawMessage `json:"sections"`
	MailSettings     map[string]settings        `json:"mail_settings"`
	TrackingSettings map[string]settings        `json:"tracking_settings"`
}

type mailbox struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

type personalization struct {
	To                  []mailbox                  `json:"to"`
	CC                  []mailbox                  `json:"cc"`
	BCC                 []mailbox                  `json:"bcc"`
	From                *mailbox                   `json:"from"`
	Subject             string                     `json:"subject"`
	Headers             map[string]string          `json:"headers"`
	Substitutions       map[string]json.RawMessage `json:"substitutions"`
	DynamicTemplateData json.RawMessage            `json:"dynamic_template_data"`
	CustomArgs          map[string]any             `json:"custom_args"`
	SendAt              int64                      `json:"send_at"`
}

type content struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type attachment struct {
	Content     string `json:"content"`
	Type        string `json:"type"`
	Filename    string `json:"filename"`
	Disposition string `json:"disposition"`
	ContentID   string `json:"content_id"`
}

// settings are options that a client can send even if they are disabled.
type settings map[string]any

func (s settings) isOn() bool { return len(s) > 0 && s["enable"] != false }

// check refuses unsupported fields by name.
func (m mail) check() error {
	for _, absent := range []struct {
		given   bool
		feature string
	}{
		{m.BatchID != "", "Batches of scheduled emails (batch_id) are"},
		{m.IPPoolName != "", "IP pools (ip_pool_name) are"},
		{len(m.ASM) > 0, "Unsubscribe groups (asm) are"},
		{len(m.Sections) > 0, "Sections are"},
	} {
		if absent.given {
			return compat.Unsupported(absent.feature)
		}
	}
	for _, p := range m.Personalizations {
		if len(p.Substitutions) > 0 {
			return compat.Unsupported("Substitutions of legacy templates are")
		}
	}
	var unsupported []string
	for _, name := range slices.Sorted(maps.Keys(m.MailSettings)) {
		if m.MailSettings[name].isOn() {
			unsupported = append(unsupported, "mail_settings."+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.TrackingSettings)) {
		// Tracking is a setting of the domain: an email cannot enable or disable it.
		if len(m.TrackingSettings[name]) > 0 {
			unsupported = append(unsupported, "tracking_settings."+name)
		}
	}
	if len(unsupported) > 0 {
		return compat.UnsupportedNames("Setting", unsupported)
	}
	if n := len(m.Personalizations); n == 0 || n > mostEmails {
		return compat.Invalid("personalizations", mostPersonals)
	}
	if len(m.Attachments) > 0 && len(m.Personalizations) > 1 {
		return compat.Unsupported("Attachments together with several personalizations are")
	}
	return nil
}

// email returns the email of a personalization in the format of our own API.
func (m mail) email(p personalization) (map[string]any, error) {
	out := map[string]any{"to": p.To, "subject": first(p.Subject, m.Subject)}
	for name, boxes := range map[string][]mailbox{"cc": p.CC, "bcc": p.BCC, "reply_to": m.ReplyToList} {
		if len(boxes) > 0 {
			out[name] = boxes
		}
	}
	if m.ReplyTo != nil {
		out["reply_to"] = m.ReplyTo
	}
	switch {
	case p.From != nil:
		out["from"] = p.From
	case m.From != nil:
		out["from"] = m.From
	}
	if err := m.addContent(out, p); err != nil {
		return nil, err
	}
	headers := map[string]string{}
	maps.Copy(headers, m.Headers)
	maps.Copy(headers, p.Headers)
	if len(headers) > 0 {
		out["headers"] = headers
	}
	if tags := m.tags(p); len(tags) > 0 {
		out["tags"] = tags
	}
	if at := max(p.SendAt, 0); at > 0 || m.SendAt > 0 {
		if at == 0 {
			at = m.SendAt
		}
		if at > time.Now().Unix() { // SendGrid sends emails with a past time immediately
			out["scheduled_at"] = time.Unix(at, 0).UTC().Format(time.RFC3339)
		}
	}
	return out, nil
}

// first returns the first non-empty text.
func first(texts ...string) any {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return nil
}

// addContent adds the bodies, the template and the attachments.
func (m mail) addContent(out map[string]any, p personalization) error {
	for _, c := range m.Content {
		switch c.Type {
		case "text/plain":
			out["text"] = c.Value
		case "text/html":
			out["html"] = c.Value
		default:
			return compat.Unsupported("Content of the type " + c.Type + " is")
		}
	}
	if m.TemplateID != "" {
		template := map[string]any{"alias": m.TemplateID}
		if id.Is(id.Template, m.TemplateID) {
			template = map[string]any{"id": m.TemplateID}
		}
		if len(p.DynamicTemplateData) > 0 {
			template["variables"] = p.DynamicTemplateData
		}
		out["template"] = template
	} else if len(p.DynamicTemplateData) > 0 {
		return compat.Invalid("dynamic_template_data", "requires template_id")
	}
	var files []map[string]any
	for _, a := range m.Attachments {
		file := map[string]any{"name": a.Filename, "data": a.Content}
		if a.Type != "" {
			file["content_type"] = a.Type
		}
		if a.ContentID != "" && a.Disposition == "inline" {
			file["content_id"] = a.ContentID
		}
		files = append(files, file)
	}
	if len(files) > 0 {
		out["attachments"] = files
	}
	return nil
}

// tags returns the arguments and the categories as tags.
func (m mail) tags(p personalization) []compat.Tag {
	arguments := map[string]any{}
	maps.Copy(arguments, m.CustomArgs)
	maps.Copy(arguments, p.CustomArgs)
	for i, category := range m.Categories {
		name := "category"
		if i > 0 {
			name = fmt.Sprintf("category_%d", i+1)
		}
		arguments[name] = category
	}
	var tags []compat.Tag
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		tags = append(tags, compat.NewTag(name, fmt.Sprint(arguments[name])))
	}
	return tags
}

// sendMail sends one email for each personalization, all of them or none.
func sendMail(c *compat.Call) (*compat.Response, error) {
	var in mail
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	emails := []map[string]any{}
	for _, p := range in.Personalizations {
		email, err := in.email(p)
		if err != nil {
			return nil, err
		}
		emails = append(emails, email)
	}
	messageID, err := send(c, emails)
	if err != nil {
		return nil, err
	}
	return &compat.Response{Status: http.StatusAccepted, Header: http.Header{"X-Message-Id": {messageID}}}, nil
}

// send returns the ID of the first email.
func send(c *compat.Call, emails []map[string]any) (string, error) {
	if len(emails) == 1 {
		var sent struct {
			ID string `json:"id"`
		}
		err := c.Do(compat.Request{Method: http.MethodPost, Path: "/emails", Body: emails[0]}, &sent)
		return sent.ID, err
	}
	var sent struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err := c.Do(compat.Request{Method: http.MethodPost, Path: "/emails/batch",
		Body: map[string]any{"emails": emails, "atomic": true}}, &sent)
	if err != nil || len(sent.Data) == 0 {
		return "", err
	}
	return sent.Data[0].ID, nil
}
