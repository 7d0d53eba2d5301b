package automations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// rowsAtOnce is the maximum number of rows per transaction, so that a purge does not delay other traffic.
const rowsAtOnce = 500

const purgeEventsSQL = `
WITH old AS (
	DELETE FROM custom_events WHERE id IN (SELECT id FROM custom_events WHERE account_id = $1 AND id < $2 ORDER BY id LIMIT $3) RETURNING id
)
SELECT count(*) FROM old`

const purgeRunsSQL = `
WITH old AS (
	DELETE FROM automation_runs WHERE id IN (
		SELECT id FROM automation_runs WHERE account_id = $1 AND id < $2 AND ended_at < $4 ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
	) RETURNING id
), gone AS (DELETE FROM automation_steps s USING old WHERE s.run_id = old.id)
SELECT count(*) FROM old`

// Purge deletes an account's events and ended runs from before a time. Live runs are kept, each with its copy
// of the event that started it.
func (s *Service) Purge(ctx context.Context, accountID string, before time.Time) (deleted int64, err error) {
	step := func(statement string, args ...any) error {
		for {
			n := 0
			err := s.db.InTx(ctx, func(tx *ent.Tx) (err error) {
				n, err = db.One(ctx, tx, db.Value[int], statement, args...)
				return err
			})
			if deleted += int64(n); err != nil || n < rowsAtOnce {
				return err
			}
		}
	}
	if err := step(purgeEventsSQL, accountID, id.Since(id.CustomEvent, before), rowsAtOnce); err != nil {
		return deleted, fmt.Errorf("purge events: %w", err)
	}
	if err := step(purgeRunsSQL, accountID, id.Since(id.Run, before), rowsAtOnce, before); err != nil {
		return deleted, fmt.Errorf("purge runs: %w", err)
	}
	return deleted, nil
}

// eraseRunsSQL deletes a person's runs with their steps and their work, so that live runs stop. The caller has
// locked the work.
const eraseRunsSQL = `
WITH gone AS (
	DELETE FROM automation_runs WHERE account_id = $1 AND (user_id = NULLIF($2, '') OR email_key = NULLIF($3, '')) RETURNING id
), work AS (DELETE FROM automation_works w USING gone WHERE w.id = gone.id),
steps AS (DELETE FROM automation_steps s USING gone WHERE s.run_id = gone.id)
SELECT id FROM gone`

const eraseEventsSQL = `
WITH gone AS (DELETE FROM custom_events WHERE account_id = $1 AND (user_id = NULLIF($2, '') OR email_key = NULLIF($3, '')) RETURNING id) SELECT count(*) FROM gone`

// eraseNamedSQL deletes the data of other people's events that contain an address.
const eraseNamedSQL = `
UPDATE custom_events SET data = '{}' WHERE account_id = $1 AND email_key IS DISTINCT FROM $2 AND strpos(lower(data::text), $3) > 0`

// Erase deletes everything about an address: its events, its runs with their facts, and the data of other
// people's events that contain it. Only a hash remains as a record that the person had runs.
func (s *Service) Erase(ctx context.Context, accountID, address string) (deleted int64, err error) {
	key := runs.EmailKey(address)
	if key == "" {
		return 0, nil
	}
	return s.erase(ctx, runs.Person{AccountID: accountID, EmailKey: key}, func(tx *ent.Tx) (int, error) {
		return db.Exec(ctx, tx, eraseNamedSQL, accountID, key, strings.ToLower(address))
	})
}

// EraseUser deletes everything about a person by the account's own user id: events, and runs with their facts.
func (s *Service) EraseUser(ctx context.Context, accountID, userID string) (deleted int64, err error) {
	if userID == "" || strings.ContainsRune(userID, 0) {
		return 0, nil
	}
	return s.erase(ctx, runs.Person{AccountID: accountID, UserID: userID}, func(*ent.Tx) (int, error) { return 0, nil })
}

const runsOfPersonSQL = `SELECT id FROM automation_runs WHERE account_id = $1 AND (user_id = NULLIF($2, '') OR email_key = NULLIF($3, ''))`

// keepCounts counts the facts about a person's runs before they are deleted.
func (s *Service) keepCounts(ctx context.Context, tx *ent.Tx, p runs.Person) error {
	if s.counts == nil {
		return nil
	}
	ids, err := db.All(ctx, tx, db.Value[string], runsOfPersonSQL, p.AccountID, p.UserID, p.EmailKey)
	if err != nil || len(ids) == 0 {
		return err
	}
	return s.counts.Keep(ctx, tx, p.AccountID, ids...)
}

// erase deletes the stored data of a person. It locks rows in the same order as steps and events.
func (s *Service) erase(ctx context.Context, p runs.Person,
	also func(*ent.Tx) (int, error)) (deleted int64, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := runs.LockPerson(ctx, tx, p); err != nil {
			return err
		}
		if _, err := runs.Lock(ctx, tx, []runs.Person{p}); err != nil {
			return err
		}
		if err := s.keepCounts(ctx, tx, p); err != nil {
			return err
		}
		ids, err := db.All(ctx, tx, db.Value[string], eraseRunsSQL, p.AccountID, p.UserID, p.EmailKey)
		if err != nil {
			return err
		}
		events, err := db.One(ctx, tx, db.Value[int64], eraseEventsSQL, p.AccountID, p.UserID, p.EmailKey)
		if err != nil {
			return err
		}
		others, err := also(tx)
		if err != nil {
			return err
		}
		deleted = events + int64(others) + int64(len(ids))
		if len(ids) == 0 {
			return nil
		}
		_, err = s.bus.Forget(ctx, tx, p.AccountID, ids...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("erase from automations: %w", err)
	}
	return deleted, nil
}
