package sms

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// purgeStep limits the rows of one statement, so that a purge does not block other traffic.
const purgeStep = 500

const purgeSQL = `
WITH old AS (
	DELETE FROM sms_messages WHERE id IN (
		SELECT id FROM sms_messages WHERE account_id = $1 AND id < $2 AND due_at IS NULL ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
	) RETURNING id
), attempts AS (DELETE FROM sms_attempts a USING old WHERE a.message_id = old.id)
SELECT count(*) FROM old`

// Purge deletes an account's messages created before a time, with their attempts. It keeps queued messages and
// opt-outs.
func (s *Service) Purge(ctx context.Context, accountID string, before time.Time) (deleted int64, err error) {
	for {
		n, err := db.One(ctx, s.db.SQL, db.Value[int64], purgeSQL, accountID, id.Since(id.SMS, before), purgeStep)
		if err != nil {
			return deleted, fmt.Errorf("purge text messages: %w", err)
		}
		if deleted += n; n < purgeStep {
			return deleted, nil
		}
	}
}

const (
	// eraseSQL deletes the messages of a person, including queued ones. It removes the person's numbers from
	// opt-outs, whose hashes keep blocking them.
	eraseSQL = `
WITH gone AS (
	DELETE FROM sms_messages WHERE account_id = $1 AND (email_key = NULLIF($2, '') OR user_id = NULLIF($3, '')) RETURNING id, number_hash
), nameless AS (
	UPDATE sms_opt_outs o SET number = NULL FROM gone WHERE o.account_id = $1 AND o.number_hash = gone.number_hash
)
SELECT id FROM gone`
	// eraseAttemptsSQL is a separate statement, so that it sees attempts that started while the deletion of
	// their messages waited for a lock.
	eraseAttemptsSQL = `DELETE FROM sms_attempts WHERE message_id = ANY($1::text[])`
)

// Erase deletes the messages that runs sent to the person with an email address.
func (s *Service) Erase(ctx context.Context, accountID, address string) (deleted int64, err error) {
	return s.eraseMessages(ctx, accountID, strings.ToLower(address), "")
}

// EraseUser deletes the messages of a person by the account's ID of that person.
func (s *Service) EraseUser(ctx context.Context, accountID, userID string) (deleted int64, err error) {
	return s.eraseMessages(ctx, accountID, "", userID)
}

func (s *Service) eraseMessages(ctx context.Context, accountID, emailKey, userID string) (deleted int64, err error) {
	if strings.ContainsRune(emailKey+userID, 0) { // no row can contain it
		return 0, nil
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		ids, err := db.All(ctx, tx, db.Value[string], eraseSQL, accountID, emailKey, userID)
		if err != nil {
			return err
		}
		deleted = int64(len(ids))
		_, err = tx.ExecContext(ctx, eraseAttemptsSQL, db.Array(ids))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("erase text messages: %w", err)
	}
	return deleted, nil
}

// daysKept is how many days counters are kept.
const daysKept = 60

const sweepSQL = `
WITH old AS (
	DELETE FROM sms_days WHERE id IN (
		SELECT id FROM sms_days WHERE day < to_char((now() AT TIME ZONE 'UTC') - make_interval(days => $1), 'YYYY-MM-DD') LIMIT $2 FOR UPDATE SKIP LOCKED
	) RETURNING id
)
SELECT count(*) FROM old`

// Sweep deletes old counters and returns how many.
func (s *Service) Sweep(ctx context.Context) (swept int64, err error) {
	for {
		n, err := db.One(ctx, s.db.SQL, db.Value[int64], sweepSQL, daysKept, purgeStep)
		if err != nil {
			return swept, fmt.Errorf("delete old counters of text messages: %w", err)
		}
		if swept += n; n < purgeStep {
			return swept, nil
		}
	}
}
