package sending

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/handover"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/mail/lint"
	"github.com/postrider/postrider/runtime/work/event"
)

// acceptance is one message being stored. Its status may still change in the transaction that stores it.
type acceptance struct {
	email      emailRow
	recipients []recipientRow
	files      []Attachment
	fact       event.Fact
	blocked    bool // a recipient is suppressed: recorded, not sent
	suppressed []string
	err        error // refused in the transaction: not recorded
	size       int   // approximate, in bytes
	search     records.SearchText
	guard      *MessageGuard  // nil: no guard
	findings   []lint.Finding // of the template, for a check
	handedOver bool           // this process already delivers to all recipients
}

func newAcceptance(caller accounts.Caller, identity domains.SigningIdentity, msg parsedMessage,
	now time.Time) *acceptance {
	a := &acceptance{files: msg.Attachments, findings: msg.findings}
	a.email = newEmailRow(caller, identity, msg, now.UTC().Truncate(time.Millisecond))
	a.recipients = recipientRows(a.email, msg)
	a.setUnblocked()
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

// isDue reports whether its recipients must be delivered from now on.
func (a *acceptance) isDue() bool { return a.err == nil && a.email.status == email.StatusSent }

// countsAgainstCaps reports whether the message counts against the caps. Blocked messages do not.
func (a *acceptance) countsAgainstCaps() bool { return !a.blocked }

// capUse returns how the caps count the message: a scheduled one on the day it is due.
func (a *acceptance) capUse() accounts.EmailUsage {
	return accounts.EmailUsage{AccountID: a.email.accountID, Due: orZero(a.email.scheduledAt)}
}

// reset discards the result of an earlier transaction.
func (a *acceptance) reset() {
	a.err = nil
	if a.blocked {
		a.blocked, a.suppressed = false, nil
		a.setUnblocked()
	}
}

// setUnblocked sets the states of a message that is not blocked.
func (a *acceptance) setUnblocked() {
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
		at := event.NewTime(*e.scheduledAt)
		data.ScheduledAt = &at
	}
	a.fact = event.New(e.accountID, e.lastEvent, e.createdAt, data)
}

// block applies the suppression results, which are index-aligned with the recipients. One suppressed
// recipient blocks the message for all.
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

type recipientRow struct {
	emailID, accountID   string
	kind                 recipient.Kind
	address, destination string
	state                recipient.State
	diagnostic           string
	claim                *handover.Claim // if the email is sent; nil: stored unclaimed
}

// recipientRows creates one row, and so one copy, for each address, in its first spelling, however often and
// in whatever letter case the request names it.
func recipientRows(e emailRow, msg parsedMessage) []recipientRow {
	var rows []recipientRow
	seen := map[string]bool{}
	for _, list := range []struct {
		kind      recipient.Kind
		addresses []address.Address
	}{{recipient.KindTo, msg.to}, {recipient.KindCc, msg.cc}, {recipient.KindBcc, msg.bcc}} {
		for _, a := range list.addresses {
			spec := a.AddrSpec()
			same := strings.ToLower(spec) // no relevant server distinguishes local parts by case
			if seen[same] {
				continue
			}
			seen[same] = true
			rows = append(rows, recipientRow{emailID: e.id, accountID: e.accountID, kind: list.kind, address: spec,
				destination: a.Domain})
		}
	}
	return rows
}

func displayAddresses(list []address.Address) []string {
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
	return records.SearchTextOf(e.accountID, e.fromAddress, e.subject,
		slices.Concat([]string{e.from}, e.to, e.cc, e.bcc), recipients, e.tags)
}

// keptOfSuppressed is the maximum size in bytes of bodies and files that are stored for a message to a
// suppressed recipient. The message reaches no recipient, so a larger one is recorded without them.
const keptOfSuppressed = 48 << 10

// withoutBody reports whether the message is stored without bodies and files.
func (a *acceptance) withoutBody() bool { return a.blocked && a.size > keptOfSuppressed }

// storedBytes returns what a message counts against the byte quota: its bodies and files, and its rows.
func (a *acceptance) storedBytes() int64 {
	size := a.size
	if a.withoutBody() {
		size = 0
	}
	return int64(size) + storage.RowBytes*int64(1+len(a.recipients)+len(a.files))
}
