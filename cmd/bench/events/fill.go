package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/lib/pq" // the driver
)

// Fill makes live runs of an automation out of one that has it, in the database of a server.
type Fill struct {
	URL          string
	AutomationID string
	Name         string // of these runs: part of their ids and of their persons
	Runs         int
}

// copied makes many rows of one: those of the first run of an automation, with other ids.
const copied = `
INSERT INTO %[1]s SELECT made.*
FROM (SELECT * FROM %[1]s WHERE automation_id = $1 AND id NOT LIKE '%%-%%' ORDER BY id LIMIT 1) t, generate_series(1, $3::int) AS i,
	jsonb_populate_record(NULL::%[1]s, to_jsonb(t) || jsonb_build_object('id', t.id || '-' || $2::text || i, 'user_id', $2::text || i) || $4::jsonb) made`

// Waiting makes runs that wait as the first one does.
func (f Fill) Waiting(ctx context.Context) error { return f.make(ctx, `'{}'::jsonb`, nil) }

// Due makes runs whose wait is over at a time.
func (f Fill) Due(ctx context.Context, at time.Time) error {
	return f.make(ctx, `jsonb_build_object('due_at', $1::timestamptz, 'waiting', jsonb_build_object('until', $1::timestamptz, 'began', now()))`, &at)
}

// Ready makes runs that are due now at the step with an index.
func (f Fill) Ready(ctx context.Context, step int) error {
	now := time.Now()
	return f.make(ctx, fmt.Sprintf(`jsonb_build_object('due_at', least(now(), $1::timestamptz), 'step_index', %d, 'state', 'ready', 'waiting', NULL)`, step), &now)
}

func (f Fill) make(ctx context.Context, work string, at *time.Time) (err error) {
	conn, err := sql.Open("postgres", f.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var changes string
	if at == nil {
		err = conn.QueryRowContext(ctx, `SELECT `+work).Scan(&changes)
	} else {
		err = conn.QueryRowContext(ctx, `SELECT `+work, *at).Scan(&changes)
	}
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for table, change := range map[string]string{"automation_runs": "{}", "automation_works": changes} {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(copied, table), f.AutomationID, f.Name, f.Runs, change); err != nil {
			return fmt.Errorf("fill %s: %w", table, err)
		}
	}
	return tx.Commit()
}

// Ended says when the first and the last of the runs ended; the error is that some still live.
func (f Fill) Ended(ctx context.Context, conn *sql.DB) (first, last time.Time, live int, err error) {
	err = conn.QueryRowContext(ctx, `SELECT coalesce(min(ended_at), now()), coalesce(max(ended_at), now()), count(*) FILTER (WHERE ended_at IS NULL)
		FROM automation_runs WHERE automation_id = $1 AND user_id LIKE $2 || '%'`, f.AutomationID, f.Name).Scan(&first, &last, &live)
	return first, last, live, err
}

// Another gives a copy of the automation to another account, with its first run, and returns its
// id. The account has nothing else.
func (f Fill) Another(ctx context.Context, accountID string, lane int) (string, error) {
	id := f.AutomationID + "b"
	conn, err := sql.Open("postgres", f.URL)
	if err != nil {
		return "", err
	}
	for _, statement := range []string{
		`INSERT INTO automations SELECT (jsonb_populate_record(t, jsonb_build_object('id', $2::text, 'account_id', $3::text))).* FROM automations t WHERE id = $1 AND $4::int >= 0`,
		`INSERT INTO automation_versions SELECT (jsonb_populate_record(t, jsonb_build_object('id', t.id + 1000000, 'automation_id', $2::text, 'account_id', $3::text))).* FROM automation_versions t
			WHERE automation_id = $1 AND $4::int >= 0`,
		`INSERT INTO automation_runs SELECT (jsonb_populate_record(t, jsonb_build_object('id', t.id || 'b', 'automation_id', $2::text, 'account_id', $3::text))).* FROM automation_runs t
			WHERE automation_id = $1 AND id NOT LIKE '%-%' AND $4::int >= 0`,
		`INSERT INTO automation_works SELECT (jsonb_populate_record(t, jsonb_build_object('id', t.id || 'b', 'automation_id', $2::text, 'account_id', $3::text, 'lane', $4::int))).* FROM automation_works t
			WHERE automation_id = $1 AND id NOT LIKE '%-%'`,
	} {
		if _, err := conn.ExecContext(ctx, statement, f.AutomationID, id, accountID, lane); err != nil {
			return "", errors.Join(err, conn.Close())
		}
	}
	return id, conn.Close()
}
