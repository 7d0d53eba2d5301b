package release

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/lifecycle"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	// releaseBatch is the maximum number of emails per transaction.
	releaseBatch = 500
	// releaseAgain is the delay before the next try for an email that could not be checked or whose account is
	// suspended.
	releaseAgain = time.Minute
)

// dueSQL locks rows for the duration of the statement. It skips rows that another process is releasing, so that
// several processes share the work.
const dueSQL = `
SELECT id, account_id, "from" FROM emails WHERE release_at <= now() ORDER BY release_at LIMIT $1 FOR UPDATE SKIP LOCKED`

const nextDueSQL = `
SELECT (extract(epoch FROM min(release_at) - clock_timestamp()) * 1000000)::bigint FROM emails WHERE release_at IS NOT NULL`

// candidate is a due email with the findings from outside the transaction.
type candidate struct {
	id, accountID, from string

	account  accounts.Account
	identity domains.SigningIdentity
	refusal  *fault.Error // why its sender may not send
}

// Release releases at most limit due emails and reports whether there may be more. Its errors come from the
// database or from another module that is unavailable. An email that cannot be checked is postponed and does
// not delay others.
//
// Other modules are called before the transaction, which then locks, checks and updates the rows together.
func (s *Service) Release(ctx context.Context, limit int) (more bool, err error) {
	due, err := s.dueForRelease(ctx, limit)
	if err != nil || len(due) == 0 {
		return false, err
	}
	ready := make([]candidate, 0, len(due))
	for _, c := range due {
		switch err := s.senders.vet(ctx, &c); {
		case err == nil:
			ready = append(ready, c)
		case fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil:
			return false, err
		default:
			if err := s.postpone(ctx, c, err); err != nil {
				return false, err
			}
		}
	}
	err = s.releaseTogether(ctx, ready)
	if err != nil && fault.KindOf(err) != fault.Unavailable && ctx.Err() == nil {
		err = s.releaseOneByOne(ctx, ready)
	}
	return len(due) == limit, err
}

func (s *Service) dueForRelease(ctx context.Context, limit int) ([]candidate, error) {
	due, err := db.All(ctx, s.db.Hot, func(c *candidate) []any { return []any{&c.id, &c.accountID, &c.from} },
		dueSQL, limit)
	if err != nil {
		return nil, fmt.Errorf("find due emails: %w", err)
	}
	return due, nil
}

// vet sets the account and the identity of a candidate, or the reason why it may not send. The answers may be a
// few seconds old, as at acceptance. It returns an error if there was no answer.
func (s senders) vet(ctx context.Context, c *candidate) error {
	from, err := address.Parse(c.from)
	if err != nil {
		return fmt.Errorf("stored sender: %w", err)
	}
	if c.account, err = s.accounts.Account(ctx, c.accountID); err == nil {
		c.identity, err = s.domains.Identity(ctx, c.accountID, from)
	}
	var refusal *fault.Error
	if errors.As(err, &refusal) && (refusal.Kind == fault.Forbidden || refusal.Kind == fault.NotFound) {
		c.refusal = refusal
		return nil
	}
	return err
}

// releaseTogether releases the candidates in one transaction.
func (s *Service) releaseTogether(ctx context.Context, candidates []candidate) error {
	if len(candidates) == 0 {
		return nil
	}
	var batch releases
	err := s.db.InHotTx(ctx, func(tx *sql.Tx) (err error) {
		if batch, err = lockDue(ctx, tx, candidates); err != nil || len(batch) == 0 {
			return err
		}
		if err := s.judgeRelease(ctx, tx, batch); err != nil {
			return err
		}
		if err := batch.store(ctx, tx); err != nil {
			return fmt.Errorf("store releases: %w", err)
		}
		return s.bus.Publish(ctx, tx, batch.listFacts()...)
	})
	if err != nil {
		return fmt.Errorf("release emails: %w", err)
	}
	if len(batch) > 0 {
		s.bus.Wake()
		s.signals.Wake(lifecycle.DueChannel)
		s.logRelease(ctx, batch)
	}
	return nil
}

