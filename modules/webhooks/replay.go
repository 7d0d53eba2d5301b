package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/webhook"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/event"
)

// replaySQL queues settled deliveries again with the full retry schedule. Fencing numbers are never reused.
const replaySQL = `
WITH again AS (
	UPDATE webhook_deliveries SET state = 'pending', failed = NULL, due_at = now(), replays = replays + 1, settled_at = NULL
	WHERE id = ANY($1) AND account_id = $2 AND state <> 'pending'
	RETURNING id, webhook_id, due_at, attempts
)
INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round)
SELECT id, webhook_id, due_at, (SELECT coalesce(max(a.fence), 0) + 1 FROM webhook_attempts a WHERE a.delivery_id = again.id), attempts, 0 FROM again`

// StoreReplayResponse stores the caller's response in the transaction that queues a delivery again. Its error
// rolls back the transaction and is returned.
type StoreReplayResponse func(ctx context.Context, tx idempotency.Execer, queued *ent.WebhookDelivery) error

// Replay queues the delivery of an event again, whatever its earlier outcome. keep may be nil. It returns
// Conflict if the delivery is pending, if its endpoint is disabled or deleted, or if the event was erased.
func (s *Service) Replay(ctx context.Context, accountID, deliveryID string,
	keep StoreReplayResponse) (*ent.WebhookDelivery, error) {
	found, err := s.Delivery(ctx, accountID, deliveryID)
	if err != nil {
		return nil, err
	}
	body, err := s.Body(ctx, found)
	if err != nil {
		return nil, err
	}
	if body == nil {
		return nil, fault.Conflictf(fault.CodeConflict, "The event of this delivery has been erased")
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		endpoint, err := lockEndpoint(ctx, tx, accountID, found.WebhookID)
		switch {
		case fault.KindOf(err) == fault.NotFound && err != nil:
			return fault.Conflictf(fault.CodeConflict, "The endpoint of this delivery has been deleted")
		case err != nil:
			return err
		case !endpoint.Enabled:
			return errDisabled()
		}
		if n, err := db.Exec(ctx, tx, replaySQL, db.Array([]string{deliveryID}), accountID); err != nil || n == 0 {
			return pendingConflict(err)
		}
		found, err = tx.WebhookDelivery.Query().
			Where(webhookdelivery.ID(deliveryID), webhookdelivery.AccountID(accountID)).Only(ctx)
		if err != nil || keep == nil {
			return err
		}
		return keep(ctx, tx, found)
	})
	if err != nil {
		return nil, fmt.Errorf("replay webhook delivery: %w", err)
	}
	s.signals.Wake(deliveryChannel)
	return found.Unwrap(), nil
}

func errDisabled() error {
	return fault.Conflictf(fault.CodeConflict, "The endpoint is disabled; enable it first")
}

func pendingConflict(err error) error {
	if err != nil {
		return err
	}
	return fault.Conflictf(fault.CodeConflict, "This delivery is still pending")
}

const (
	// Retention is how long after their events deliveries can be read and replayed. Recover goes back equally
	// far.
	Retention = 30 * 24 * time.Hour
	// deleteAfter is the age at which deliveries are deleted. It leaves one day for the attempts of the oldest
	// deliveries that Recover can create.
	deleteAfter = Retention + 24*time.Hour
	// recoverMost is the maximum number of deliveries per call of Recover; another call continues.
	recoverMost = 10_000
	recoverPage = 500
)

// Recovery is the input of Recover.
type Recovery struct {
	Since      time.Time
	Until      *time.Time // nil: now
	OnlyFailed bool       // failed deliveries only, not events without a delivery
	// Keep stores the caller's response in the last transaction of Recover and may be nil. Its error rolls back
	// that transaction and is returned. Deliveries that earlier transactions queued stay queued, and are not
	// queued twice.
	Keep func(ctx context.Context, tx idempotency.Execer, done RecoveryResult) error
}

// RecoveryResult is the result of Recover.
type RecoveryResult struct {
	Count   int  // queued deliveries
	HasMore bool // more remain; call again
}

