package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Emails are counted by the hour for all plans, at no cost to the accept path, because each email that was
// handed over for delivery has left a fact. An hour can be closed once no transaction can add a fact to it
// (bus.Log.Horizon). One statement then counts its facts by account. A mark records the first open hour; open
// hours are counted on demand.

const (
	createMarkSQL = `
INSERT INTO usage_marks (id, hour, fact_id) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING`

	oldestFactSQL = `SELECT coalesce(min(id), '') FROM facts WHERE id >= $1`

	lockMarkSQL = `SELECT hour FROM usage_marks WHERE id = 1 FOR UPDATE SKIP LOCKED`

	moveMarkSQL = `UPDATE usage_marks SET hour = $1, fact_id = $2 WHERE id = 1`

	closeHourSQL = `
INSERT INTO usage_hours AS u (account_id, hour, emails)
SELECT account_id, $1::timestamptz, count(*) FROM facts WHERE id >= $2 AND id < $3 AND type = '` + string(event.EmailSent) + `' GROUP BY account_id
ON CONFLICT (account_id, hour) DO UPDATE SET emails = u.emails + excluded.emails`
)

// closeHours counts the facts of every hour that has ended. If several processes run it, the one that locks
// the mark does the work.
func (s *Service) closeHours(ctx context.Context) error {
	horizon, err := s.facts.Horizon(ctx)
	if err != nil {
		return fmt.Errorf("close hours: %w", err)
	}
	if err := s.createMark(ctx, horizon); err != nil {
		return fmt.Errorf("close hours: %w", err)
	}
	for more := true; more; {
		err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			more, err = closeHour(ctx, tx, horizon)
			return err
		})
		if err != nil {
			return fmt.Errorf("close hours: %w", err)
		}
	}
	return nil
}

// createMark creates the mark at the hour of the oldest fact.
func (s *Service) createMark(ctx context.Context, horizon time.Time) error {
	oldest, err := db.One(ctx, s.db.SQL, db.Value[string], oldestFactSQL, "")
	if err != nil {
		return err
	}
	hour := hourOf(oldest, horizon)
	_, err = s.db.SQL.ExecContext(ctx, createMarkSQL, hour, id.Since(id.Fact, hour))
	return err
}

// hourOf returns the hour of a fact, or that of the horizon if there is no fact.
func hourOf(factID string, horizon time.Time) time.Time {
	at := horizon
	if factID != "" {
		at = id.Time(factID)
	}
	return at.UTC().Truncate(time.Hour)
}

// closeHour counts the first open hour if it has ended, and moves the mark to the next hour that has facts.
// It returns false if no hour can be closed.
func closeHour(ctx context.Context, tx db.Execer, horizon time.Time) (bool, error) {
	hour, err := db.One(ctx, tx, db.Value[time.Time], lockMarkSQL)
	switch {
	case errors.Is(err, sql.ErrNoRows): // another process holds the mark
		return false, nil
	case err != nil:
		return false, err
	}
	end := hour.UTC().Add(time.Hour)
	if end.After(horizon) {
		return false, nil
	}
	if _, err := tx.ExecContext(ctx, closeHourSQL, hour, id.Since(id.Fact, hour), id.Since(id.Fact, end)); err != nil {
		return false, err
	}
	following, err := db.One(ctx, tx, db.Value[string], oldestFactSQL, id.Since(id.Fact, end))
	if err != nil {
		return false, err
	}
	if next := hourOf(following, horizon); next.After(end) {
		end = next
	}
	_, err = tx.ExecContext(ctx, moveMarkSQL, end, id.Since(id.Fact, end))
	return true, err
}

