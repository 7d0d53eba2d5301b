package mailgun

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/runtime/base/id"
)

type mailbox struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
}

type file struct {
	Name        string `json:"name"`
	Data        []byte `json:"data"`
	ContentType string `json:"content_type,omitempty"`
	ContentID   string `json:"content_id,omitempty"`
}

// message is an email in the format of our own API.
type message struct {
	From        any               `json:"from,omitempty"`
	To          []mailbox         `json:"to,omitempty"`
	CC          []mailbox         `json:"cc,omitempty"`
	BCC         []mailbox         `json:"bcc,omitempty"`
	ReplyTo     []mailbox         `json:"reply_to,omitempty"`
	Subject     string            `json:"subject,omitempty"`
	HTML        *string           `json:"html,omitempty"`
	Text        *string           `json:"text,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Tags        []compat.Tag      `json:"tags,omitempty"`
	Attachments []file            `json:"attachments,omitempty"`
	ScheduledAt string            `json:"scheduled_at,omitempty"`
	Template    *template         `json:"template,omitempty"`
}

type template struct {
	ID        string          `json:"id,omitempty"`
	Alias     string          `json:"alias,omitempty"`
	Variables json.RawMessage `json:"variables,omitempty"`
}

func sendMessage(c *compat.Call) (*compat.Response, error) {
	form, err := c.Form()
	if err != nil {
		return nil, err
	}
	out, err := translate(form, time.Now())
	if err != nil {
		return nil, err
	}
	var sent struct {
		ID string `json:"id"`
	}
	if err := c.Do(compat.Request{Method: http.MethodPost, Path: "/emails", Body: out}, &sent); err != nil {
		return nil, err
	}
	return compat.OK(map[string]string{"id": "<" + sent.ID + "@" + out.senderDomain(c.Param("domain")) + ">",
		"message": "Queued. Thank you."})
}

// senderDomain returns the domain of the sender, which the Message-ID contains. The sender of a template is unknown
// here: then it returns the domain of the path.
func (m *message) senderDomain(path string) string {
	from, known := m.From.(mailbox)
	if !known {
		return path
	}
	return strings.ToLower(from.Email[strings.LastIndex(from.Email, "@")+1:])
}

// translate converts a form to an email.
func translate(form *compat.Form, now time.Time) (*message, error) {
	out := &message{Headers: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(form.Values)) {
		if err := out.read(name, form.Values[name], now); err != nil {
			return nil, err
		}
	}
	for _, f := range form.Files {
		made := file{Name: f.Name, Data: f.Data, ContentType: f.ContentType}
		switch f.Field {
		case "attachment":
		case "inline":
			made.ContentID = f.Name
		default:
			return nil, compat.Invalid(f.Field, "cannot be a file")
		}
		out.Attachments = append(out.Attachments, made)
	}
	return out, nil
}

// read adds a parameter.
func (m *message) read(name string, values []string, now time.Time) (err error) {
	value := values[0]
	switch name {
	case "from":
		var boxes []mailbox
		if boxes, err = readAddresses(name, values); err == nil && len(boxes) == 1 {
			m.From = boxes[0]
		} else if err == nil && len(boxes) > 1 {
			err = compat.Invalid(name, "must be one address")
		}
	case "to":
		m.To, err = readAddresses(name, values)
	case "cc":
		m.CC, err = readAddresses(name, values)
	case "bcc":
		m.BCC, err = readAddresses(name, values)
	case "h:Reply-To":
		m.ReplyTo, err = readAddresses(name, values)
	case "subject":
		m.Subject = value
	case "text":
		m.Text = &value
	case "html":
		m.HTML = &value
	case "template":
		m.useTemplate(value)
	case "o:deliverytime":
		var at time.Time
		if at, _, err = compat.ParseTime(value, now); err != nil {
			return compat.Invalid(name, "must be an RFC 2822 date")
		}
		m.ScheduledAt = at.UTC().Format(time.RFC3339)
	case "o:tag":
		for i, tag := range values {
			m.addTag("tag", i, tag)
		}
	case "t:variables", "h:X-Mailgun-Variables":
		if !json.Valid([]byte(value)) {
			return compat.Invalid(name, "must be valid JSON")
		}
		m.variables().Variables = json.RawMessage(value)
	case "recipient-variables":
		if strings.TrimSpace(value) != "{}" {
			err = compat.Unsupported("Batch sending (recipient-variables) is")
		}
	default:
		err = m.readOther(name, value)
	}
	return err
}

// readOther adds a header or a variable, or refuses an option.
func (m *message) readOther(name, value string) error {
	kind, rest, _ := strings.Cut(name, ":")
	switch {
	case kind == "h" && rest != "":
		m.Headers[rest] = value
	case kind == "v" && rest != "":
		m.Tags = append(m.Tags, compat.NewTag(rest, value))
	case kind == "o", kind == "t", name == "amp-html":
		return compat.Unsupported("The option " + name + " is")
	default:
		return compat.Invalid(name, "is not a known parameter")
	}
	return nil
}

func (m *message) addTag(name string, place int, value string) {
	if place > 0 {
		name += "_" + string(rune('1'+place))
	}
	m.Tags = append(m.Tags, compat.NewTag(name, value))
}

// variables returns the template that the variables belong to.
func (m *message) variables() *template {
	if m.Template == nil {
		m.Template = &template{}
	}
	return m.Template
}

func (m *message) useTemplate(name string) {
	if id.Is(id.Template, name) {
		m.variables().ID = name
	} else {
		m.variables().Alias = name
	}
}

// readAddresses reads addresses. One value can contain several.
func readAddresses(field string, values []string) ([]mailbox, error) {
	var boxes []mailbox
	for _, text := range values {
		found, err := mail.ParseAddressList(text)
		if err != nil {
			return nil, compat.Invalid(field, "must be addresses separated by commas")
		}
		for _, a := range found {
			boxes = append(boxes, mailbox{a.Address, a.Name})
		}
	}
	return boxes, nil
}
