package sending

import (
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
)

// The limits of a message.
const (
	MaxRecipients  = 50              // to, cc and bcc together
	MaxBody        = records.MaxBody // bytes, for html and text each
	MaxTags        = 10
	MaxTag         = records.MaxTag
	MaxHeaders     = 50
	MaxAttachments = 10
	MaxAttachment  = 10 << 20 // bytes, decoded
)

// Message is a message to send, with canonical field names. The APIs map their aliases to it.
type Message struct {
	From        Mailbox
	To          []Mailbox
	CC          []Mailbox
	BCC         []Mailbox
	ReplyTo     []Mailbox
	Subject     string
	HTML        string // html, text or both
	Text        string
	NoText      bool // do not derive a text part from html either
	Headers     []shape.Header
	Tags        []shape.Tag
	Attachments []Attachment
	// ScheduledAt is when to send; nil: now.
	ScheduledAt *time.Time
	// ExpiresAt is the delivery deadline; nil: when retries run out.
	ExpiresAt *time.Time
	// Unsubscribe adds unsubscribe header fields and a link; nil: the template decides, or false without one.
	Unsubscribe *bool
	// Category is the caller's name for the kind of mail; "": none.
	Category string
	// Template supplies the fields that the message omits; nil: none.
	Template *TemplateRef
	// Relayed is the message as its sender composed it, in place of bodies and attachments; nil: the message is
	// composed here.
	Relayed *RelayedMessage
}

// TemplateRef names a published template, its variables and the locale that they are formatted for.
type TemplateRef struct {
	ID, Alias string // exactly one of the two
	Locale    string // of the recipient (BCP 47); empty: American English
	TimeZone  string // of the recipient (IANA); empty: times keep their zone
	Variables map[string]any
	At        time.Time // sends the version that was published at this time; zero: the published version
}

// Mailbox is an address in the caller's form: one string, or its two parts.
type Mailbox struct {
	Text  string // `Ada <ada@example.com>` or `ada@example.com`
	Email string // the object form
	Name  string
}

// Attachment is one file, decoded.
type Attachment struct {
	Name        string
	ContentType string // empty: derived from the name
	ContentID   string // if set, the file is inline and `cid:` links refer to it
	Data        []byte
}

// parsedMessage is a Message after validation.
type parsedMessage struct {
	Message
	from    address.Address
	to      []address.Address
	cc      []address.Address
	bcc     []address.Address
	replyTo []address.Address

	templateID      string
	templateVersion int
	findings        []lint.Finding // of the template
}

// Validate returns every invalid field, keyed by the path that a JSON caller would use: `to[1]`,
// `attachments[2].name`. Fields that a template may supply are not reported as missing.
func (m Message) Validate() fault.Fields {
	_, wrong := m.parse(clock.Now())
	return wrong
}

func (m Message) parse(now time.Time) (parsedMessage, fault.Fields) {
	wrong := fault.Fields{}
	p := parsedMessage{Message: m}
	if m.Template == nil || !m.From.IsZero() {
		p.from = m.From.parse("from", wrong)
	}
	p.to = parseList("to", m.To, wrong)
	p.cc = parseList("cc", m.CC, wrong)
	p.bcc = parseList("bcc", m.BCC, wrong)
	p.replyTo = parseList("reply_to", m.ReplyTo, wrong)
	if len(m.To) == 0 && (m.requiresAllFields() || len(m.CC)+len(m.BCC) == 0) {
		wrong.Add("to", "is required")
	}
	if n := p.countRecipients(); n > MaxRecipients {
		wrong.Add("to", "to, cc and bcc together have %d recipients; the limit is %d", n, MaxRecipients)
	}
	m.validateContent(wrong)
	m.Relayed.validate(wrong)
	validateTags(m.Tags, wrong)
	validateHeaders(m.Headers, wrong)
	p.Attachments = validateAttachments(m.Attachments, wrong)
	m.validateSchedule(now, wrong)
	m.validateExpiry(now, wrong)
	m.validateTemplate(wrong)
	m.validateUnsubscribe(wrong)
	return p, wrong
}

