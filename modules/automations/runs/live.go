package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The states of a row of work.
const (
	Ready    = "ready"     // the step is about to begin
	Waiting  = "waiting"   // waiting for an event or for its time
	TimedOut = "timed_out" // the time of the wait has come, and events no longer end it
)

// LiveRun is a run that has not ended.
type LiveRun struct {
	Run       machine.Run
	AccountID string
	State     machine.State
	Work      string         // Ready, Waiting, TimedOut
	Input     *machine.Event // the event that ended the wait
	Fence     int64
	Claims    int // since the last settlement
	Depth     int
	// TemplatesAt is when the run started or was last resumed. It sends the template versions of that time.
	TemplatesAt time.Time
	Trial       json.RawMessage // the definition that a trial follows; nil for other runs
	Blocked     *Blocker        // why the last try did not finish the step; nil if not blocked
}

// Person identifies a person, so that events and runs match.
type Person struct{ AccountID, UserID, EmailKey string }

// IsAny reports whether the person matches any in a list.
func (p Person) IsAny(list []Person) bool {
	return slices.ContainsFunc(list, func(other Person) bool {
		return p.AccountID == other.AccountID && p.Identity().Matches(other.Identity())
	})
}

// Identity returns the person's identity within the account.
func (p Person) Identity() machine.Identity {
	return machine.Identity{UserID: p.UserID, EmailKey: p.EmailKey}
}

// Locks returns the numbers of the person's advisory locks, one per name.
func (p Person) Locks() []int64 {
	var keys []int64
	for kind, name := range map[string]string{"user": p.UserID, "email": p.EmailKey} {
		if name != "" {
			h := fnv.New64a()
			// hash.Hash.Write never fails
			_, _ = h.Write([]byte("automations\x00" + p.AccountID + "\x00" + kind + "\x00" + name))
			// any 64 bits make a valid key
			keys = append(keys, int64(h.Sum64()))
		}
	}
	return keys
}

// EmailKey returns the normalized form of an address, in which addresses are compared. It returns "" for an
// invalid one.
func EmailKey(email string) string {
	parsed, err := address.New("", email)
	if err != nil {
		return ""
	}
	return strings.ToLower(parsed.AddrSpec())
}

// liveColumns are the columns of LiveRun, from works w and runs r.
const liveColumns = `w.id, w.account_id, w.automation_id, w.version, coalesce(r.user_id, ''), coalesce(r.email_key, ''), w.step_index, w.state,
	coalesce(w.waiting::text, ''), coalesce(w.input::text, ''), coalesce(w.blocked::text, ''), w.ready_at, w.fence, w.claims, r.event::text, r.started_at, coalesce(r.retried_at, r.started_at), r.depth,
	coalesce(r.definition::text, '')`

// liveRow is a LiveRun as stored in the database.
type liveRow struct {
	id, accountID, automationID string
	version                     int
	userID, emailKey            string
	step                        int
	state, waiting, input       string
	blocked                     string
	ready                       time.Time
	fence                       int64
	claims                      int
	event                       string
	started, templatesAt        time.Time
	depth                       int
	trial                       string
	now                         time.Time
}

func (r *liveRow) columns() []any {
	return []any{&r.id, &r.accountID, &r.automationID, &r.version, &r.userID, &r.emailKey, &r.step, &r.state,
		&r.waiting, &r.input, &r.blocked, &r.ready, &r.fence, &r.claims,
		&r.event, &r.started, &r.templatesAt, &r.depth, &r.trial}
}

func (r *liveRow) toLive() (*LiveRun, error) {
	trigger, err := ReadEvent(r.event)
	if err != nil {
		return nil, fmt.Errorf("read the event of %s: %w", r.id, err)
	}
	l := &LiveRun{AccountID: r.accountID, Work: r.state, Fence: r.fence, Claims: r.claims, Depth: r.depth,
		TemplatesAt: r.templatesAt,
		Run: machine.Run{ID: r.id, AutomationID: r.automationID, Version: r.version, Trigger: trigger,
			Identity: machine.Identity{UserID: r.userID, EmailKey: r.emailKey}, StartedAt: r.started},
		State: machine.State{Step: r.step, Ready: r.ready}}
	if r.trial != "" {
		l.Trial = json.RawMessage(r.trial)
	}
	if l.Blocked, err = ReadBlocked([]byte(r.blocked)); err != nil {
		return nil, fmt.Errorf("read why %s is blocked: %w", r.id, err)
	}
	if r.waiting != "" {
		l.State.Waiting = &machine.StepWait{}
		if err := json.Unmarshal([]byte(r.waiting), l.State.Waiting); err != nil {
			return nil, fmt.Errorf("read the wait of %s: %w", r.id, err)
		}
	}
	if r.input != "" {
		if l.Input, err = ReadEvent(r.input); err != nil {
			return nil, fmt.Errorf("read the input of %s: %w", r.id, err)
		}
	}
	return l, nil
}

// ReadEvent decodes the event stored with a run.
func ReadEvent(document string) (*machine.Event, error) {
	e := &machine.Event{}
	var raw struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal([]byte(document), e); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(document), &raw); err != nil || len(raw.Data) == 0 || string(raw.Data) == "null" {
		return e, err
	}
	var err error
	e.Data, err = expression.Decode(raw.Data) // decodes numbers as expressions need them
	return e, err
}

const outputsSQL = `SELECT run_id, key, output::text FROM automation_steps WHERE run_id = ANY($1::text[]) ORDER BY id`

type output struct{ runID, key, value string }