// Recover queues the events of a period that an endpoint subscribes to and did not receive: failed deliveries,
// and events that have no delivery because the endpoint was disabled. A second call queues nothing twice.
func (s *Service) Recover(ctx context.Context, accountID, webhookID string, in Recovery) (RecoveryResult, error) {
	var done RecoveryResult
	endpoint, err := s.Get(ctx, accountID, webhookID)
	if err != nil {
		return done, err
	}
	now := time.Now()
	wrong := fault.Fields{}
	if in.Since.After(now) {
		wrong.Add("since", "cannot be in the future")
	}
	if in.Until != nil && in.Until.Before(in.Since) {
		wrong.Add("until", "cannot be before since")
	}
	if err := wrong.Err(); err != nil {
		return done, err
	}
	if !endpoint.Enabled {
		return done, errDisabled()
	}
	if oldest := now.Add(-Retention); in.Since.Before(oldest) {
		in.Since = oldest
	}
	if in.Until == nil {
		in.Until = &now
	}
	// Ids are ordered by time, and the clocks of two processes may differ slightly.
	after := id.Since(id.Fact, in.Since.Add(-time.Minute))
	for done.Count < recoverMost {
		next, last, err := s.recoverPage(ctx, endpoint, in, after, done)
		if err != nil {
			return done, fmt.Errorf("recover webhook deliveries: %w", err)
		}
		done = next
		if after = last; last == "" {
			break
		}
	}
	s.signals.Wake(deliveryChannel)
	return done, nil
}

// missedSQL reads the next events that the endpoint subscribes to and has not received.
var missedSQL = `
SELECT f.id, f.type, f.created_at, coalesce(d.id, '') FROM facts f
JOIN webhooks w ON w.id = $2 AND w.account_id = f.account_id
LEFT JOIN webhook_deliveries d ON d.webhook_id = w.id AND d.event_id = f.id
WHERE f.account_id = $1 AND f.id > $3 AND f.id < $4 AND f.type = ANY($5) AND f.created_at >= $6 AND f.created_at <= $7
	AND (d.state = 'failed' OR (d.id IS NULL AND NOT $8 AND ` + matchesSQL("f.subject_id") + `))
ORDER BY f.id LIMIT $9`

// missedEvent is an event that an endpoint did not receive.
type missedEvent struct {
	fact       event.Fact
	deliveryID string // empty: the event has no delivery
}

// recoverPage queues the next deliveries and adds them to the result. last is empty after the last page.
func (s *Service) recoverPage(ctx context.Context, endpoint *ent.Webhook, in Recovery, after string,
	done RecoveryResult) (next RecoveryResult, last string, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		next = done
		// The lock prevents the endpoint from being disabled or deleted in the meantime.
		if _, err := tx.Webhook.Query().Where(webhook.ID(endpoint.ID), webhook.AccountID(endpoint.AccountID),
			webhook.Enabled(true)).ForShare().Only(ctx); err != nil {
			if ent.IsNotFound(err) {
				return errDisabled()
			}
			return err
		}
		list, err := db.All(ctx, tx, func(m *missedEvent) []any {
			return []any{&m.fact.ID, &m.fact.Type, &m.fact.CreatedAt,
				&m.deliveryID}
		},
			missedSQL, endpoint.AccountID, endpoint.ID, after, id.Since(id.Fact, in.Until.Add(time.Minute)),
			db.Array(s.Events(endpoint)), in.Since, *in.Until, in.OnlyFailed, recoverPage)
		if err != nil {
			return err
		}
		queued, err := s.queueMissed(ctx, tx, endpoint, list)
		if err != nil {
			return err
		}
		if last = ""; len(list) == recoverPage {
			last = list[recoverPage-1].fact.ID
		}
		next.Count += queued
		next.HasMore = last != "" && next.Count >= recoverMost
		if in.Keep != nil && (last == "" || next.HasMore) {
			return in.Keep(ctx, tx, next)
		}
		return nil
	})
	return next, last, err
}

// queueMissed queues the missed events of an endpoint and returns the number of queued deliveries.
func (s *Service) queueMissed(ctx context.Context, tx *ent.Tx, endpoint *ent.Webhook,
	list []missedEvent) (queued int, err error) {
	var again []string
	for _, m := range list {
		if m.deliveryID != "" {
			again = append(again, m.deliveryID)
			continue
		}
		m.fact.AccountID = endpoint.AccountID
		made, err := queueDelivery(ctx, tx, m.fact, endpoint.ID)
		if err != nil {
			return 0, err
		}
		queued += len(made)
	}
	n, err := db.Exec(ctx, tx, replaySQL, db.Array(again), endpoint.AccountID)
	return queued + n, err
}
