package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/webhook"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// Figures are counts of deliveries that were made within some time.
type Figures struct {
	Deliveries int64
	Succeeded  int64 // were answered with 2xx
	Failed     int64 // have used up their attempts
	Attempts   int64 // that are over

	Half, Most time.Duration // from the event to the answer with 2xx, of 50 and 95 of 100; 0: there was none
}

// EndpointFigures are those of one endpoint.
type EndpointFigures struct {
	Webhook *ent.Webhook
	Figures Figures
}

// longestRange is a little longer than deliveries are kept.
const longestRange = 31 * 24 * time.Hour

const figuresSQL = `
SELECT coalesce(webhook_id, ''), count(*), count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed'), coalesce(sum(attempts), 0)::bigint,
	coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY took), 0)::float8, coalesce(percentile_disc(0.95) WITHIN GROUP (ORDER BY took), 0)::float8
  FROM (SELECT webhook_id, state, attempts, CASE WHEN state = 'delivered' THEN greatest(extract(epoch FROM settled_at - event_created_at), 0) END AS took
	  FROM webhook_deliveries WHERE webhook_id = ANY($1) AND account_id = $2 AND id >= $3 AND id < $4 AND created_at >= $5 AND created_at < $6) d
 GROUP BY GROUPING SETS ((webhook_id), ())`

// Figures tells how the account's endpoints have answered what was delivered from since until before
// until: all together, and each, the oldest first. With an id it is of that endpoint alone. Errors:
// NotFound, and Invalid naming range.
func (s *Service) Figures(ctx context.Context, accountID, webhookID string, since, until time.Time) (all Figures, each []EndpointFigures, err error) {
	if !since.Before(until) || until.Sub(since) > longestRange {
		return all, nil, fault.InvalidField("range", "must begin before it ends, and have at most 31 days")
	}
	query := s.db.Ent.Webhook.Query().Where(webhook.AccountID(accountID)).Order(webhook.ByID())
	if webhookID != "" {
		if _, err := s.Get(ctx, accountID, webhookID); err != nil {
			return all, nil, err
		}
		query.Where(webhook.ID(webhookID))
	}
	endpoints, err := query.All(ctx)
	if err != nil {
		return all, nil, fmt.Errorf("figures of webhooks: %w", err)
	}
	ids := make([]string, len(endpoints))
	for i, w := range endpoints {
		ids[i] = w.ID
	}
	type row struct {
		id string
		Figures
	}
	// Ids tell the time to within what a transaction takes.
	found, err := db.All(ctx, s.db.SQL, func(r *row) []any {
		return []any{&r.id, &r.Deliveries, &r.Succeeded, &r.Failed, &r.Attempts, (*seconds)(&r.Half), (*seconds)(&r.Most)}
	}, figuresSQL, db.Array(ids), accountID, id.Since(id.WebhookDelivery, since.Add(-time.Minute)), id.Since(id.WebhookDelivery, until.Add(time.Minute)), since, until)
	if err != nil {
		return all, nil, fmt.Errorf("figures of webhooks: %w", err)
	}
	by := map[string]Figures{}
	for _, r := range found {
		by[r.id] = r.Figures
	}
	for _, w := range endpoints {
		each = append(each, EndpointFigures{w, by[w.ID]})
	}
	return by[""], each, nil
}

// seconds reads a number of seconds.
type seconds time.Duration

// Scan implements sql.Scanner.
func (s *seconds) Scan(value any) error {
	n, is := value.(float64)
	if !is {
		return fmt.Errorf("%v is no number of seconds", value)
	}
	*s = seconds(n * float64(time.Second))
	return nil
}
