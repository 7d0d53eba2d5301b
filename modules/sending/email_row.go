package sending

import (
	"cmp"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/mime"
	"github.com/postrider/postrider/runtime/mail/plaintext"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/storage/search"
	"github.com/postrider/postrider/runtime/work/event"
)

// All code about the fields of an email is in message.go and this file: Message becomes an emailRow,
// emailRows stores it, messageOf reads it for a resend, and Preview shows it.

// emailRow is a row of emails as written at acceptance.
type emailRow struct {
	id, accountID, domainID, keyID string
	templateID                     string
	templateVersion                int
	automationID, runID            string
	from, fromAddress              string
	to, cc, bcc, replyTo           []string
	subject, html, text            string
	noText                         bool // the caller wants no text part
	mime                           []byte
	headers                        []shape.Header
	tags                           []shape.Tag
	messageID                      string
	attachments                    int
	unsubscribe                    bool
	category                       string
	status                         email.Status
	lastEvent                      event.Type
	createdAt                      time.Time
	scheduledAt, expiresAt         *time.Time
}

func newEmailRow(caller accounts.Caller, identity domains.SigningIdentity, msg parsedMessage, now time.Time) emailRow {
	row := emailRow{
		id: id.New(id.Email), accountID: caller.AccountID, domainID: identity.DomainID, keyID: caller.KeyID,
		templateID: msg.templateID, templateVersion: msg.templateVersion,
		from: msg.from.String(), fromAddress: msg.from.AddrSpec(),
		to: displayAddresses(msg.to), cc: displayAddresses(msg.cc), bcc: displayAddresses(msg.bcc),
		replyTo: displayAddresses(msg.replyTo),
		subject: msg.Subject, html: msg.HTML, text: msg.Text, noText: msg.NoText && msg.Text == "",
		headers: msg.Headers, tags: msg.Tags,
		attachments: msg.fileCount(), unsubscribe: msg.Unsubscribe != nil && *msg.Unsubscribe, category: msg.Category,
		createdAt: now,
	}
	row.scheduledAt, row.expiresAt = truncateTime(msg.ScheduledAt), truncateTime(msg.ExpiresAt)
	if row.scheduledAt != nil {
		*row.scheduledAt = dueAt(*row.scheduledAt, now)
	}
	if row.headers == nil {
		row.headers = []shape.Header{}
	}
	if row.tags == nil {
		row.tags = []shape.Tag{}
	}
	row.messageID = fmt.Sprintf("%s@%s", row.id, msg.from.Domain)
	if r := msg.Relayed; r != nil {
		row.mime, row.messageID = r.MIME, cmp.Or(r.MessageID, row.messageID)
	}
	return row
}

// truncateTime returns a time with the precision of the database.
func truncateTime(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	rounded := at.UTC().Truncate(time.Millisecond)
	return &rounded
}

// payload returns the data about the email that every fact about it carries.
func (r emailRow) payload() event.Email {
	return event.Email{EmailID: r.id, From: r.from, To: r.to, CC: r.cc, Subject: r.subject,
		EmailStatus: string(r.status), Tags: r.tags, CreatedAt: event.NewTime(r.createdAt)}
}

// mimeMessage returns the message without what is added when it is sent: files, tracking and unsubscribe links.
func (r emailRow) mimeMessage() (msg mime.Message, err error) {
	msg = mime.Message{Subject: r.subject, HTML: r.html, Text: r.text, MessageID: r.messageID, Date: r.createdAt}
	if msg.Text == "" && !r.noText {
		msg.Text = plaintext.FromHTML(r.html)
	}
	for _, h := range r.headers {
		msg.Headers = append(msg.Headers, mime.Header{Name: h.Name, Value: h.Value})
	}
	if msg.From, err = address.Parse(r.from); err != nil {
		return msg, err
	}
	for _, list := range []struct {
		from []string
		to   *[]address.Address
	}{{r.to, &msg.To}, {r.cc, &msg.CC}, {r.replyTo, &msg.ReplyTo}} {
		for _, text := range list.from {
			parsed, err := address.Parse(text)
			if err != nil {
				return msg, err
			}
			*list.to = append(*list.to, parsed)
		}
	}
	return msg, nil
}