// readOutputs reads the outputs of the runs' steps.
func readOutputs(ctx context.Context, on db.Execer, list []*LiveRun) error {
	if len(list) == 0 {
		return nil
	}
	byID, ids := map[string]*LiveRun{}, make([]string, 0, len(list))
	for _, l := range list {
		l.State.Outputs = map[string]map[string]any{}
		byID[l.Run.ID] = l
		ids = append(ids, l.Run.ID)
	}
	rows, err := db.All(ctx, on, func(o *output) []any { return []any{&o.runID, &o.key, &o.value} }, outputsSQL,
		db.Array(ids))
	if err != nil {
		return fmt.Errorf("read outputs of steps: %w", err)
	}
	for _, o := range rows {
		value, err := expression.Decode([]byte(o.value))
		if err != nil {
			return fmt.Errorf("read the output %s of %s: %w", o.key, o.runID, err)
		}
		byID[o.runID].State.Outputs[o.key] = value
	}
	return nil
}

// ofPersonsSQL finds the live runs of persons, then locks them in id order, because FOR UPDATE cannot be
// combined with UNION.
const ofPersonsSQL = `
WITH person AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS p (account_id, user_id, email_key)),
found AS MATERIALIZED (
	SELECT w.id FROM person p JOIN automation_works w ON w.account_id = p.account_id AND w.user_id = p.user_id WHERE p.user_id <> ''
	UNION
	SELECT w.id FROM person p JOIN automation_works w ON w.account_id = p.account_id AND w.email_key = p.email_key WHERE p.email_key <> ''
)
SELECT id FROM automation_works WHERE id IN (SELECT id FROM found) ORDER BY id FOR UPDATE`

const byIDSQL = `SELECT ` + liveColumns + ` FROM automation_works w JOIN automation_runs r ON r.id = w.id WHERE w.id = ANY($1::text[]) ORDER BY w.id`

// Lock locks the live runs of persons until the transaction ends, and returns them.
func Lock(ctx context.Context, tx db.Execer, persons []Person) ([]*LiveRun, error) {
	var accounts, users, emails []string
	for _, p := range persons {
		accounts, users, emails = append(accounts, p.AccountID), append(users, p.UserID), append(emails, p.EmailKey)
	}
	ids, err := db.All(ctx, tx, db.Value[string], ofPersonsSQL, db.Array(accounts), db.Array(users), db.Array(emails))
	if err != nil || len(ids) == 0 {
		return nil, wrapError(err, "lock live runs")
	}
	return readLives(ctx, tx, ids)
}

const waitingSQL = `
SELECT id FROM automation_works WHERE account_id = $1 AND (user_id = $2 AND $2 <> '' OR email_key = $3 AND $3 <> '') AND state = 'waiting' ORDER BY id LIMIT $4`

// FindWaiting returns up to limit waiting runs that share the user id or the address of a person. It locks nothing.
func FindWaiting(ctx context.Context, on db.Execer, p Person, limit int) ([]*LiveRun, error) {
	ids, err := db.All(ctx, on, db.Value[string], waitingSQL, p.AccountID, p.UserID, p.EmailKey, limit)
	if err != nil || len(ids) == 0 {
		return nil, wrapError(err, "read runs that wait")
	}
	return readLives(ctx, on, ids)
}

const lockSomeSQL = `
SELECT w.id FROM automation_works w JOIN automation_runs r ON r.id = w.id
WHERE w.automation_id = $1 AND w.version > 0 AND ($2::timestamptz IS NULL OR r.started_at < $2) ORDER BY w.id LIMIT $3 FOR UPDATE OF w SKIP LOCKED`

// LockSome locks and returns up to limit live runs of an automation that started before a time; nil means any
// time. It skips runs locked by another transaction, and trials, which never count among an automation's runs.
func LockSome(ctx context.Context, tx db.Execer, automationID string, before *time.Time,
	limit int) ([]*LiveRun, error) {
	ids, err := db.All(ctx, tx, db.Value[string], lockSomeSQL, automationID, before, limit)
	if err != nil || len(ids) == 0 {
		return nil, wrapError(err, "lock runs of an automation")
	}
	return readLives(ctx, tx, ids)
}

// LockOne locks and returns a live run of an account. It returns nil if the run is not live.
func LockOne(ctx context.Context, tx db.Execer, accountID, runID string) (*LiveRun, error) {
	ids, err := db.All(ctx, tx, db.Value[string], `SELECT id FROM automation_works WHERE account_id = $1 AND id = $2 FOR UPDATE`, accountID, runID)
	if err != nil || len(ids) == 0 {
		return nil, wrapError(err, "lock a run")
	}
	list, err := readLives(ctx, tx, ids)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

func readLives(ctx context.Context, tx db.Execer, ids []string) ([]*LiveRun, error) {
	rows, err := db.All(ctx, tx, (*liveRow).columns, byIDSQL, db.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("read live runs: %w", err)
	}
	list, err := decodeLives(rows)
	if err != nil {
		return nil, err
	}
	return list, readOutputs(ctx, tx, list)
}

func decodeLives(rows []liveRow) ([]*LiveRun, error) {
	list := make([]*LiveRun, 0, len(rows))
	for i := range rows {
		l, err := rows[i].toLive()
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

func wrapError(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

const lockSQL = `SELECT pg_advisory_xact_lock(k) FROM (SELECT DISTINCT k FROM unnest($1::bigint[]) AS l (k) ORDER BY k) AS l`

// LockPerson locks persons until the transaction ends. No other transaction starts runs for them in the
// meantime.
func LockPerson(ctx context.Context, tx db.Execer, persons ...Person) error {
	var locks []int64
	for _, p := range persons {
		locks = append(locks, p.Locks()...)
	}
	if len(locks) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, lockSQL, db.Array(locks))
	return wrapError(err, "lock persons")
}
