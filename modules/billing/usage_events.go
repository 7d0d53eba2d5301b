package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// Publisher is the part of the bus that publishes reached usage.
type Publisher interface {
	Publish(ctx context.Context, tx db.Execer, facts ...event.Fact) error
	Wake()
}

// usageEvents publishes an event once per account, threshold of usage and month: the transaction that publishes it
// also records this in billing_notices, without a user. It is safe for concurrent use, including across processes.
type usageEvents struct {
	db  *db.DB
	bus Publisher
}

const dueUsageSQL = usedSQL + `
SELECT r.account_id, r.kind, r.period, r.number, r.emails FROM reached r
 WHERE NOT EXISTS (SELECT FROM billing_notices n WHERE n.account_id = r.account_id AND n.kind = r.kind AND n.period = r.period)
 ORDER BY r.account_id, r.kind LIMIT $1`

type reachedUsage struct {
	event.ReachedUsage

	kind string
}

// newEvent returns the payload, with the properties that the kind contains.
func (u reachedUsage) newEvent() event.ReachedUsage {
	var threshold string
	u.Cap, threshold, _ = strings.Cut(u.kind, "_")
	if u.Percent = 80; threshold == "reached" {
		u.Percent = 100
	}
	return u.ReachedUsage
}

// Run publishes the events that are due.
func (s *usageEvents) Run(ctx context.Context) error {
	list, err := db.All(ctx, s.db.SQL, func(u *reachedUsage) []any {
		return []any{&u.AccountID, &u.kind, &u.Month, &u.Limit, &u.Emails}
	}, dueUsageSQL, noticeBatch)
	if err != nil {
		return fmt.Errorf("usage events: %w", err)
	}
	var failed []error
	for _, u := range list {
		failed = append(failed, s.publish(ctx, u))
	}
	if len(list) > 0 {
		s.bus.Wake()
	}
	return errors.Join(failed...)
}

func (s *usageEvents) publish(ctx context.Context, u reachedUsage) error {
	return s.db.InTx(ctx, func(tx *ent.Tx) error {
		noted, err := db.Exec(ctx, tx, noteSQL, u.AccountID, u.kind, u.Month)
		if err != nil || noted == 0 {
			return err
		}
		at, err := db.Now(ctx, tx)
		if err != nil {
			return err
		}
		return s.bus.Publish(ctx, tx, event.New(u.AccountID, event.AccountUsageReached, at, u.newEvent()))
	})
}