func (s *Service) releaseOneByOne(ctx context.Context, candidates []candidate) error {
	for _, c := range candidates {
		err := s.releaseTogether(ctx, []candidate{c})
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil:
			return err
		default:
			if err := s.postpone(ctx, c, err); err != nil {
				return err
			}
		}
	}
	return nil
}

const lookAgainSQL = `
UPDATE emails SET release_at = now() + $3 * interval '1 microsecond' WHERE id = $1 AND account_id = $2 AND release_at <= now()`

// postpone postpones an email that could not be checked. A batch of such emails at the head of the queue would
// block all others.
func (s *Service) postpone(ctx context.Context, c candidate, cause error) error {
	s.logger.ErrorContext(ctx, "cannot release scheduled email, will retry",
		telemetry.KeyAccountID, c.accountID, telemetry.KeyEmailID, c.id, telemetry.KeyError, cause)
	_, err := s.db.Hot.ExecContext(ctx, lookAgainSQL, c.id, c.accountID, releaseAgain.Microseconds())
	return err
}

func (s *Service) logRelease(ctx context.Context, batch releases) {
	var sent, refused, held int
	var late time.Duration
	for _, r := range batch {
		switch r.event {
		case event.EmailSent:
			sent++
		case "":
			held++
		default:
			refused++
		}
		late = max(late, r.late)
	}
	s.logger.LogAttrs(ctx, slog.LevelInfo, "scheduled emails released", slog.Int("sent", sent),
		slog.Int("refused", refused), slog.Int("held", held), slog.Duration("late", late))
}

// lockDueSQL locks the rows that are still due and not locked by another process.
const lockDueSQL = `
SELECT id, account_id, "from", "to", coalesce(cc, '[]'), subject, coalesce(tags, '[]'), created_at, coalesce(category, ''), status, last_event, now(), coalesce(scheduled_at, release_at),
	(extract(epoch FROM now() - coalesce(scheduled_at, release_at)) * 1000000)::bigint, coalesce(expires_at <= now(), false)
FROM emails WHERE id = ANY($1) AND status IN ('scheduled', 'queued') AND release_at <= now() ORDER BY id FOR UPDATE SKIP LOCKED`

const envelopeSQL = `SELECT r.id, r.email_id, r.address FROM unnest($1::text[]) AS e (id) JOIN recipients r ON r.email_id = e.id ORDER BY r.id`

func lockDue(ctx context.Context, tx *sql.Tx, candidates []candidate) (releases, error) {
	byID := make(map[string]candidate, len(candidates))
	ids := make([]string, 0, len(candidates))
	for _, c := range candidates {
		byID[c.id] = c
		ids = append(ids, c.id)
	}
	batch, err := db.All(ctx, tx, func(r *releasingEmail) []any {
		return []any{&r.id, &r.accountID, &r.from, db.ScanJSON(&r.to), db.ScanJSON(&r.cc), &r.subject,
			db.ScanJSON(&r.tags), &r.createdAt,
			&r.category, &r.status, &r.lastEvent, &r.now, &r.due, db.ScanMicroseconds(&r.late), &r.expired}
	}, lockDueSQL, db.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("lock due emails: %w", err)
	}
	at := make(map[string]int, len(batch))
	for i := range batch {
		batch[i].candidate = byID[batch[i].id]
		at[batch[i].id] = i
	}
	recipients, err := db.All(ctx, tx, func(e *envelope) []any { return []any{&e.recipientID, &e.emailID, &e.address} },
		envelopeSQL, db.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("read envelopes: %w", err)
	}
	for _, r := range recipients {
		if i, locked := at[r.emailID]; locked {
			batch[i].envelope = append(batch[i].envelope, r)
		}
	}
	return batch, nil
}
