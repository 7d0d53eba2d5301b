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

// State is the state of a recipient in the queue.
type State string

// The states, see the package comment.
const (
	InQueue  State = "queued"
	Deferred State = "deferred"
	Parked   State = "parked"
	OnHold   State = "held"
)

// Selection selects the recipients in the queue that match every field that is set.
type Selection struct {
	AccountID    string
	EmailID      string
	Destination  string // the domain of the address, in A-labels
	RecipientIDs []int64
	IDs          []string // instead of RecipientIDs: the ids that accounts see; only for AccountChange
	State        State
	DueBefore    time.Time // only recipients whose next attempt is due before this time; zero: any
	// Begun extends DueBefore to recipients with an attempt that began before that time and had no outcome
	// stored by then. A database restored to a point in time has their claims, which become due when their
	// leases end or are handed back.
	Begun bool
	All   bool // required for an operation on all recipients
}

// Validate returns the invalid fields. An operation requires a selection.
func (s Selection) Validate() fault.Fields {
	wrong := fault.Fields{}
	switch s.State {
	case "", InQueue, Deferred, Parked, OnHold:
	default:
		wrong.Add("state", "must be queued, deferred, parked or held")
	}
	if s.isNarrowed() == s.All {
		wrong.Add("selection", "requires recipients, an email, a destination, an account, a state or all")
	}
	return wrong
}

func (s Selection) isNarrowed() bool {
	return s.AccountID != "" || s.EmailID != "" || s.Destination != "" || len(s.RecipientIDs) > 0 || len(s.IDs) > 0 ||
		s.State != ""
}

// Queued is one recipient in the queue.
type Queued struct {
	ID          string // the id that its account sees; set by QueueOf
	RecipientID int64
	EmailID     string
	AccountID   string
	Address     string
	Destination string
	State       State
	Running     bool
	Lane        string // if parked
	Attempts    int
	NextAttempt *time.Time    // nil if held or running
	QueuedAt    time.Time     // time of acceptance or release
	Age         time.Duration // since then, by the database clock
	Diagnostic  string        // diagnostic of the last attempt
}

// The open attempt of the current fence is looked up row by row, so that the planner does not read all
// attempts.
const queueColumns = `r.id, r.email_id, r.account_id, r.address, r.destination, r.state, r.lane, r.held_by, r.attempts, r.due_at, r.queued_at, r.diagnostic, ` + runningSQL + ` AS running`

const runningSQL = `(r.due_at > now() AND r.attempts > 0 AND coalesce((SELECT a.outcome IS NULL FROM attempts a WHERE a.email_id BETWEEN r.email_id AND r.email_id AND a.recipient_id = r.id AND a.fence = r.fence), false))`

const queueStateSQL = `CASE WHEN r.held_by IS NOT NULL THEN 'held' WHEN r.lane IS NOT NULL THEN 'parked' ELSE r.state END`

// fromSQL returns the rows of the selection as a subquery named r. Its three parts match the three partial
// indexes of the queue; without them, PostgreSQL would read settled recipients, which are far more.
func (s Selection) fromSQL(q *db.Query, columns string) string {
	conditions := s.conditionsSQL(q)
	if s.EmailID != "" || len(s.RecipientIDs) > 0 {
		return `(SELECT ` + columns + ` FROM recipients r WHERE r.due_at IS NOT NULL` + conditions + `) r`
	}
	part := `SELECT ` + columns + ` FROM recipients r WHERE r.due_at IS NOT NULL` + conditions + ` AND `
	return `(` + part + `r.lane IS NULL AND r.held_by IS NULL UNION ALL ` + part + `r.lane IS NOT NULL UNION ALL ` +
		part + `r.held_by IS NOT NULL) r`
}

func (s Selection) conditionsSQL(q *db.Query) string {
	var out strings.Builder
	for column, value := range map[string]string{"account_id": s.AccountID, "email_id": s.EmailID,
		"destination": strings.ToLower(s.Destination)} {
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
		out.WriteString(` AND ` + dueOrBegunSQL(q.Arg(before)))
	default:
		out.WriteString(` AND r.due_at < ` + q.Arg(before))
	}
	if s.State != "" {
		out.WriteString(` AND ` + queueStateSQL + ` = ` + q.Arg(string(s.State)))
	}
	return out.String()
}

// dueOrBegunSQL returns the condition of Selection.Begun on r, given the placeholder of the time.
func dueOrBegunSQL(before string) string {
	return `(r.due_at < ` + before + ` OR EXISTS (SELECT FROM attempts a WHERE a.recipient_id = r.id AND a.email_id = r.email_id
		AND a.started_at < ` + before + ` AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'not_started') AND a.finished_at >= ` + before + `)))`
}

// List returns up to limit recipients of the selection after the given one (0: from the start), in order of
// acceptance, oldest first.
func (s *Service) List(ctx context.Context, of Selection, after int64, limit int) ([]Queued, error) {
	return s.listAround(ctx, of, after, false, limit)
}

