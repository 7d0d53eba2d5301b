package webhooks

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Summary is what a list shows of the event of a delivery. Fields that the event lacks are empty, as are those of an
// erased event.
type Summary struct {
	Test                        bool // a test event, which nothing caused
	EmailID, Recipient, Subject string
}

const summariesSQL = `
SELECT d.id, d.data IS NOT NULL, coalesce(e.data->>'email_id', ''),
       coalesce(e.data->>'recipient', e.data->>'email', e.data->'to'->>0, e.data->>'from', ''), coalesce(e.data->>'subject', '')
  FROM webhook_deliveries d LEFT JOIN facts f ON f.id = d.event_id AND f.account_id = d.account_id
 CROSS JOIN LATERAL (SELECT coalesce(d.data, f.data) AS data) e
 WHERE d.id = ANY($1) AND d.account_id = $2`

// Summaries returns the summaries of the account's deliveries by delivery id.
func (s *Service) Summaries(ctx context.Context, accountID string, deliveryIDs ...string) (map[string]Summary, error) {
	type row struct {
		Summary

		id string
	}
	rows, err := db.All(ctx, s.db.SQL, func(r *row) []any {
		return []any{&r.id, &r.Test, &r.EmailID, &r.Recipient, &r.Subject}
	}, summariesSQL, db.Array(deliveryIDs), accountID)
	if err != nil {
		return nil, fmt.Errorf("summarize webhook deliveries: %w", err)
	}
	found := make(map[string]Summary, len(rows))
	for _, r := range rows {
		found[r.id] = r.Summary
	}
	return found, nil
}
