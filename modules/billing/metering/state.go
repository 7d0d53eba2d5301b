package metering

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// BillingState is the state of billing.
type BillingState struct {
	Customers int64
	Due       int64 // due for a sync
	Failing   int64 // whose last syncs failed
	PastDue   int64 // subscriptions
	LastEvent *time.Time
	Backlog   Backlog
	Problems  []BillingProblem
}

// BillingProblem is a problem of one account: two subscriptions, an unknown price, or a dispute.
type BillingProblem struct{ AccountID, What string }

const (
	stateSQL = `
SELECT count(*), count(*) FILTER (WHERE sync_due_at <= now()), count(*) FILTER (WHERE failures > 0),
	(SELECT count(*) FROM billing_subscriptions WHERE status = 'past_due'), (SELECT max(received_at) FROM billing_events) FROM billing_customers`
	// A dispute is open from its first event to its last one. Events are kept for 60 days.
	problemsSQL = `
SELECT id, p FROM billing_customers, jsonb_array_elements_text(problems) p WHERE problems <> '[]'
UNION ALL
SELECT c.id, 'A payment is disputed' FROM billing_customers c JOIN (
	SELECT customer_id FROM billing_events WHERE type IN ('charge.dispute.created', 'charge.dispute.closed')
	 GROUP BY customer_id HAVING count(*) FILTER (WHERE type = 'charge.dispute.created') > count(*) FILTER (WHERE type = 'charge.dispute.closed')) d ON d.customer_id = c.customer_id
 ORDER BY 1, 2 LIMIT 100`
)

// ReadState reads the state. It does not call the payment provider.
func ReadState(ctx context.Context, d *db.DB, meter *Service) (BillingState, error) {
	out, err := db.One(ctx, d.SQL,
		func(o *BillingState) []any { return []any{&o.Customers, &o.Due, &o.Failing, &o.PastDue, &o.LastEvent} },
		stateSQL)
	if err != nil {
		return out, fmt.Errorf("billing state: %w", err)
	}
	if out.Problems, err = db.All(ctx, d.SQL, func(p *BillingProblem) []any { return []any{&p.AccountID, &p.What} },
		problemsSQL); err != nil {
		return out, fmt.Errorf("billing state: %w", err)
	}
	out.Backlog, err = meter.Backlog(ctx)
	return out, err
}
