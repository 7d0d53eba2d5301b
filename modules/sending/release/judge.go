package release

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/modules/sending/policy"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// releasingEmail is a locked email that is due, and later its outcome.
type releasingEmail struct {
	candidate

	to, cc    []string
	subject   string
	tags      []shape.Tag
	category  string
	createdAt time.Time
	lastEvent string
	envelope  []envelope
	now       time.Time     // by the database clock
	due       time.Time     // the day against whose caps it counts
	late      time.Duration // time since scheduled_at, by the database clock
	expired   bool          // its expires_at has passed

	status     email.Status
	event      event.Type // "" while held
	failure    *event.Failure
	suppressed []string
}

// envelope is one recipient of the email.
type envelope struct {
	emailID     string
	recipientID int64
	address     string
	diagnostic  string // why the recipient is rejected
}

// releases is a batch of due emails.
type releases []releasingEmail

// send hands the email to delivery.
func (r *releasingEmail) send() { r.status, r.event = email.StatusSent, event.EmailSent }

// hold queues the email because its account is suspended.
func (r *releasingEmail) hold() { r.status, r.event = email.StatusQueued, "" }

// fail ends the email for a reason that applies to all its recipients.
func (r *releasingEmail) fail(refusal *fault.Error) {
	r.status, r.event = email.StatusFailed, event.EmailFailed
	r.failure = &event.Failure{Reason: refusal.Message, Code: refusal.Code}
	for i := range r.envelope {
		r.envelope[i].diagnostic = refusal.Message
	}
}

// block ends the email because some recipients are suppressed. blocks[i] belongs to envelope[i].
func (r *releasingEmail) block(blocks []suppression.Block) {
	for i, b := range blocks {
		if b.Reason != "" {
			r.suppressed = append(r.suppressed, r.envelope[i].address)
		}
	}
	if len(r.suppressed) == 0 {
		return
	}
	r.status, r.event = email.StatusFailed, event.EmailSuppressed
	for i, b := range blocks {
		r.envelope[i].diagnostic = lifecycle.SuppressedDiagnostic(b.Reason)
	}
}

// permit applies only the findings from before the transaction. It returns false if they decide the outcome.
func (r *releasingEmail) permit() (bool, error) {
	switch {
	case r.expired:
		r.fail(&fault.Error{Kind: fault.Forbidden, Code: lifecycle.CodeExpired, Message: lifecycle.ExpiredDiagnostic})
		return false, nil
	case r.account.Suspended:
		r.hold()
		return false, nil
	case r.refusal != nil:
		r.fail(r.refusal)
		return false, nil //nolint:nilerr // the error is the outcome, stored with the email
	}
	to := make([]address.Address, 0, len(r.envelope))
	for _, e := range r.envelope {
		a, err := address.Parse(e.address)
		if err != nil {
			return false, fmt.Errorf("stored recipient of %s: %w", r.id, err)
		}
		to = append(to, a)
	}
	return r.sendUnless(policy.Input{Account: r.account, Identity: r.identity, Recipients: to}.Check()), nil
}

// sendUnless hands the email over to delivery unless there is a reason not to.
func (r *releasingEmail) sendUnless(refusal error) bool {
	if refusal != nil {
		r.fail(fault.Classify(refusal))
		return false
	}
	r.send()
	return true
}