// fillFrom returns the message completed by a rendered template. The request's own subject, from, reply_to,
// unsubscribe and category take precedence. Bodies come from either the request or the template, not from both.
func (m Message) fillFrom(t templates.Rendered, wrong fault.Fields) Message {
	if m.From.IsZero() && t.From != "" {
		m.From = Mailbox{Text: t.From}
	}
	if strings.TrimSpace(m.Subject) == "" {
		m.Subject = t.Subject
	}
	if len(m.ReplyTo) == 0 {
		for _, text := range t.ReplyTo {
			m.ReplyTo = append(m.ReplyTo, Mailbox{Text: text})
		}
	}
	if t.HTML != "" || t.Text != "" {
		for field, body := range map[string]string{"html": m.HTML, "text": m.Text} {
			if body != "" {
				wrong.Add(field, "cannot be combined with a template that has a body")
			}
		}
		m.HTML, m.Text = t.HTML, t.Text
	}
	if m.Unsubscribe == nil {
		m.Unsubscribe = &t.Unsubscribe
	}
	if m.Category == "" {
		m.Category = t.Category
	}
	m.Template = nil
	return m
}

// IsZero reports whether the caller sent no address.
func (b Mailbox) IsZero() bool { return b == Mailbox{} }

func (b Mailbox) parse(field string, wrong fault.Fields) address.Address {
	if b.IsZero() {
		wrong.Add(field, "is required")
		return address.Address{}
	}
	a, err := address.Parse(b.Text)
	if b.Text == "" {
		a, err = address.New(b.Name, b.Email)
	}
	if err != nil {
		wrong.Add(field, "%s", err)
	}
	return a
}

// countRecipients counts the addresses of the message, each once.
func (p parsedMessage) countRecipients() int {
	all := p.envelopeRecipients()
	if len(all) <= MaxRecipients {
		return len(all)
	}
	distinct := map[string]bool{}
	for _, a := range all {
		distinct[strings.ToLower(a.AddrSpec())] = true
	}
	return len(distinct)
}

func parseList(field string, list []Mailbox, wrong fault.Fields) []address.Address {
	out := make([]address.Address, 0, len(list))
	for i, b := range list {
		out = append(out, b.parse(fmt.Sprintf("%s[%d]", field, i), wrong))
	}
	return out
}

func (m Message) validateContent(wrong fault.Fields) {
	if strings.TrimSpace(m.Subject) == "" {
		if m.Template == nil && m.requiresAllFields() {
			wrong.Add("subject", "is required")
		}
	} else if err := address.ValidateSubject(m.Subject); err != nil {
		wrong.Add("subject", "%s", err)
	}
	if m.HTML == "" && m.Text == "" && m.Template == nil && m.Relayed == nil {
		wrong.Add("html", "html or text is required")
	}
	for field, body := range map[string]string{"html": m.HTML, "text": m.Text} {
		switch {
		case len(body) > MaxBody:
			wrong.Add(field, "must be at most 5 MB")
		case strings.ContainsRune(body, 0):
			wrong.Add(field, "cannot contain NUL characters")
		}
	}
}

func validateTags(tags []shape.Tag, wrong fault.Fields) {
	if len(tags) > MaxTags {
		wrong.Add("tags", "has %d tags; the limit is %d", len(tags), MaxTags)
	}
	seen := map[string]bool{}
	for i, t := range tags {
		if !records.IsTagWord(t.Name) {
			wrong.Add(fmt.Sprintf("tags[%d].name", i), "must be 1 to %d letters, digits, - or _", MaxTag)
		}
		if !records.IsTagWord(t.Value) {
			wrong.Add(fmt.Sprintf("tags[%d].value", i), "must be 1 to %d letters, digits, - or _", MaxTag)
		}
		if seen[t.Name] {
			wrong.Add(fmt.Sprintf("tags[%d].name", i), "must be unique")
		}
		seen[t.Name] = true
	}
}

func validateHeaders(headers []shape.Header, wrong fault.Fields) {
	if len(headers) > MaxHeaders {
		wrong.Add("headers", "has %d headers; the limit is %d", len(headers), MaxHeaders)
	}
	seen := map[string]bool{}
	for _, h := range headers {
		lower := strings.ToLower(h.Name)
		if seen[lower] {
			wrong.Add("headers."+h.Name, "must be unique")
		}
		seen[lower] = true
		if err := address.ValidateHeader(h.Name, h.Value); err != nil {
			wrong.Add("headers."+h.Name, "%s", err)
		}
	}
}

// MaxThreadValue is the maximum length of References and In-Reply-To in characters. Other values have a lower
// limit.
const MaxThreadValue = address.MaxThreadValue

// RefusedHeaders returns the names of header fields that callers may not set, sorted. A name that ends in *
// matches all names with that prefix.
func RefusedHeaders() []string { return address.RefusedHeaders() }