// emailRows contains the columns of accepted emails.
var emailRows = batch.New("v",
	batch.Text("id", func(a *acceptance) string { return a.email.id }),
	batch.Text("account_id", func(a *acceptance) string { return a.email.accountID }),
	batch.Text("domain_id", func(a *acceptance) string { return a.email.domainID }),
	batch.Text("api_key_id", func(a *acceptance) string { return a.email.keyID }).OrNull(),
	batch.Text("template_id", func(a *acceptance) string { return a.email.templateID }).OrNull(),
	batch.Int("template_version", func(a *acceptance) int { return a.email.templateVersion }).OrNull(),
	batch.Text("automation_id", func(a *acceptance) string { return a.email.automationID }).OrNull(),
	batch.Text("run_id", func(a *acceptance) string { return a.email.runID }).OrNull(),
	batch.Text("from", func(a *acceptance) string { return a.email.from }),
	batch.Text("from_address", func(a *acceptance) string { return a.email.fromAddress }),
	batch.JSON("to", func(a *acceptance) []string { return a.email.to }),
	batch.JSON("cc", func(a *acceptance) []string { return a.email.cc }),
	batch.JSON("bcc", func(a *acceptance) []string { return a.email.bcc }),
	batch.JSON("reply_to", func(a *acceptance) []string { return a.email.replyTo }),
	batch.Text("subject", func(a *acceptance) string { return a.email.subject }),
	batch.Text("html", func(a *acceptance) string { return a.keptBody(a.email.html) }).OrNull(),
	batch.Text("plain", func(a *acceptance) string { return a.keptBody(a.email.text) }).SourceOnly(),
	batch.Bool("no_text", func(a *acceptance) bool { return a.email.noText }).SourceOnly(),
	batch.ComputedColumn[*acceptance]("text", `CASE WHEN v.no_text THEN '' ELSE NULLIF(v.plain, '') END`),
	batch.Bytes("mime", func(a *acceptance) []byte {
		if a.withoutBody() {
			return nil
		}
		return a.email.mime
	}).OrNull(),
	batch.Time("body_purged_at", func(a *acceptance) time.Time {
		if a.withoutBody() {
			return a.email.createdAt
		}
		return time.Time{}
	}),
	batch.JSON("headers", func(a *acceptance) []shape.Header { return a.email.headers }),
	batch.JSON("tags", func(a *acceptance) []shape.Tag { return a.email.tags }),
	batch.Text("message_id", func(a *acceptance) string { return a.email.messageID }),
	batch.Int("attachment_count", func(a *acceptance) int { return a.email.attachments }),
	batch.Bool("unsubscribe", func(a *acceptance) bool { return a.email.unsubscribe }),
	batch.Text("category", func(a *acceptance) string { return a.email.category }).OrNull(),
	batch.Text("status", func(a *acceptance) email.Status { return a.email.status }),
	batch.Text("uncommon", func(a *acceptance) string { return lifecycle.UncommonValue(a.email.status) }).OrNull(),
	batch.Text("last_event", func(a *acceptance) event.Type { return a.email.lastEvent }),
	batch.Time("created_at", func(a *acceptance) time.Time { return a.email.createdAt }),
	batch.Time("sent_at", func(a *acceptance) time.Time { return a.email.sentAt() }),
	batch.Time("scheduled_at", func(a *acceptance) time.Time { return orZero(a.email.scheduledAt) }),
	batch.Time("expires_at", func(a *acceptance) time.Time { return orZero(a.email.expiresAt) }),
	batch.Time("release_at", func(a *acceptance) time.Time { return a.email.releaseAt() }),
	batch.Text("words", func(a *acceptance) string { return a.search.Words }).SourceOnly(),
	batch.Text("marks", func(a *acceptance) string { return a.search.Marks }).SourceOnly(),
	batch.ComputedColumn[*acceptance]("search", search.DocumentSQL),
)

// entity returns the row of an email that is sent as delivery needs it.
func (r emailRow) entity() *ent.Email {
	e := &ent.Email{ID: r.id, AccountID: r.accountID, DomainID: r.domainID, From: r.from, To: r.to, Cc: r.cc,
		Bcc: r.bcc, ReplyTo: r.replyTo, Subject: r.subject, HTML: &r.html, Text: &r.text, Headers: r.headers,
		Tags: r.tags, MessageID: r.messageID, AttachmentCount: r.attachments, Unsubscribe: r.unsubscribe,
		Category: &r.category, CreatedAt: r.createdAt}
	if r.text == "" && !r.noText {
		e.Text = nil
	}
	if len(r.mime) > 0 {
		e.Mime = &r.mime
	}
	return e
}

// messageOf returns the message of a stored email, for a resend. TestResendCopiesEveryField compares it with
// Message.
func messageOf(e *ent.Email) Message {
	m := Message{From: Mailbox{Text: e.From}, To: toMailboxes(e.To), CC: toMailboxes(e.Cc), BCC: toMailboxes(e.Bcc),
		ReplyTo: toMailboxes(e.ReplyTo),
		Subject: e.Subject, Headers: e.Headers, Tags: e.Tags, Unsubscribe: &e.Unsubscribe}
	if e.HTML != nil {
		m.HTML = *e.HTML
	}
	if e.Text != nil {
		m.Text, m.NoText = *e.Text, *e.Text == ""
	}
	if e.Category != nil {
		m.Category = *e.Category
	}
	return m
}

func toMailboxes(list []string) []Mailbox {
	out := make([]Mailbox, 0, len(list))
	for _, text := range list {
		out = append(out, Mailbox{Text: text})
	}
	return out
}

// Preview is a message as Send would store it, with its template rendered and its addresses in display form.
type Preview struct {
	From                 string
	To, CC, BCC, ReplyTo []string
	Subject, HTML, Text  string
	Headers              []shape.Header
	Tags                 []shape.Tag
	Category             string
	Unsubscribe          bool
	TemplateID           string // "": none
	TemplateVersion      int
}

// previewOf returns the preview of a row of emails.
func previewOf(e emailRow) Preview {
	return Preview{From: e.from, To: e.to, CC: e.cc, BCC: e.bcc, ReplyTo: e.replyTo, Subject: e.subject, HTML: e.html,
		Text: e.text, Headers: e.headers, Tags: e.tags,
		Category: e.category, Unsubscribe: e.unsubscribe, TemplateID: e.templateID, TemplateVersion: e.templateVersion}
}
