package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Due times of parked work are shifted by 200 years, which is exact and leaves room for arithmetic in nanoseconds.
const (
	shiftSQL = `interval '1753200 hours'`
	farSQL   = `now() + interval '876600 hours'`
)

// work is a table with unfinished work of accounts.
type work struct {
	name string
	due  string // the column that makes a row due
	key  string // columns of the primary key
	// open selects the key of each unfinished row of the account $1.
	open string
	// busy is a condition on the row t: an attempt is in progress, which only its worker can end. Rows of other
	// attempts are taken from their worker by the fencing number.
	busy string
	// park lists assignments that accompany the shift.
	park string
	// state lists columns whose change after the export shows that the row was worked on.
	state string
	// ends reports whether a row exists only as long as its work is unfinished.
	ends bool
}

const ofWebhooks = `webhook_id IN (SELECT id FROM webhooks WHERE account_id = $1)`

// works lists the tables with unfinished work. The conditions of recipients are those of its partial indexes.
var works = []work{
	{name: "emails", due: "release_at", key: "id", open: `SELECT id FROM emails WHERE account_id = $1 AND release_at IS NOT NULL`,
		state: `t.status`},
	{name: "recipients", due: "due_at", key: "email_id, id", open: openRecipients,
		busy: `EXISTS (SELECT FROM attempts a WHERE a.email_id BETWEEN t.email_id AND t.email_id AND a.recipient_id = t.id AND a.outcome IS NULL)`,
		park: `lane = NULL`, state: `t.fence, t.state`},
	{name: "automation_works", due: "due_at", key: "id", open: `SELECT id FROM automation_works WHERE account_id = $1`,
		park: `fence = fence + 1`, state: `t.fence, t.state`, ends: true},
	{name: "webhook_works", due: "due_at", key: "id", open: `SELECT id FROM webhook_works WHERE ` + ofWebhooks,
		busy:  `EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = t.id AND a.outcome IS NULL)`,
		state: `t.fence`, ends: true},
	{name: "sms_messages", due: "due_at", key: "id", open: `SELECT id FROM sms_messages WHERE account_id = $1 AND due_at IS NOT NULL`,
		busy: `EXISTS (SELECT FROM sms_attempts a WHERE a.message_id = t.id AND a.outcome IS NULL)`,
		park: `fence = fence + 1`, state: `t.fence`},
}

const openRecipients = `SELECT email_id, id FROM recipients WHERE account_id = $1 AND due_at IS NOT NULL AND lane IS NULL AND held_by IS NULL
UNION ALL SELECT email_id, id FROM recipients WHERE account_id = $1 AND due_at IS NOT NULL AND lane IS NOT NULL
UNION ALL SELECT email_id, id FROM recipients WHERE account_id = $1 AND due_at IS NOT NULL AND held_by IS NOT NULL`

// tailSQL are conditions of unfinished work that has no due time: what it is, and whether the account $1 has any.
var tailSQL = []struct{ what, found string }{
	{"webhook deliveries", `SELECT EXISTS (SELECT FROM webhook_claims c CROSS JOIN unnest(c.delivery_ids) AS x (id)
JOIN webhook_deliveries d ON d.id = x.id AND d.account_id = $1 AND d.settled_at IS NULL AND NOT EXISTS (SELECT FROM webhook_works q WHERE q.id = d.id))`},
	{"custom events", `SELECT EXISTS (SELECT FROM custom_events WHERE pending AND account_id = $1)
OR EXISTS (SELECT FROM custom_events WHERE goal_pending AND account_id = $1)`},
	{"releases after a pause of an automation", `SELECT EXISTS (SELECT FROM automations WHERE draining IS NOT NULL AND account_id = $1)`},
	{"events", `SELECT EXISTS (SELECT FROM bus_messages m JOIN facts f ON f.id = m.fact_id WHERE f.account_id = $1)`},
	{"statistics", `SELECT coalesce((SELECT max(id) FROM facts WHERE account_id = $1) > (SELECT fact_id FROM statistics_marks WHERE id = 1), false)`},
}

// on returns a condition that joins the row t with the key o.
func (w work) on() string {
	var equal []string
	for column := range strings.SplitSeq(w.key, ", ") {
		equal = append(equal, `t.`+column+` = o.`+column)
	}
	return strings.Join(equal, " AND ")
}

// isParked is a condition on the row t.
func (w work) isParked() string { return `t.` + w.due + ` >= ` + farSQL }

func (w work) lockSQL(condition string) string {
	return `SELECT count(*) FROM (SELECT FROM ` + w.name + ` t JOIN (` + w.open + `) o ON ` + w.on() + ` WHERE ` + condition +
		` ORDER BY t.id FOR UPDATE OF t) locked`
}

// ParkWork takes the unfinished work of an account out of reach of every worker. The rows are locked first, so that the
// second statement sees the attempts that began before. It returns BusyError if others hold them for too long, for
// example transactions of a process that was killed.
func ParkWork(ctx context.Context, tx *sql.Tx, accountID string) error {
	for _, w := range works {
		condition, set := `NOT (`+w.isParked()+`)`, ""
		if _, err := db.One(ctx, tx, db.Value[int64], w.lockSQL(condition), accountID); err != nil {
			var server *pq.Error
			if errors.As(err, &server) && server.Code == "55P03" { // lock_not_available
				return BusyError{Work: []string{w.name}}
			}
			return fmt.Errorf("lock %s: %w", w.name, err)
		}
		if w.busy != "" {
			condition += ` AND NOT ` + w.busy
		}
		if w.park != "" {
			set = `, ` + w.park
		}
		if _, err := db.Exec(ctx, tx, `UPDATE `+w.name+` t SET `+w.due+` = t.`+w.due+` + `+shiftSQL+set+` FROM (`+w.open+`) o WHERE `+
			w.on()+` AND `+condition, accountID); err != nil {
			return fmt.Errorf("park %s: %w", w.name, err)
		}
	}
	return nil
}