// sentSQL counts the emails that an account has handed over for delivery on the current day and in the
// current month: closed hours from their counts, open ones from their facts.
const sentSQL = `
SELECT hours.day + recent.day AS day, hours.month + recent.month AS month FROM (
	SELECT coalesce(sum(emails) FILTER (WHERE hour >= $2), 0)::bigint AS day, coalesce(sum(emails), 0)::bigint AS month
	  FROM usage_hours WHERE account_id = $1 AND hour >= $3) hours, (
	SELECT count(*) FILTER (WHERE id >= $4) AS day, count(*) AS month FROM facts
	 WHERE account_id = $1 AND type = '` + string(event.EmailSent) + `' AND id >= $5
	   AND id >= coalesce((SELECT fact_id FROM usage_marks), '')) recent`

// sentArgs returns the parameters of sentSQL for a time.
func sentArgs(accountID string, now time.Time) []any {
	now = now.UTC()
	day := now.Truncate(24 * time.Hour)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	return []any{accountID, day, month, id.Since(id.Fact, day), id.Since(id.Fact, month)}
}

// countSent returns the number of emails that an account without caps has handed over for delivery.
func (s *Service) countSent(ctx context.Context, accountID string) (periodCount, error) {
	now, err := db.Now(ctx, s.db.Hot)
	if err != nil {
		return periodCount{}, err
	}
	found, err := db.One(ctx, s.db.Hot, func(c *periodCount) []any { return []any{&c.day, &c.month} }, sentSQL,
		sentArgs(accountID, now)...)
	found.now, found.date, found.today = now, now.UTC().Format(dayLayout), true
	return found, err
}

const (
	// The lock keeps the mark in place until tx ends, so no fact is counted twice.
	holdMarkSQL = `SELECT fact_id FROM usage_marks WHERE id = 1 FOR SHARE`

	openFactsSQL = `
SELECT id FROM facts WHERE account_id = $1 AND subject_id = ANY($2) AND type = '` + string(event.EmailSent) + `' AND id >= $3`

	keepUsageSQL = `
INSERT INTO usage_hours AS u (account_id, hour, emails)
SELECT $1::text, hour, count(*) FROM (SELECT h::timestamptz AS hour FROM unnest($2::text[]) AS h) hours GROUP BY hour ORDER BY hour
ON CONFLICT (account_id, hour) DO UPDATE SET emails = u.emails + excluded.emails`
)

// KeepUsage counts the emails of facts that tx is about to delete before their hour is closed.
func (s *Service) KeepUsage(ctx context.Context, tx db.Execer, accountID string, emailIDs ...string) error {
	mark, err := db.All(ctx, tx, db.Value[string], holdMarkSQL)
	if err != nil {
		return fmt.Errorf("keep usage: %w", err)
	}
	facts, err := db.All(ctx, tx, db.Value[string], openFactsSQL, accountID, db.Array(emailIDs), append(mark, "")[0])
	if err != nil || len(facts) == 0 {
		return err
	}
	hours := make([]string, len(facts))
	for i, fact := range facts {
		hours[i] = hourOf(fact, time.Time{}).Format(time.RFC3339)
	}
	if _, err := tx.ExecContext(ctx, keepUsageSQL, accountID, db.Array(hours)); err != nil {
		return fmt.Errorf("keep usage: %w", err)
	}
	return nil
}

const (
	rewindMarkSQL  = `UPDATE usage_marks SET hour = $1, fact_id = $2 WHERE id = 1 AND hour > $1`
	reopenHoursSQL = `DELETE FROM usage_hours WHERE hour >= $1`
)

// reopenHours reopens hours of usage that were closed while the database clock was ahead
// (runtime/storage/clockstep). They are counted again from their facts once they have ended.
func (s *Service) reopenHours(ctx context.Context, step clockstep.Step) (rows int64, err error) {
	hour := step.At.UTC().Truncate(time.Hour)
	err = s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		moved, err := db.Exec(ctx, tx, rewindMarkSQL, hour, id.Since(id.Fact, hour))
		if err != nil || moved == 0 {
			return err
		}
		reopened, err := db.Exec(ctx, tx, reopenHoursSQL, hour)
		rows = int64(reopened) + 1
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reopen hours of usage: %w", err)
	}
	return rows, nil
}
