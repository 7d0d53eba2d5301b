package webhooks

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/event"
)

// delivery is one claimed row: the worker's job.
type delivery struct {
	id        string
	fence     int64
	accountID string
	webhookID string
	eventID   string
	eventType event.Type
	eventAt   time.Time
	attempt   int // from 1, in all
	round     int // from 1, since it was queued or replayed
	data      json.RawMessage

	url       string
	secret    []byte // sealed
	previous  []byte // sealed; nil when it signs no more
	rateLimit int    // 0: none
	doubtful  bool   // counts among those whose endpoints have not proven themselves
	begun     time.Time
}

// claimSQL finds the endpoints for which something waits by skipping through the
// index, one look for each, and takes of each no more than there is room for: rows
// behind an endpoint that is down are never read. What was queued while its endpoint
// was being deleted, by a transaction that could not see that, fails. An attempt of an earlier claim
// that has no outcome was cut off; whether it was heard is unknown.
const claimSQL = `
WITH RECURSIVE waiting AS (
	(SELECT webhook_id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY webhook_id LIMIT 1)
	UNION ALL
	SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL AND d.webhook_id > w.webhook_id ORDER BY d.webhook_id LIMIT 1)
	FROM waiting w WHERE w.webhook_id IS NOT NULL
), orphaned AS (
	UPDATE webhook_deliveries d SET state = 'failed', due_at = NULL, fence = fence + 1, settled_at = now(), error = $8
	FROM waiting LEFT JOIN webhooks w ON w.id = waiting.webhook_id
	WHERE d.webhook_id = waiting.webhook_id AND d.due_at IS NOT NULL AND w.id IS NULL
), endpoints AS (
	SELECT w.id, least(coalesce(k.room, $5), CASE WHEN k.id IS NULL THEN w.rate_limit END) AS room, coalesce(k.doubtful, false) AS doubtful
	FROM waiting JOIN webhooks w ON w.id = waiting.webhook_id AND w.enabled
	LEFT JOIN unnest($2::text[], $3::bigint[], $4::bool[]) AS k (id, room, doubtful) ON k.id = w.id
), candidates AS (
	SELECT d.id, d.due_at, e.doubtful FROM endpoints e CROSS JOIN LATERAL (
		SELECT id, due_at FROM webhook_deliveries WHERE webhook_id = e.id AND due_at <= now() ORDER BY due_at LIMIT e.room FOR UPDATE SKIP LOCKED
	) d WHERE e.room > 0
), picked AS (
	SELECT id FROM (SELECT id, due_at, doubtful, row_number() OVER (PARTITION BY doubtful ORDER BY due_at) AS place FROM candidates) c
	WHERE NOT doubtful OR place <= $6 ORDER BY due_at LIMIT $1
), claimed AS (
	UPDATE webhook_deliveries d SET due_at = now() + $7 * interval '1 microsecond', fence = d.fence + 1, attempts = d.attempts + 1, round = d.round + 1
	FROM picked p WHERE d.id = p.id
	RETURNING d.id, d.fence, d.account_id, d.webhook_id, d.event_id, d.event_type, d.event_created_at, d.attempts, d.round, d.data
), cut_off AS (
	UPDATE webhook_attempts a SET outcome = 'unknown', finished_at = now()
	FROM claimed c WHERE c.attempts > 1 AND a.delivery_id = c.id AND a.outcome IS NULL
), opened AS (
	INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, remote_addr)
	SELECT id, account_id, attempts, fence, now(), '', '', '' FROM claimed
)
SELECT c.id, c.fence, c.account_id, c.webhook_id, c.event_id, c.event_type, c.event_created_at, c.attempts, c.round, coalesce(c.data, f.data)::text,
	w.url, w.secret, CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END, coalesce(w.rate_limit, 0)
FROM claimed c JOIN webhooks w ON w.id = c.webhook_id AND w.account_id = c.account_id
LEFT JOIN facts f ON f.id = c.event_id AND f.account_id = c.account_id`

// claim takes due deliveries under a lease, with what is to be said.
func (s *Service) claim(ctx context.Context, limit int, length time.Duration) ([]delivery, error) {
	l := s.flights.limits(time.Now())
	if limit = min(limit, l.most); limit <= 0 {
		return nil, nil
	}
	rows, err := s.db.QueryPrepared(ctx, claimSQL, limit, db.Texts(l.ids), pq.Array(l.rooms), pq.Array(l.doubtful), l.room, l.shared, length.Microseconds(), deleted)
	if err != nil {
		return nil, fmt.Errorf("claim webhook deliveries: %w", err)
	}
	jobs, err := scanAll(rows, func(d *delivery) []any {
		return []any{&d.id, &d.fence, &d.accountID, &d.webhookID, &d.eventID, &d.eventType, &d.eventAt, &d.attempt, &d.round, optionalJSON{&d.data},
			&d.url, &d.secret, &d.previous, &d.rateLimit}
	})
	if err != nil {
		return nil, fmt.Errorf("claim webhook deliveries: %w", err)
	}
	s.flights.begin(l, jobs, time.Now())
	return jobs, nil
}

// handBackSQL undoes a claim: no attempt was made, so none is left in the records.
const handBackSQL = `
WITH back AS (
	UPDATE webhook_deliveries d SET due_at = now(), attempts = d.attempts - 1, round = d.round - 1, fence = d.fence + 1
	FROM unnest($1::text[], $2::bigint[]) AS v (id, fence)
	WHERE d.id = v.id AND d.fence = v.fence AND d.due_at IS NOT NULL
	RETURNING d.id, v.fence
)
DELETE FROM webhook_attempts a USING back WHERE a.delivery_id = back.id AND a.fence = back.fence`

// release gives back deliveries that were claimed and never begun.
func (s *Service) release(ctx context.Context, jobs []delivery) error {
	ids, fences := make([]string, len(jobs)), make([]int64, len(jobs))
	for i, d := range jobs {
		ids[i], fences[i] = d.id, d.fence
	}
	if _, err := s.db.Hot.ExecContext(ctx, handBackSQL, pq.Array(ids), pq.Array(fences)); err != nil {
		return fmt.Errorf("hand back webhook deliveries: %w", err)
	}
	for _, d := range jobs {
		s.flights.end(d, nil)
	}
	return nil
}

// scanAll reads every row and closes rows.
func scanAll[T any](rows *sql.Rows, fields func(*T) []any) (out []T, err error) {
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// optionalJSON scans a JSON column, or leaves nil.
type optionalJSON struct{ into *json.RawMessage }

// Scan implements sql.Scanner.
func (o optionalJSON) Scan(src any) error {
	switch v := src.(type) {
	case nil:
	case []byte:
		*o.into = append(json.RawMessage{}, v...)
	case string:
		*o.into = json.RawMessage(v)
	default:
		return fmt.Errorf("json column holds %T", src)
	}
	return nil
}

const (
	pending   = string(webhookdelivery.StatePending)
	failed    = string(webhookdelivery.StateFailed)
	delivered = string(webhookdelivery.StateDelivered)
)
