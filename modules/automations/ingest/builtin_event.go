package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// SourceSystem is the source of built-in events.
const SourceSystem = "system"

// BuiltInEvent is an event that the service derives from a fact.
type BuiltInEvent struct {
	Fact    event.Fact
	Email   string // person; may be empty
	AboutID string // email, which a run may have sent; may be empty
}

// storeOwnSQL stores an event if an automation listens to it. If a run sent the email, the event's depth is
// that of the run plus one.
const storeOwnSQL = `
INSERT INTO custom_events (id, account_id, name, email, email_key, data, source, depth, matches, pending, created_at)
SELECT $1::text, $2::text, $3::text, NULLIF($4::text, ''), NULLIF($5::text, ''), $6::jsonb, '` + SourceSystem + `', coalesce((
	SELECT max(r.depth) + 1 FROM automation_steps s JOIN automation_runs r ON r.id = s.run_id WHERE s.email_id = $7::text AND s.account_id = $2::text), 0), '[]', true, clock_timestamp()
WHERE EXISTS (SELECT FROM automation_listens WHERE account_id = $8::text AND event = $3::text)
ON CONFLICT (id) DO NOTHING`

// StoreBuiltIn stores a built-in event in the caller's transaction and reports whether it stored one.
// ApplyBuiltInEvents applies the event. Its id is derived from that of the fact, so a repetition stores nothing.
func StoreBuiltIn(ctx context.Context, tx db.Execer, o BuiltInEvent) (bool, error) {
	n, err := db.Exec(ctx, tx, storeOwnSQL, ownID(o.Fact.ID), o.Fact.AccountID, BuiltInName(o.Fact.Type), o.Email,
		runs.EmailKey(o.Email), string(o.Fact.Data), o.AboutID, id.HomeAccount(o.Fact.AccountID))
	if err != nil {
		return false, fmt.Errorf("store a built-in event: %w", err)
	}
	return n > 0, nil
}

// BuiltInName returns the event name for facts of a type.
func BuiltInName(t event.Type) string { return "$" + string(t) }

// ownID returns the event id for a fact.
func ownID(factID string) string {
	return string(id.CustomEvent) + factID[len(id.Fact):]
}

// ownBatch is the maximum number of built-in events applied in one transaction.
const ownBatch = 128

const waitsSQL = `SELECT EXISTS (SELECT FROM custom_events WHERE pending)`

const pendingSQL = `
SELECT id, account_id, name, coalesce(email, ''), coalesce(email_key, ''), data::text, depth FROM custom_events
WHERE pending AND id > $1 ORDER BY id LIMIT $2`

// stillSQL selects the events that have not been erased in the meantime.
const stillSQL = `SELECT id FROM custom_events WHERE id = ANY($1::text[]) AND pending`

// turnSQL lets only one process at a time apply built-in events, so that they are applied in order.
const turnSQL = `SELECT pg_try_advisory_xact_lock(hashtextextended('own events of automations', 0))`

// ApplyBuiltInEvents applies stored built-in events, oldest first. An event that fails does not delay the others and is
// retried by the next call.
func (s *Service) ApplyBuiltInEvents(ctx context.Context) error {
	waits, err := db.One(ctx, s.db.SQL, db.Value[bool], waitsSQL)
	if err != nil || !waits {
		return err
	}
	var failed error
	for after := ""; ; {
		taken, err := s.takeSome(ctx, after, ownBatch)
		switch {
		case err != nil && (len(taken) == 0 || fault.IsDatabaseUnavailable(err)):
			return errors.Join(failed, err)
		case err != nil:
			for range taken {
				one, err := s.takeSome(ctx, after, 1)
				if len(one) == 0 {
					return errors.Join(failed, err)
				}
				failed, after = errors.Join(failed, err), one[0].event.ID
			}
		case len(taken) < ownBatch:
			return failed
		default:
			after = taken[len(taken)-1].event.ID
		}
	}
}

// takeSome applies the next events after an id in one transaction. It returns the events it found, even after
// an error.
func (s *Service) takeSome(ctx context.Context, after string, limit int) (list []*posting, err error) {
	err = s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) (err error) {
		list = nil
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v", cause) // otherwise this event would block all others
			}
		}()
		if mine, err := db.One(ctx, tx, db.Value[bool], turnSQL); err != nil || !mine {
			return err
		}
		if list, err = loadPending(ctx, tx, after, limit); err != nil || len(list) == 0 {
			return err
		}
		return s.takeOwn(ctx, tx, list)
	})
	if err != nil {
		return list, fmt.Errorf("apply built-in events: %w", err)
	}
	if len(list) > 0 {
		s.bus.Wake()
		s.signals.Wake(WorkChannel)
	}
	return list, nil
}

// pendingRow is an event that has not been applied.
type pendingRow struct {
	id, accountID, name, email, emailKey, data string
	depth                                      int
}

func (r *pendingRow) columns() []any {
	return []any{&r.id, &r.accountID, &r.name, &r.email, &r.emailKey, &r.data, &r.depth}
}

func loadPending(ctx context.Context, tx db.Execer, after string, limit int) ([]*posting, error) {
	rows, err := db.All(ctx, tx, (*pendingRow).columns, pendingSQL, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	list := make([]*posting, 0, len(rows))
	for _, r := range rows {
		data, err := expression.Decode([]byte(r.data))
		if err != nil {
			return nil, fmt.Errorf("read the event %s: %w", r.id, err)
		}
		list = append(list, &posting{Post: Post{AccountID: r.accountID, Name: r.name, Email: r.email,
			Source: SourceSystem, Depth: r.depth}, emailKey: r.emailKey, data: json.RawMessage(r.data),
			event: &machine.Event{ID: r.id, Name: r.name, Email: r.email, Data: data, Source: SourceSystem}})
	}
	return list, nil
}

var takenRows = batch.New("v",
	batch.Text("id", func(p *posting) string { return p.event.ID }),
	batch.JSON("matches", func(p *posting) []shape.EventMatch { return p.storedMatches() }),
	batch.Time("created_at", postedAt),
)

var takenSQL = db.Compile(`
UPDATE custom_events e SET pending = false, matches = v.matches::jsonb, created_at = v.created_at::timestamptz
FROM ` + takenRows.Source() + ` WHERE e.id = v.id`)

// takeOwn applies stored events, except those erased before their persons were locked.
func (s *Service) takeOwn(ctx context.Context, tx db.Execer, list []*posting) error {
	r, err := s.prepareRound(ctx, tx, list)
	if err != nil {
		return err
	}
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.event.ID
	}
	still, err := db.All(ctx, tx, db.Value[string], stillSQL, db.Array(ids))
	if err != nil {
		return fmt.Errorf("read events again: %w", err)
	}
	there := make(map[string]bool, len(still))
	for _, id := range still {
		there[id] = true
	}
	var found []*posting
	for _, p := range list {
		if there[p.event.ID] {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil
	}
	if err := r.takeAll(ctx, found); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, takenSQL.Text, takenSQL.Args(takenRows.Rows(found))...); err != nil {
		return fmt.Errorf("store the effects of events: %w", err)
	}
	return r.apply(ctx)
}
