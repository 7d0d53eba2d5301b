package sending

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/work/event"
)

// acceptance is one message on its way into the database. What it says of its
// status may change once in the transaction that stores it.
type acceptance struct {
	email      emailRow
	recipients []recipientRow
	files      []Attachment
	fact       event.Fact
	blocked    bool // a recipient is suppressed: recorded, not sent
	suppressed []string
	err        error // refused in the transaction: not recorded
	size       int   // octets, roughly
	search     records.SearchText
	guard      *Guarded // nil: nobody is asked
}

func newAcceptance(caller accounts.Caller, identity domains.Identity, msg parsed, now time.Time) *acceptance {
	a := &acceptance{files: msg.Attachments}
	a.email = newEmailRow(caller, identity, msg, now.UTC().Truncate(time.Millisecond))
	a.recipients = recipientRows(a.email, msg)
	a.welcome()
	a.size = len(a.email.html) + len(a.email.text)
	for _, f := range a.files {
		a.size += len(f.Data)
	}
	a.size += len(a.email.mime)
	return a
}

func (a *acceptance) receipt() Receipt {
	return Receipt{ID: a.email.id, Status: string(a.email.status), Suppressed: a.suppressed}
}

// due tells whether its recipients are delivered to from now on.
func (a *acceptance) due() bool { return a.err == nil && a.email.status == email.StatusSent }

// counts tells whether the caps count it: a blocked one they do not.
func (a *acceptance) counts() bool { return !a.blocked }

// use is what the caps count: a scheduled message on the day it is due.
func (a *acceptance) use() accounts.Use {
	return accounts.Use{AccountID: a.email.accountID, Due: orZero(a.email.scheduledAt)}
}

// begin forgets what an earlier transaction has found.
func (a *acceptance) begin() {
	a.err = nil
	if a.blocked {
		a.blocked, a.suppressed = false, nil
		a.welcome()
	}
}

// welcome sets the states of a message that nothing speaks against.
func (a *acceptance) welcome() {
	e := &a.email
	e.status, e.lastEvent = email.StatusSent, event.EmailSent
	if e.scheduledAt != nil {
		e.status, e.lastEvent = email.StatusScheduled, event.EmailScheduled
	}
	for i := range a.recipients {
		a.recipients[i].state, a.recipients[i].diagnostic = recipient.StateQueued, ""
	}
	data := e.payload()
	if e.scheduledAt != nil {
		at := event.At(*e.scheduledAt)
		data.ScheduledAt = &at
	}
	a.fact = event.New(e.accountID, e.lastEvent, e.createdAt, data)
}

// block applies what suppression says of the recipients, index-aligned: one who
// is suppressed keeps the message from all.
func (a *acceptance) block(blocks []suppression.Block) {
	var suppressed []string
	for i, b := range blocks {
		if b.Reason != "" {
			suppressed = append(suppressed, a.recipients[i].address)
		}
	}
	if len(suppressed) == 0 {
		return
	}
	a.blocked, a.suppressed = true, suppressed
	e := &a.email
	e.status, e.lastEvent = email.StatusFailed, event.EmailSuppressed
	for i := range a.recipients {
		r := &a.recipients[i]
		r.state, r.diagnostic = recipient.StateFailed, lifecycle.SuppressedDiagnostic(blocks[i].Reason)
	}
	data := e.payload()
	data.SuppressedRecipients = suppressed
	a.fact = event.New(e.accountID, e.lastEvent, e.createdAt, data)
}

// emailRow is a row of emails as acceptance writes it.
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

func newEmailRow(caller accounts.Caller, identity domains.Identity, msg parsed, now time.Time) emailRow {
	row := emailRow{
		id: id.New(id.Email), accountID: caller.AccountID, domainID: identity.DomainID, keyID: caller.KeyID,
		templateID: msg.templateID, templateVersion: msg.templateVersion,
		from: msg.from.String(), fromAddress: msg.from.AddrSpec(),
		to: display(msg.to), cc: display(msg.cc), bcc: display(msg.bcc), replyTo: display(msg.replyTo),
		subject: msg.Subject, html: msg.HTML, text: msg.Text, noText: msg.NoText && msg.Text == "", headers: msg.Headers, tags: msg.Tags,
		attachments: msg.files(), unsubscribe: msg.Unsubscribe != nil && *msg.Unsubscribe, category: msg.Category,
		createdAt: now,
	}
	row.scheduledAt, row.expiresAt = moment(msg.ScheduledAt), moment(msg.ExpiresAt)
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

// moment is a time as the database keeps it.
func moment(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	rounded := at.UTC().Truncate(time.Millisecond)
	return &rounded
}

// payload is the email part that every fact about it carries.
func (r emailRow) payload() event.Email {
	return event.Email{EmailID: r.id, From: r.from, To: r.to, CC: r.cc, Subject: r.subject,
		EmailStatus: string(r.status), Tags: r.tags, CreatedAt: event.At(r.createdAt)}
}

type recipientRow struct {
	emailID, accountID   string
	kind                 recipient.Kind
	address, destination string
	state                recipient.State
	diagnostic           string
}

// recipientRows gives each address one row and so one copy, as it is written first, however
// often and in whatever letter case the request names it.
func recipientRows(e emailRow, msg parsed) []recipientRow {
	var rows []recipientRow
	seen := map[string]bool{}
	for _, list := range []struct {
		kind      recipient.Kind
		addresses []address.Address
	}{{recipient.KindTo, msg.to}, {recipient.KindCc, msg.cc}, {recipient.KindBcc, msg.bcc}} {
		for _, a := range list.addresses {
			spec := a.AddrSpec()
			same := strings.ToLower(spec) // no server that matters tells local parts apart by their case
			if seen[same] {
				continue
			}
			seen[same] = true
			rows = append(rows, recipientRow{emailID: e.id, accountID: e.accountID, kind: list.kind, address: spec, destination: a.Domain})
		}
	}
	return rows
}

func display(list []address.Address) []string {
	out := make([]string, 0, len(list))
	for _, a := range list {
		out = append(out, a.String())
	}
	return out
}

func (a *acceptance) searchText() records.SearchText {
	e := a.email
	recipients := make([]string, 0, len(a.recipients))
	for _, r := range a.recipients {
		recipients = append(recipients, r.address)
	}
	return records.SearchTextOf(e.accountID, e.fromAddress, e.subject, slices.Concat([]string{e.from}, e.to, e.cc, e.bcc), recipients, e.tags)
}

// keptOfSuppressed is how many bytes of bodies and files a message to a suppressed recipient may have
// to be stored with them. Nobody receives it, so a larger one is recorded without.
const keptOfSuppressed = 48 << 10

// withoutBody reports whether the message is stored without bodies and files.
func (a *acceptance) withoutBody() bool { return a.blocked && a.size > keptOfSuppressed }

// storedBytes is what a message counts against the byte quota: its bodies and files, and its rows.
func (a *acceptance) storedBytes() int64 {
	size := a.size
	if a.withoutBody() {
		size = 0
	}
	return int64(size) + storage.RowBytes*int64(1+len(a.recipients)+len(a.files))
}