// judgeRelease decides the outcome of each email from the earlier findings, then from suppression. The caps
// counted all emails when they were accepted; failed emails are refunded.
func (s *Service) judgeRelease(ctx context.Context, tx *sql.Tx, batch releases) error {
	permitted := make([]*releasingEmail, 0, len(batch))
	var list []suppression.MessageRecipient
	for i := range batch {
		r := &batch[i]
		switch ok, err := r.permit(); {
		case err != nil:
			return err
		case ok:
			permitted = append(permitted, r)
			for _, e := range r.envelope {
				list = append(list, suppression.MessageRecipient{AccountID: r.accountID, Email: e.address,
					Category: r.category})
			}
		}
	}
	if err := s.blockSuppressed(ctx, tx, permitted, list); err != nil {
		return err
	}
	var back []accounts.EmailUsage
	for _, r := range batch {
		if r.status == email.StatusFailed {
			back = append(back, accounts.EmailUsage{AccountID: r.accountID, Due: r.due})
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := s.quota.Refund(ctx, tx, back); err != nil {
		return fmt.Errorf("refund the caps: %w", err)
	}
	return nil
}

// blockSuppressed ends the permitted emails that have a suppressed recipient. list contains the recipients of
// all of them.
func (s *Service) blockSuppressed(ctx context.Context, tx *sql.Tx, permitted []*releasingEmail,
	list []suppression.MessageRecipient) error {
	if len(permitted) == 0 {
		return nil
	}
	blocks, err := s.suppression.FindBlocks(ctx, tx, list)
	if err != nil {
		return fmt.Errorf("look up suppressions: %w", err)
	}
	for _, r := range permitted {
		r.block(blocks[:len(r.envelope)])
		blocks = blocks[len(r.envelope):]
	}
	return nil
}

// releasedRows are the columns of due emails, refusedRows those of rejected recipients.
var (
	releasedRows = batch.New("v",
		batch.Text("id", func(r *releasingEmail) string { return r.id }),
		batch.Text("status", func(r *releasingEmail) email.Status { return r.status }),
		batch.Text("uncommon", func(r *releasingEmail) string { return lifecycle.UncommonValue(r.status) }),
		batch.Text("last_event", func(r *releasingEmail) string { return r.lastEventNow() }),
	)
	refusedRows = batch.New("refused",
		batch.Text("email_id", func(e envelope) string { return e.emailID }),
		batch.Int("id", func(e envelope) int64 { return e.recipientID }),
		batch.Text("diagnostic", func(e envelope) string { return e.diagnostic }),
	)
)

var releaseSQL = db.Compile(`
WITH released AS (
	UPDATE emails e SET status = v.status, uncommon = NULLIF(v.uncommon, ''), last_event = v.last_event,
		sent_at = CASE WHEN v.status = 'sent' THEN now() END,
		release_at = CASE WHEN v.status = 'queued' THEN now() + @again * interval '1 microsecond' END
	FROM ` + releasedRows.Source() + `
	WHERE e.id = v.id
	RETURNING e.id, e.status
), due AS (
	UPDATE recipients r SET due_at = now(), queued_at = now()
	FROM released e WHERE r.email_id = e.id AND e.status = 'sent'
)
UPDATE recipients r SET state = 'failed', settled_at = now(), diagnostic = refused.diagnostic
FROM ` + refusedRows.Source() + ` WHERE r.email_id BETWEEN refused.email_id AND refused.email_id AND r.id = refused.id`)

func (b releases) store(ctx context.Context, tx *sql.Tx) error {
	released := make([]*releasingEmail, len(b))
	var refused []envelope
	for i := range b {
		released[i] = &b[i]
		if b[i].status == email.StatusFailed {
			refused = append(refused, b[i].envelope...)
		}
	}
	_, err := tx.ExecContext(ctx, releaseSQL.Text, releaseSQL.Args(db.Arg("again", releaseAgain.Microseconds()),
		releasedRows.Rows(released), refusedRows.Rows(refused))...)
	return err
}

func (r *releasingEmail) lastEventNow() string {
	if r.event == "" {
		return r.lastEvent
	}
	return string(r.event)
}

// listFacts are dated by the database clock, which also decided the release, so no fact of a release is older than
// its scheduled_at.
func (b releases) listFacts() []event.Fact {
	var facts []event.Fact
	for _, r := range b {
		if r.event == "" {
			continue
		}
		facts = append(facts, event.New(r.accountID, r.event, r.now.UTC(), event.Email{
			EmailID: r.id, From: r.from, To: r.to, CC: r.cc, Subject: r.subject, EmailStatus: string(r.status),
			Tags: r.tags, CreatedAt: event.NewTime(r.createdAt),
			Failure: r.failure, SuppressedRecipients: r.suppressed,
		}))
	}
	return facts
}
