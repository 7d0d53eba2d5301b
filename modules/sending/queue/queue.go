package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// State is where a recipient in the queue stands.
type State string

// The states, see the package comment.
const (
	InQueue  State = "queued"
	Deferred State = "deferred"
	Parked   State = "parked"
	OnHold   State = "held"
)

// Selection names recipients in the queue: those for which everything holds that is given.
type Selection struct {
	AccountID    string
	EmailID      string
	Destination  string // the domain of the address, in A-labels
	RecipientIDs []int64
	IDs          []string // in place of RecipientIDs, as accounts know them; for AccountChange alone
	State        State
	DueBefore    time.Time // only those whose next attempt is due before; zero: whenever it is due
	// Begun adds to DueBefore those of whom an attempt began before that time, and had no end that was stored by
	// then. A database that goes back to a moment has their claims, which are due at the ends of leases or when they are handed back.
	Begun bool
	All   bool // an operation on everything has to say so
}

// Validate reports what is wrong. An operation needs a selection.
func (s Selection) Validate() fault.Fields {
	wrong := fault.Fields{}
	switch s.State {
	case "", InQueue, Deferred, Parked, OnHold:
	default:
		wrong.Add("state", "must be queued, deferred, parked or held")
	}
	if s.narrows() == s.All {
		wrong.Add("selection", "give recipients, an email, a destination or an account, or all")
	}
	return wrong
}

func (s Selection) narrows() bool {
	return s.AccountID != "" || s.EmailID != "" || s.Destination != "" || len(s.RecipientIDs) > 0 || len(s.IDs) > 0 || s.State != ""
}

// Queued is one recipient in the queue.
type Queued struct {
	ID          string // as its account knows it; QueueOf sets it
	RecipientID int64
	EmailID     string
	AccountID   string
	Address     string
	Destination string
	State       State
	Running     bool
	Lane        string // while it is parked
	Attempts    int
	NextAttempt *time.Time    // nil while it is held or runs
	QueuedAt    time.Time     // accepted or released
	Age         time.Duration // since then, by the database clock
	Diagnostic  string        // of the last attempt
}

// The open attempt of the present fence is asked for row by row, so that the
// planner does not read all attempts there ever were.
const queueColumns = `r.id, r.email_id, r.account_id, r.address, r.destination, r.state, r.lane, r.held_by, r.attempts, r.due_at, r.queued_at, r.diagnostic, ` + runningSQL + ` AS running`

const runningSQL = `(r.due_at > now() AND r.attempts > 0 AND coalesce((SELECT a.outcome IS NULL FROM attempts a WHERE a.email_id BETWEEN r.email_id AND r.email_id AND a.recipient_id = r.id AND a.fence = r.fence), false))`

const queueStateSQL = `CASE WHEN r.held_by IS NOT NULL THEN 'held' WHEN r.lane IS NOT NULL THEN 'parked' ELSE r.state END`

// from is the rows of the selection, as a subquery named r. The three parts are
// what the three partial indexes of the queue hold; without them settled
// recipients, of which there are many more, would be read.
func (s Selection) from(q *db.Query, columns string) string {
	conditions := s.conditions(q)
	if s.EmailID != "" || len(s.RecipientIDs) > 0 {
		return `(SELECT ` + columns + ` FROM recipients r WHERE r.due_at IS NOT NULL` + conditions + `) r`
	}
	part := `SELECT ` + columns + ` FROM recipients r WHERE r.due_at IS NOT NULL` + conditions + ` AND `
	return `(` + part + `r.lane IS NULL AND r.held_by IS NULL UNION ALL ` + part + `r.lane IS NOT NULL UNION ALL ` + part + `r.held_by IS NOT NULL) r`
}

func (s Selection) conditions(q *db.Query) string {
	var out strings.Builder
	for column, value := range map[string]string{"account_id": s.AccountID, "email_id": s.EmailID, "destination": strings.ToLower(s.Destination)} {
		if value != "" {
			out.WriteString(` AND r.` + column + ` = ` + q.Arg(value))
		}
	}
	if len(s.RecipientIDs) > 0 {
		out.WriteString(` AND r.id = ANY(` + q.Arg(db.Array(s.RecipientIDs)) + `)`)
	}
	switch before := s.DueBefore; {
	case before.IsZero():
	case s.Begun:
		out.WriteString(` AND ` + dueOrBegun(q.Arg(before)))
	default:
		out.WriteString(` AND r.due_at < ` + q.Arg(before))
	}
	if s.State != "" {
		out.WriteString(` AND ` + queueStateSQL + ` = ` + q.Arg(string(s.State)))
	}
	return out.String()
}

// dueOrBegun is the condition of Selection.Begun on r, in the queue, by the number of an argument.
func dueOrBegun(before string) string {
	return `(r.due_at < ` + before + ` OR EXISTS (SELECT FROM attempts a WHERE a.recipient_id = r.id AND a.email_id = r.email_id
		AND a.started_at < ` + before + ` AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'not_started') AND a.finished_at >= ` + before + `)))`
}

// List gives up to limit recipients of the selection behind the given one (0: from
// the start), in the order of acceptance, so the oldest first.
func (s *Service) List(ctx context.Context, of Selection, after int64, limit int) ([]Queued, error) {
	return s.list(ctx, of, after, false, limit)
}

