package sending

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Send stores a message for delivery and returns once it is durable. Errors:
// Invalid with all wrong fields, Forbidden by the policy, Conflict for a
// concurrent request with the same key and another body, Away when it could not
// be stored, in which case nothing was.
func (s *Service) Send(ctx context.Context, caller accounts.Caller, r Request) (Receipt, error) {
	msg, wrong := r.Message.parse()
	if err := wrong.Err(); err != nil {
		return Receipt{}, err
	}
	identity, err := s.domains.Identity(ctx, caller.AccountID, msg.from)
	if err != nil {
		return Receipt{}, err
	}
	account, err := s.accounts.Account(ctx, caller.AccountID)
	if err != nil {
		return Receipt{}, err
	}
	policy := policyInput{caller: caller, account: account, identity: identity, recipients: msg.envelope()}
	if err := policy.check(); err != nil {
		return Receipt{}, err
	}
	return s.accept(ctx, newAcceptance(caller, identity, msg, r, time.Now()))
}

// acceptance is one message on its way into the database.
type acceptance struct {
	email      emailRow
	recipients []recipientRow
	files      []Attachment
	fact       event.Fact
	receipt    Receipt
	claim      *idempotency.Claim
	answer     idempotency.Answer // what to store under the claim
	size       int                // octets, roughly
}

func newAcceptance(caller accounts.Caller, identity domains.Identity, msg parsed, r Request, now time.Time) *acceptance {
	a := &acceptance{files: msg.Attachments, claim: r.Claim}
	a.email = newEmailRow(caller, identity, msg, now.UTC().Truncate(time.Millisecond))
	a.receipt = Receipt{ID: a.email.id, Status: string(a.email.status)}
	a.recipients = recipientRows(a.email, msg)
	a.fact = event.New(caller.AccountID, event.EmailSent, a.email.createdAt, a.email.payload())
	a.size = len(a.email.html) + len(a.email.text)
	for _, f := range a.files {
		a.size += len(f.Data)
	}
	if r.Claim != nil {
		a.answer = r.Render(a.receipt)
	}
	return a
}

// emailRow is a row of emails as acceptance writes it.
type emailRow struct {
	id, accountID, domainID, keyID string
	from, fromAddress              string
	to, cc, bcc, replyTo           []string
	subject, html, text            string
	headers                        []shape.Header
	tags                           []shape.Tag
	messageID                      string
	attachments                    int
	status                         email.Status
	lastEvent                      event.Type
	createdAt                      time.Time
}

func newEmailRow(caller accounts.Caller, identity domains.Identity, msg parsed, now time.Time) emailRow {
	row := emailRow{
		id: id.New(id.Email), accountID: caller.AccountID, domainID: identity.DomainID, keyID: caller.KeyID,
		from: msg.from.String(), fromAddress: msg.from.AddrSpec(),
		to: display(msg.to), cc: display(msg.cc), bcc: display(msg.bcc), replyTo: display(msg.replyTo),
		subject: msg.Subject, html: msg.HTML, text: msg.Text, headers: msg.Headers, tags: msg.Tags,
		attachments: len(msg.Attachments),
		status:      email.StatusSent, lastEvent: event.EmailSent, createdAt: now,
	}
	if row.headers == nil {
		row.headers = []shape.Header{}
	}
	if row.tags == nil {
		row.tags = []shape.Tag{}
	}
	row.messageID = fmt.Sprintf("%s@%s", row.id, msg.from.Domain)
	return row
}

// payload is the email part that every fact about it carries.
func (r emailRow) payload() event.Email {
	return event.Email{EmailID: r.id, From: r.from, To: r.to, CC: r.cc, Subject: r.subject,
		Status: string(r.status), Tags: r.tags, CreatedAt: r.createdAt}
}

type recipientRow struct {
	emailID, accountID   string
	kind                 recipient.Kind
	address, destination string
}

// recipientRows gives each address one row and so one copy, as what it is named
// first, however often the request names it.
func recipientRows(e emailRow, msg parsed) []recipientRow {
	var rows []recipientRow
	seen := map[string]bool{}
	for _, list := range []struct {
		kind      recipient.Kind
		addresses []address.Address
	}{{recipient.KindTo, msg.to}, {recipient.KindCc, msg.cc}, {recipient.KindBcc, msg.bcc}} {
		for _, a := range list.addresses {
			spec := a.AddrSpec()
			if seen[spec] {
				continue
			}
			seen[spec] = true
			rows = append(rows, recipientRow{emailID: e.id, accountID: e.accountID, kind: list.kind, address: spec, destination: a.Domain})
		}
	}
	return rows
}

// envelope is every address that the message goes to.
func (p parsed) envelope() []address.Address {
	all := make([]address.Address, 0, len(p.to)+len(p.cc)+len(p.bcc))
	return append(append(append(all, p.to...), p.cc...), p.bcc...)
}

func display(list []address.Address) []string {
	out := make([]string, 0, len(list))
	for _, a := range list {
		out = append(out, a.String())
	}
	return out
}
