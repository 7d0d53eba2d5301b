package records

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/mail/bounce"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// LateBounce is a bounce that arrived as a message after a server had accepted the email.
type LateBounce struct {
	EmailID      string
	RecipientID  int64
	Verdict      bounce.Verdict // what it is about, and whether the recipient bounces
	Permanent    bool
	Code         int // RFC 5321 reply code; 0 if none was reported
	EnhancedCode string
	Diagnostic   string
	RemoteMTA    string
}

// Addressee is the recipient that a return path was created for.
type Addressee struct {
	AccountID, Address string
}

const addresseeSQL = `SELECT account_id, address FROM recipients WHERE id = $1 AND email_id = $2`

// Addressee returns the recipient that a return path names, or false if it no longer exists. The token with
// the name is authenticated, so it proves the account.
func (s *Service) Addressee(ctx context.Context, emailID string, recipientID int64) (Addressee, bool, error) {
	return findAddressee(ctx, s.db.SQL, addresseeSQL, emailID, recipientID)
}

// RecipientAt returns the recipient of an account's email that has the address. known is false if none has.
func (s *Service) RecipientAt(ctx context.Context, accountID, emailID, address string) (recipientID int64, known bool,
	err error) {
	found, err := db.All(ctx, s.db.SQL, db.Value[int64],
		`SELECT id FROM recipients WHERE email_id = $1 AND address = $2 AND account_id = $3 ORDER BY id LIMIT 1`,
		emailID, address, accountID)
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	return found[0], true, nil
}

// EmailOwner is the account of an email.
type EmailOwner struct {
	AccountID     string
	OnlyRecipient int64 // 0 if the email has several recipients
}

// OwnerOf returns the account of an email, or false if the email is not stored.
func (s *Service) OwnerOf(ctx context.Context, emailID string) (EmailOwner, bool, error) {
	found, err := db.All(ctx, s.db.SQL, func(o *EmailOwner) []any { return []any{&o.AccountID, &o.OnlyRecipient} },
		`SELECT account_id, CASE WHEN count(*) = 1 THEN min(id) ELSE 0 END FROM recipients WHERE email_id = $1 GROUP BY account_id`,
		emailID)
	if err != nil || len(found) == 0 {
		return EmailOwner{}, false, err
	}
	return found[0], true, nil
}

// LockAddressee is Addressee in a transaction. Until the transaction ends, no outcome of the recipient and no
// other report about it is stored.
func (s *Service) LockAddressee(ctx context.Context, tx db.Execer, emailID string,
	recipientID int64) (Addressee, bool, error) {
	return findAddressee(ctx, tx, addresseeSQL+` FOR UPDATE`, emailID, recipientID)
}

func findAddressee(ctx context.Context, tx db.Execer, query, emailID string,
	recipientID int64) (Addressee, bool, error) {
	found, err := db.All(ctx, tx, func(a *Addressee) []any { return []any{&a.AccountID, &a.Address} }, query,
		recipientID, emailID)
	if err != nil {
		return Addressee{}, false, fmt.Errorf("find the recipient of a report: %w", err)
	}
	if len(found) == 0 {
		return Addressee{}, false, nil
	}
	return found[0], true, nil
}

// A recipient that waits for a retry may have been reached by an attempt whose reply was lost. Raising the
// fence makes a running attempt have no effect.
const bounceLateSQL = `
UPDATE recipients SET state = $7, fence = fence + 1, due_at = NULL, lane = NULL, held_by = NULL, settled_at = now(),
	code = NULLIF($3::int, 0), enhanced_code = NULLIF($4, ''), diagnostic = NULLIF($5, ''), remote_mta = NULLIF($6, '')
WHERE id = $1 AND email_id = $2 AND state IN ('delivered', 'deferred', 'queued')
RETURNING account_id, address`

// BounceLate records as part of tx that a recipient did not get the email after all: it updates the recipient
// and the email's status, and publishes the fact. The fact is email.bounced, or email.failed if the message
// or its sender was refused. A recipient that is unknown, or has bounced or failed already, does not change,
// and changed is false. The caller wakes the bus after the commit.
func (s *Service) BounceLate(ctx context.Context, tx db.Execer, b LateBounce) (changed bool, err error) {
	bounced, err := db.All(ctx, tx, func(a *Addressee) []any { return []any{&a.AccountID, &a.Address} }, bounceLateSQL,
		b.RecipientID, b.EmailID, b.Code, b.EnhancedCode, b.Diagnostic, b.RemoteMTA, string(b.state()))
	if err != nil || len(bounced) == 0 {
		return false, err
	}
	if err := s.updateStatus(ctx, tx, b); err != nil {
		return false, fmt.Errorf("store a late bounce: %w", err)
	}
	_, err = s.Announce(ctx, tx, Notice{AccountID: bounced[0].AccountID, EmailID: b.EmailID, Type: b.event(),
		Fill: func(data *event.Email) {
			b.describe(data, bounced[0].Address)
		}})
	return err == nil, err
}

func (b LateBounce) state() recipient.State {
	if b.Verdict.Bounces {
		return recipient.StateBounced
	}
	return recipient.StateFailed
}

func (b LateBounce) event() event.Type {
	if b.Verdict.Bounces {
		return event.EmailBounced
	}
	return event.EmailFailed
}

func (b LateBounce) describe(data *event.Email, addr string) {
	data.Recipient = addr
	if !b.Verdict.Bounces {
		data.Failure = &event.Failure{Reason: b.Diagnostic, Code: string(b.Verdict.Class)}
		return
	}
	kind := "transient"
	if b.Permanent {
		kind = "permanent"
	}
	data.BounceReason = b.Diagnostic
	data.Bounce = &event.Bounce{Type: kind, Code: b.Code, EnhancedCode: b.EnhancedCode, Diagnostic: b.Diagnostic,
		RemoteMTA: b.RemoteMTA}
}

const (
	lockLateSQL  = `SELECT status FROM emails WHERE id = $1 FOR UPDATE`
	tallyLateSQL = `SELECT state, count(*) FROM recipients WHERE email_id = $1 GROUP BY 1`
	storeLateSQL = `
UPDATE emails e SET status = $2::text, uncommon = NULLIF($3, ''), bounce_reason = coalesce(NULLIF($4, ''), e.bounce_reason),
	delivered_at = CASE WHEN $2::text = 'delivered' THEN e.delivered_at END,
	bounced_at = CASE WHEN $2::text = 'bounced' THEN coalesce(e.bounced_at, now()) ELSE e.bounced_at END
WHERE e.id = $1`
)

// updateStatus recomputes the email's status from its recipients. Locks are taken in the order of settle:
// recipient, then email.
func (s *Service) updateStatus(ctx context.Context, tx db.Execer, b LateBounce) error {
	status, err := db.All(ctx, tx, db.Value[email.Status], lockLateSQL, b.EmailID)
	if err != nil || len(status) == 0 {
		return err
	}
	type count struct {
		state recipient.State
		n     int
	}
	counts, err := db.All(ctx, tx, func(c *count) []any { return []any{&c.state, &c.n} }, tallyLateSQL, b.EmailID)
	if err != nil {
		return err
	}
	all, now := lifecycle.RecipientCounts{}, status[0]
	for _, c := range counts {
		all[c.state] = c.n
	}
	if next := all.OverallStatus(); lifecycle.MayBecome(now, next) {
		now = next
	}
	reason := "" // reason for a bounce
	if b.Verdict.Bounces {
		reason = b.Diagnostic
	}
	_, err = tx.ExecContext(ctx, storeLateSQL, b.EmailID, string(now), lifecycle.UncommonValue(now), reason)
	return err
}