// list reads outwards from a recipient: what is behind it, or, going back, what is before it.
func (s *Service) list(ctx context.Context, of Selection, beside int64, back bool, limit int) ([]Queued, error) {
	var query db.Query
	beyond, order := ` WHERE r.id > `, ` ORDER BY r.id LIMIT `
	if back {
		beyond, order = ` WHERE r.id < `, ` ORDER BY r.id DESC LIMIT `
	}
	query.Text = `SELECT r.id, r.email_id, r.account_id, r.address, r.destination, ` + queueStateSQL + `, r.running, coalesce(r.lane, ''), r.attempts,
	CASE WHEN NOT r.running AND r.held_by IS NULL THEN r.due_at END, r.queued_at, (extract(epoch FROM now() - r.queued_at) * 1000000)::bigint, coalesce(r.diagnostic, '')
FROM ` + of.from(&query, queueColumns) + beyond + query.Arg(beside) + order + strconv.Itoa(limit)
	list, err := db.All(ctx, s.db.SQL, func(r *Queued) []any {
		return []any{&r.RecipientID, &r.EmailID, &r.AccountID, &r.Address, &r.Destination, &r.State, &r.Running, &r.Lane, &r.Attempts,
			&r.NextAttempt, &r.QueuedAt, db.ScanMicroseconds(&r.Age), &r.Diagnostic}
	}, query.Text, query.Args...)
	if err != nil {
		return nil, fmt.Errorf("list queue: %w", err)
	}
	return list, nil
}

// Backlog is what waits for one destination.
type Backlog struct {
	Destination string
	Due         int // may be tried now
	Running     int // are being tried
	Parked      int // wait for room in a lane
	Deferred    int // wait for their next attempt
	Held        int
	Oldest      time.Duration // age of the oldest, by the database clock
	Diagnostic  string        // of the last attempt that left one
}

// Total is how many recipients wait or run.
func (b Backlog) Total() int { return b.Due + b.Running + b.Parked + b.Deferred + b.Held }

// Summary gives what waits by destination, most first, at most limit of them.
func (s *Service) Summary(ctx context.Context, of Selection, limit int) ([]Backlog, error) {
	var query db.Query
	const waiting = `NOT r.running AND r.lane IS NULL AND r.held_by IS NULL AND r.due_at`
	query.Text = `SELECT r.destination,
	count(*) FILTER (WHERE ` + waiting + ` <= now()), count(*) FILTER (WHERE r.running AND r.held_by IS NULL),
	count(*) FILTER (WHERE NOT r.running AND r.lane IS NOT NULL), count(*) FILTER (WHERE ` + waiting + ` > now()), count(*) FILTER (WHERE r.held_by IS NOT NULL),
	(extract(epoch FROM now() - min(r.queued_at)) * 1000000)::bigint,
	coalesce((array_agg(r.diagnostic ORDER BY r.due_at DESC) FILTER (WHERE r.diagnostic IS NOT NULL))[1], '')
FROM ` + of.from(&query, queueColumns) + ` GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ` + strconv.Itoa(limit)
	list, err := db.All(ctx, s.db.SQL, func(b *Backlog) []any {
		return []any{&b.Destination, &b.Due, &b.Running, &b.Parked, &b.Deferred, &b.Held, db.ScanMicroseconds(&b.Oldest), &b.Diagnostic}
	}, query.Text, query.Args...)
	if err != nil {
		return nil, fmt.Errorf("sum up queue: %w", err)
	}
	return list, nil
}

// MaxDepth is how far recipients that wait are counted.
const MaxDepth = 100_000

// Depth is how many recipients wait, by why they do. Each count ends at MaxDepth.
type Depth struct{ Queued, Parked, Held int }

const depthSQL = `
SELECT (SELECT count(*) FROM (SELECT FROM recipients WHERE due_at IS NOT NULL AND lane IS NULL AND held_by IS NULL LIMIT $1) queued),
	(SELECT count(*) FROM (SELECT FROM recipients WHERE due_at IS NOT NULL AND lane IS NOT NULL LIMIT $1) parked),
	(SELECT count(*) FROM (SELECT FROM recipients WHERE due_at IS NOT NULL AND held_by IS NOT NULL LIMIT $1) held)`

// Depth counts the recipients that wait: in the common queue with those that are being
// delivered to and those that are deferred, under a lane, and held.
func (s *Service) Depth(ctx context.Context) (Depth, error) {
	var d Depth
	if err := s.db.Hot.QueryRowContext(ctx, depthSQL, MaxDepth).Scan(&d.Queued, &d.Parked, &d.Held); err != nil {
		return Depth{}, fmt.Errorf("depth of the queue: %w", err)
	}
	return d, nil
}

// oldestDueSQL reads one entry of the index of the common queue: the head of what is
// due. Claimed rows have their due_at in the future, parked ones a lane; held ones are in another index.
const oldestDueSQL = `
SELECT coalesce((extract(epoch FROM now() - min(due_at)) * 1000000)::bigint, 0) FROM recipients WHERE due_at <= now() AND lane IS NULL AND held_by IS NULL`

// Late is how long the oldest recipient in the common queue has been due without
// being tried, by the database clock; 0 when nothing is due.
func (s *Service) Late(ctx context.Context) (late time.Duration, err error) {
	if err := s.db.Hot.QueryRowContext(ctx, oldestDueSQL).Scan(db.ScanMicroseconds(&late)); err != nil {
		return 0, fmt.Errorf("age of the queue: %w", err)
	}
	return late, nil
}