// listAround reads the recipients after the given one, or before it if back is set.
func (s *Service) listAround(ctx context.Context, of Selection, boundary int64, back bool,
	limit int) ([]Queued, error) {
	var query db.Query
	beyond, order := ` WHERE r.id > `, ` ORDER BY r.id LIMIT `
	if back {
		beyond, order = ` WHERE r.id < `, ` ORDER BY r.id DESC LIMIT `
	}
	query.Text = `SELECT r.id, r.email_id, r.account_id, r.address, r.destination, ` + queueStateSQL + `, r.running, coalesce(r.lane, ''), r.attempts,
	CASE WHEN NOT r.running AND r.held_by IS NULL THEN r.due_at END, r.queued_at, (extract(epoch FROM now() - r.queued_at) * 1000000)::bigint, coalesce(r.diagnostic, '')
FROM ` + of.fromSQL(&query, queueColumns) + beyond + query.Arg(boundary) + order + strconv.Itoa(limit)
	list, err := db.All(ctx, s.db.SQL, func(r *Queued) []any {
		return []any{&r.RecipientID, &r.EmailID, &r.AccountID, &r.Address, &r.Destination, &r.State, &r.Running,
			&r.Lane, &r.Attempts,
			&r.NextAttempt, &r.QueuedAt, db.ScanMicroseconds(&r.Age), &r.Diagnostic}
	}, query.Text, query.Args...)
	if err != nil {
		return nil, fmt.Errorf("list queue: %w", err)
	}
	return list, nil
}

// Backlog is the queue of one destination.
type Backlog struct {
	Destination string
	Due         int // can be tried now
	Running     int // being tried
	Parked      int // waiting for room in a lane
	Deferred    int // waiting for their next attempt
	Held        int
	Oldest      time.Duration // age of the oldest, by the database clock
	Diagnostic  string        // diagnostic of the latest attempt that has one
}

// Total returns the number of recipients in the backlog.
func (b Backlog) Total() int { return b.Due + b.Running + b.Parked + b.Deferred + b.Held }

// Summary returns the backlog by destination, largest first, at most limit of them.
func (s *Service) Summary(ctx context.Context, of Selection, limit int) ([]Backlog, error) {
	var query db.Query
	const waiting = `NOT r.running AND r.lane IS NULL AND r.held_by IS NULL AND r.due_at`
	query.Text = `SELECT r.destination,
	count(*) FILTER (WHERE ` + waiting + ` <= now()), count(*) FILTER (WHERE r.running AND r.held_by IS NULL),
	count(*) FILTER (WHERE NOT r.running AND r.lane IS NOT NULL), count(*) FILTER (WHERE ` + waiting + ` > now()), count(*) FILTER (WHERE r.held_by IS NOT NULL),
	(extract(epoch FROM now() - min(r.queued_at)) * 1000000)::bigint,
	coalesce((array_agg(r.diagnostic ORDER BY r.due_at DESC) FILTER (WHERE r.diagnostic IS NOT NULL))[1], '')
FROM ` + of.fromSQL(&query, queueColumns) + ` GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ` + strconv.Itoa(limit)
	list, err := db.All(ctx, s.db.SQL, func(b *Backlog) []any {
		return []any{&b.Destination, &b.Due, &b.Running, &b.Parked, &b.Deferred, &b.Held,
			db.ScanMicroseconds(&b.Oldest), &b.Diagnostic}
	}, query.Text, query.Args...)
	if err != nil {
		return nil, fmt.Errorf("sum up queue: %w", err)
	}
	return list, nil
}

// MaxDepth is where the counts of waiting recipients end.
const MaxDepth = 100_000

// Depth is the number of waiting recipients by reason. Each count ends at MaxDepth.
type Depth struct{ Queued, Parked, Held int }

const depthSQL = `
SELECT (SELECT count(*) FROM (SELECT FROM recipients WHERE due_at IS NOT NULL AND lane IS NULL AND held_by IS NULL LIMIT $1) queued),
	(SELECT count(*) FROM (SELECT FROM recipients WHERE due_at IS NOT NULL AND lane IS NOT NULL LIMIT $1) parked),
	(SELECT count(*) FROM (SELECT FROM recipients WHERE due_at IS NOT NULL AND held_by IS NOT NULL LIMIT $1) held)`

// Depth counts the waiting recipients: those in the common queue (including running and deferred ones),
// parked ones, and held ones.
func (s *Service) Depth(ctx context.Context) (Depth, error) {
	var d Depth
	if err := s.db.Hot.QueryRowContext(ctx, depthSQL, MaxDepth).Scan(&d.Queued, &d.Parked, &d.Held); err != nil {
		return Depth{}, fmt.Errorf("depth of the queue: %w", err)
	}
	return d, nil
}

// oldestDueSQL reads one entry of the index of the common queue: the oldest due recipient. Claimed rows have
// their due_at in the future, parked rows have a lane, and held rows are in another index.
const oldestDueSQL = `
SELECT coalesce((extract(epoch FROM now() - min(due_at)) * 1000000)::bigint, 0) FROM recipients WHERE due_at <= now() AND lane IS NULL AND held_by IS NULL`

// MeasureLag returns how long the oldest recipient in the common queue has been due without being tried, by the
// database clock, or 0 if nothing is due.
func (s *Service) MeasureLag(ctx context.Context) (late time.Duration, err error) {
	if err := s.db.Hot.QueryRowContext(ctx, oldestDueSQL).Scan(db.ScanMicroseconds(&late)); err != nil {
		return 0, fmt.Errorf("age of the queue: %w", err)
	}
	return late, nil
}