// UnparkWork makes the parked work of an account due at its times, and wakes the workers.
func UnparkWork(ctx context.Context, tx *sql.Tx, accountID string) error {
	for _, w := range works {
		if _, err := db.Exec(ctx, tx, `UPDATE `+w.name+` t SET `+w.due+` = t.`+w.due+` - `+shiftSQL+` FROM (`+w.open+`) o WHERE `+
			w.on()+` AND `+w.isParked(), accountID); err != nil {
			return fmt.Errorf("resume %s: %w", w.name, err)
		}
	}
	for _, channel := range []string{"delivery", "automations", "webhooks", "sms"} {
		if err := db.Notify(ctx, tx, channel); err != nil {
			return err
		}
	}
	return nil
}

// findBusy returns what kinds of work of an account have not ended or are not parked, in the view of tx.
func findBusy(ctx context.Context, tx db.Execer, accountID string) (busy []string, err error) {
	for _, w := range works {
		condition := `NOT (` + w.isParked() + `)`
		if w.busy != "" {
			condition += ` OR ` + w.busy
		}
		found, err := db.One(ctx, tx, db.Value[bool], `SELECT EXISTS (SELECT FROM `+w.name+` t JOIN (`+w.open+`) o ON `+w.on()+
			` WHERE `+condition+`)`, accountID)
		if err != nil {
			return nil, fmt.Errorf("find work in %s: %w", w.name, err)
		}
		if found {
			busy = append(busy, w.name)
		}
	}
	for _, tail := range tailSQL {
		found, err := db.One(ctx, tx, db.Value[bool], tail.found, accountID)
		if err != nil {
			return nil, fmt.Errorf("find unfinished %s: %w", tail.what, err)
		}
		if found {
			busy = append(busy, tail.what)
		}
	}
	return busy, nil
}

// digestWork returns a digest of the parked work of an account. It changes when a row is added, removed or worked on.
func digestWork(ctx context.Context, tx db.Execer, accountID string) (string, error) {
	var parts []string
	for _, w := range works {
		key := `t.` + strings.ReplaceAll(w.key, ", ", ", t.")
		if w.name == "recipients" {
			key = `t.email_id, t.address` // the ids differ at the target
		}
		part, err := db.One(ctx, tx, db.Value[string], `SELECT count(*) || ':' || coalesce(sum(hashtextextended(concat_ws('|', `+key+`, `+w.state+
			`, extract(epoch FROM t.`+w.due+`)), 0)::numeric), 0) FROM `+w.name+` t JOIN (`+w.open+`) o ON `+w.on()+` WHERE `+w.isParked(), accountID)
		if err != nil {
			return "", fmt.Errorf("compute the digest of %s: %w", w.name, err)
		}
		parts = append(parts, w.name+"="+part)
	}
	return strings.Join(parts, " "), nil
}

// FinishWork ends the parked work of an account that has moved, and the checks of its hosts. Error: Conflict if the
// work is not exactly what was exported.
func FinishWork(ctx context.Context, tx *sql.Tx, accountID, digest string) error {
	for _, w := range works {
		if _, err := db.One(ctx, tx, db.Value[int64], w.lockSQL(w.isParked()), accountID); err != nil {
			return fmt.Errorf("lock %s: %w", w.name, err)
		}
	}
	now, err := digestWork(ctx, tx, accountID)
	if err != nil {
		return err
	}
	if now != digest {
		return fault.Conflictf(fault.CodeConflict,
			"Work of the account has changed since the export: cancel the move, or export the account again")
	}
	for _, w := range works {
		verb := `UPDATE ` + w.name + ` t SET ` + w.due + ` = NULL FROM`
		if w.ends {
			verb = `DELETE FROM ` + w.name + ` t USING`
		}
		if _, err := db.Exec(ctx, tx, verb+` (`+w.open+`) o WHERE `+w.on()+` AND `+w.isParked(), accountID); err != nil {
			return fmt.Errorf("end %s: %w", w.name, err)
		}
	}
	for _, checked := range []string{"domains", "tracking_hosts"} { // their DNS records will name the target
		if _, err := db.Exec(ctx, tx, `UPDATE `+checked+` SET due_at = NULL WHERE account_id = $1`, accountID); err != nil {
			return fmt.Errorf("end checks of %s: %w", checked, err)
		}
	}
	return nil
}

// DueTimes lists the unfinished work of an account with its due times. It is for tests.
func DueTimes(ctx context.Context, on db.Execer, accountID string) (string, error) {
	var all []string
	for _, w := range works {
		name, _, _ := strings.Cut(w.key, ",") // ids of recipients differ at the target
		part, err := db.One(ctx, on, db.Value[string], `SELECT coalesce(string_agg(t.`+name+` || ' ' || extract(epoch FROM t.`+w.due+
			`), E'\n' ORDER BY t.`+name+`), '') FROM `+w.name+` t JOIN (`+w.open+`) o ON `+w.on(), accountID)
		if err != nil {
			return "", err
		}
		all = append(all, w.name+"\n"+part)
	}
	return strings.Join(all, "\n"), nil
}
