package inbound

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/postrider/postrider/ent/receivedemail"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/clock"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/loglimit"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/work/event"
)

// envelope is what the SMTP session knows about a message.
type envelope struct {
	remote     netip.Addr
	hello, tls string
	from       string // empty: null return path
	to         []addressee
}

// maxReceived is the maximum number of servers that a message may have passed through (RFC 5321 section 6.3).
const maxReceived = 100

// receive stores a message and returns nil once it is durable. Its errors are SMTP replies or temporary errors.
// A large message holds no memory during sender authentication and the spam check, which may take long.
func (r *reception) receive(ctx context.Context, e envelope, raw *intake.Content) error {
	hops, err := message.Hops(raw.Reader())
	if err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	if hops > maxReceived {
		return replyLoop
	}
	a := newArrival(e, raw, clock.Now())
	if err := r.chargeStorage(ctx, a); err != nil {
		return err
	}
	stored := false
	defer func() {
		if !stored {
			r.refundStorage(ctx, a, a.contents)
		}
	}()
	r.examiner.examineMessage(ctx, a)
	if err := ctx.Err(); err != nil {
		return err // the client disconnected and will retry
	}
	release, err := waitForMemory(ctx, r.budget, intake.Tenant{Remote: e.remote}, raw.Size(), receivePatience)
	if err != nil {
		return replyForError(err)
	}
	defer release()
	if err := intake.RecoverDiskFault(func() error { return r.storeMessage(ctx, a) }); err != nil {
		return replyForError(err)
	}
	stored = true
	r.bus.WakeFor(a.facts...)
	for _, record := range a.records {
		r.log.InfoContext(ctx, "mail received", telemetry.KeyEmailID, record.id, telemetry.KeyAccountID,
			record.accountID, telemetry.KeyDomainID, record.domainID,
			telemetry.KeyRemote, e.remote.String(), telemetry.KeyTLS, e.tls, telemetry.KeyBytes, raw.Size(), "spam",
			a.spam.status,
			"spf", a.auth.SPF, "dkim", a.auth.DKIM, "dmarc", a.auth.DMARC, telemetry.KeyDuration, time.Since(a.at))
	}
	return nil
}

// storeMessage parses a message and stores it.
func (r *reception) storeMessage(ctx context.Context, a *arrival) (err error) {
	if a.message, err = message.Read(a.content.Reader()); err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	if a.raw, err = a.content.Bytes(); err != nil {
		return err
	}
	a.createFacts()
	if err := r.writer.joinerFor(len(a.raw)).Do(ctx, a); err != nil {
		return fmt.Errorf("store a message: %w", err)
	}
	return nil
}

// examineWithin limits the total time of authentication and the spam filter.
const examineWithin = 20 * time.Second

// examiner authenticates the sender of a message and checks it for spam.
type examiner struct {
	hostname string // name of this installation
	verifier Verifier
	spam     SpamFilter // nil: every status is unknown
	log      *slog.Logger
}

// examineMessage authenticates the sender and runs the spam filter concurrently.
func (x *examiner) examineMessage(ctx context.Context, a *arrival) {
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	var both sync.WaitGroup
	both.Go(func() {
		a.auth = x.verifier.Verify(ctx, authn.Client{IP: a.remote, Hello: a.hello, MailFrom: a.from,
			Hostname: x.hostname},
			a.content, a.content.Size())
	})
	if x.spam != nil {
		both.Go(func() { a.spam = x.checkSpam(ctx, a) })
	}
	both.Wait()
}

// spamVerdict is the result of the spam filter.
type spamVerdict struct {
	status receivedemail.SpamStatus
	score  *float64
}

func (x *examiner) checkSpam(ctx context.Context, a *arrival) spamVerdict {
	unknown := spamVerdict{status: receivedemail.SpamStatusUnknown}
	rcpt := make([]string, 0, len(a.to))
	for _, to := range a.to {
		rcpt = append(rcpt, to.address)
	}
	v, err := x.spam.Check(ctx, rspamd.Envelope{IP: a.remote.String(), Hello: a.hello, From: a.from, Rcpt: rcpt,
		QueueID: a.records[0].id}, a.content, a.content.Size())
	if err != nil {
		x.log.WarnContext(loglimit.Collapse(ctx, "spam filter"),
			"spam filter unavailable, message accepted without a verdict", telemetry.KeyEmailID, a.records[0].id,
			telemetry.KeyError, err)
		return unknown
	}
	verdict := spamVerdict{status: receivedemail.SpamStatus(v.Status)}
	if receivedemail.SpamStatusValidator(verdict.status) != nil {
		verdict.status = receivedemail.SpamStatusUnknown
	}
	if v.HasScore {
		verdict.score = &v.Score
	}
	return verdict
}

// arrival is a message about to be stored.
type arrival struct {
	envelope

	content *intake.Content
	raw     []byte // id of the content, set just before it is stored
	message *message.Message
	at      time.Time
	auth    shape.Authentication
	spam    spamVerdict

	contents []string // account ids; each account stores the content once
	records  []recipientRecord
	facts    []event.Fact
}

// recipientRecord is the message for one recipient.
type recipientRecord struct {
	id, accountID, domainID, domain, rcpt string
	content                               int // index in contents
}

func newArrival(e envelope, content *intake.Content, at time.Time) *arrival {
	a := &arrival{envelope: e, content: content, at: at, spam: spamVerdict{status: receivedemail.SpamStatusUnknown}}
	place := map[string]int{}
	for _, to := range e.to {
		account := to.receiver.AccountID
		if _, known := place[account]; !known {
			place[account] = len(a.contents)
			a.contents = append(a.contents, account)
		}
		a.records = append(a.records, recipientRecord{id: id.New(id.ReceivedEmail), accountID: account,
			domainID: to.receiver.DomainID,
			domain:   to.receiver.Domain, rcpt: to.address, content: place[account]})
	}
	return a
}

// maxListed limits the lists in a fact, which is sent to every webhook endpoint. The record contains the
// complete lists.
const maxListed = 100

// createFacts creates the facts.
func (a *arrival) createFacts() {
	m := a.message
	files := make([]event.AttachmentInfo, 0, min(len(m.Files), maxListed))
	for _, f := range m.Files[:min(len(m.Files), maxListed)] {
		files = append(files, event.AttachmentInfo{Filename: f.Filename, ContentType: f.ContentType, Size: int(f.Size)})
	}
	for _, r := range a.records {
		a.facts = append(a.facts, event.New(r.accountID, event.EmailReceived, a.at,
			event.Inbound{EmailID: r.id, To: firstListed(m.To), From: m.From,
				Subject: m.Subject, Status: "received", RcptTo: r.rcpt, CC: firstListed(m.CC), MessageID: m.MessageID,
				InReplyTo: m.InReplyTo, References: lastListed(m.References),
				SpamStatus: string(a.spam.status), AttachmentCount: len(m.Files), Attachments: files,
				ReceivedAt: event.NewTime(a.at)}))
	}
}

// firstListed returns the beginning of a list, never nil.
func firstListed(list []string) []string {
	return append([]string{}, list[:min(len(list), maxListed)]...)
}

// lastListed returns the end of a list, because the latest references matter most.
func lastListed(list []string) []string {
	return append([]string{}, list[max(0, len(list)-maxListed):]...)
}
