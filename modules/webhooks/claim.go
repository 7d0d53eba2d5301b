package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// delivery is a claimed delivery: one job of the worker.
type delivery struct {
	id        string
	fence     int64
	accountID string
	webhookID string
	eventID   string
	eventType event.Type
	eventAt   time.Time
	attempt   int // starts at 1 and counts over the whole life of the delivery
	round     int // starts at 1 when the delivery is queued or replayed
	data      json.RawMessage

	url      string
	secret   []byte // sealed
	previous []byte // sealed; nil once it no longer signs
	headers  []byte // sealed; nil: none
	again    int64  // microseconds until the endpoint's rate limit admits another delivery; 0: now
	doubtful bool   // counts against the limit that slow and untested endpoints share
	begun    time.Time

	first *firstClaim // nil: the delivery has a work row
}

// waitingSQL finds the endpoints with pending deliveries by a loose index scan: one index lookup per
// endpoint.
const waitingSQL = `
WITH RECURSIVE waiting AS (
	(SELECT webhook_id FROM webhook_works ORDER BY webhook_id LIMIT 1)
	UNION ALL
	SELECT (SELECT q.webhook_id FROM webhook_works q WHERE q.webhook_id > w.webhook_id ORDER BY q.webhook_id LIMIT 1)
	FROM waiting w WHERE w.webhook_id IS NOT NULL
)`

// claimSQL claims deliveries of each endpoint up to that endpoint's free capacity, so it never reads the
// backlog of an endpoint that is down. Deliveries queued by a transaction that could not see the deletion of
// their endpoint fail. An attempt of an earlier claim that has no outcome was interrupted; whether the endpoint
// received it is unknown.
//
// The rate limit of an endpoint applies across all processes: claimed deliveries are counted in its row by the
// generic cell rate algorithm, as in package ratelimit, with the endpoint's capacity as the burst. The row is
// locked first, so that the decision uses its newest state. An endpoint whose row is locked by another claim is
// skipped. No row is locked if the rate limit admits nothing yet or nothing is due. A row cannot legitimately
// be further ahead than its burst. If it is ahead by more than the burst plus clockstep.StatementDelay, it was
// written before the database clock stepped back or under another rate, and is ignored. If it is ahead by less,
// the writer may have started after this statement, and the endpoint must wait.
//
// First attempts get no rows of their own: their work rows become one row of webhook_claims.
//
// If @until is set, nothing is claimed from that time on: the process that sent the statement may have been cut
// off since, and other processes may be about to store the outcomes of the due deliveries.
var claimSQL = db.Compile(waitingSQL + `, orphaned AS (
	DELETE FROM webhook_works q USING waiting LEFT JOIN webhooks w ON w.id = waiting.webhook_id
	WHERE q.webhook_id = waiting.webhook_id AND w.id IS NULL
	RETURNING q.id
), ended AS (
	UPDATE webhook_deliveries d SET state = 'failed', failed = true, due_at = NULL, settled_at = now(), error = @deleted FROM orphaned o WHERE d.id = o.id
), rated AS (
	SELECT w.id, rate.every, rate.most, CASE WHEN w.rate_full_at > now() + (rate.most + @delay) * interval '1 microsecond' THEN 0 ELSE greatest((extract(epoch FROM w.rate_full_at - now()) * 1000000)::bigint, 0) END AS ahead
	FROM webhooks w CROSS JOIN LATERAL (SELECT every, every * least(w.rate_limit, @per_endpoint) AS most FROM (SELECT ceil(1000000.0 / w.rate_limit)::bigint AS every) r) rate
	WHERE w.id IN (SELECT webhook_id FROM waiting) AND w.enabled AND w.rate_limit IS NOT NULL
		AND (w.rate_full_at IS NULL OR w.rate_full_at <= now() + (rate.most - rate.every) * interval '1 microsecond' OR w.rate_full_at > now() + (rate.most + @delay) * interval '1 microsecond')
		AND EXISTS (SELECT FROM webhook_works q WHERE q.webhook_id = w.id AND q.due_at <= now())
	ORDER BY w.id FOR UPDATE OF w SKIP LOCKED
), endpoints AS (
	SELECT w.id, least(coalesce(k.room, @room), CASE WHEN r.id IS NOT NULL THEN greatest((r.most - r.ahead) / r.every, 0) END) AS room, coalesce(k.doubtful, false) AS doubtful
	FROM waiting JOIN webhooks w ON w.id = waiting.webhook_id AND w.enabled
	LEFT JOIN rated r ON r.id = w.id
	LEFT JOIN ` + roomRows.Source() + ` ON k.id = w.id
	WHERE w.rate_limit IS NULL OR r.id IS NOT NULL
), candidates AS (
	SELECT q.id, q.due_at, e.doubtful FROM endpoints e CROSS JOIN LATERAL (
		SELECT id, due_at FROM webhook_works WHERE webhook_id = e.id AND due_at <= now() AND (@until::timestamptz IS NULL OR now() < @until)
		ORDER BY due_at LIMIT e.room FOR UPDATE SKIP LOCKED
	) q WHERE e.room > 0
), picked AS (
	SELECT id FROM (SELECT id, due_at, doubtful, row_number() OVER (PARTITION BY doubtful ORDER BY due_at) AS place FROM candidates) c
	WHERE NOT doubtful OR place <= @shared ORDER BY due_at LIMIT @limit
), taken AS (
	UPDATE webhook_works q SET due_at = now() + @lease * interval '1 microsecond', fence = q.fence + 1, attempts = q.attempts + 1, round = q.round + 1
	FROM picked p WHERE q.id = p.id AND (q.attempts > 0 OR q.fence > 0)
	RETURNING q.id, q.fence, q.attempts, q.round
), fresh AS (
	DELETE FROM webhook_works q USING picked p WHERE q.id = p.id AND q.attempts = 0 AND q.fence = 0
	RETURNING q.id
), together AS (
	INSERT INTO webhook_claims (due_at, started_at, node, delivery_ids)
	SELECT now() + @lease * interval '1 microsecond', now(), NULLIF(@node::int, 0), array_agg(id ORDER BY id) FROM fresh HAVING count(*) > 0
	RETURNING id
), claimed AS (
	SELECT t.id, t.fence, d.account_id, d.webhook_id, d.event_id, d.event_type, d.event_created_at, t.attempts, t.round, d.data, t.claim
	FROM (
		SELECT id, fence, attempts, round, 0::bigint AS claim FROM taken
		UNION ALL SELECT f.id, 1, 1, 1, c.id FROM fresh f CROSS JOIN together c
	) t JOIN webhook_deliveries d ON d.id = t.id
), counted AS (
	SELECT r.id, r.most, r.every, r.ahead + count(*) * r.every AS ahead FROM rated r JOIN claimed c ON c.webhook_id = r.id GROUP BY r.id, r.most, r.every, r.ahead
), used AS (
	UPDATE webhooks w SET rate_full_at = now() + c.ahead * interval '1 microsecond' FROM counted c WHERE w.id = c.id
), cut_off AS (
	UPDATE webhook_attempts a SET outcome = 'unknown', finished_at = now()
	FROM claimed c WHERE c.attempts > 1 AND a.delivery_id = c.id AND a.outcome IS NULL
), opened AS (
	INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, remote_addr, node)
	SELECT id, account_id, attempts, fence, now(), '', '', '', NULLIF(@node::int, 0) FROM claimed WHERE claim = 0
)
SELECT c.id, c.fence, c.account_id, c.webhook_id, c.event_id, c.event_type, c.event_created_at, c.attempts, c.round, coalesce(c.data, f.data)::text,
	w.url, w.secret, CASE WHEN w.previous_secret_until > now() THEN w.previous_secret END, w.headers,
	greatest(coalesce(u.ahead + u.every - u.most, 0), 0), c.claim, now()
FROM claimed c JOIN webhooks w ON w.id = c.webhook_id AND w.account_id = c.account_id
LEFT JOIN counted u ON u.id = c.webhook_id
LEFT JOIN facts f ON f.id = c.event_id AND f.account_id = c.account_id`)

// roomRows lists the endpoints whose capacity differs from the default.
var roomRows = batch.New("k",
	batch.Text("id", func(a allowance) string { return a.webhookID }),
	batch.Int("room", func(a allowance) int { return a.more }),
	batch.Bool("doubtful", func(a allowance) bool { return a.doubtful }),
)

// claim claims due deliveries under a lease and loads the data to send.
func (s *deliverer) claim(ctx context.Context, limit int, length time.Duration) ([]delivery, error) {
	if err := s.expireClaims(ctx); err != nil {
		return nil, err
	}
	s.taking.lock()
	defer s.taking.unlock()
	l := s.flights.claimLimits(time.Now())
	if limit = min(limit, l.most); limit <= 0 {
		return nil, nil
	}
	rows, err := db.All(ctx, s.db.Prepared, func(d *claimedRow) []any {
		return []any{&d.id, &d.fence, &d.accountID, &d.webhookID, &d.eventID, &d.eventType, &d.eventAt, &d.attempt,
			&d.round, (*[]byte)(&d.data), &d.url, &d.secret, &d.previous, &d.headers, &d.again, &d.claimID, &d.claimedAt}
	}, claimSQL.Text, claimSQL.Args(roomRows.Rows(l.rooms), db.Arg("room", l.room), db.Arg("shared", l.shared),
		db.Arg("per_endpoint", maxPerEndpoint), db.Arg("delay", clockstep.StatementDelay.Microseconds()),
		db.Arg("limit", limit), db.Arg("lease", length.Microseconds()), db.Arg("deleted", endpointDeleted),
		db.Arg("until", s.claimsUntil()), db.Arg("node", s.node.ID()))...)
	if err != nil {
		return nil, fmt.Errorf("claim webhook deliveries: %w", err)
	}
	jobs := jobsOf(rows)
	s.flights.begin(l, jobs, time.Now())
	return jobs, nil
}

// claimedRow is a delivery as a claiming statement returns it.
type claimedRow struct {
	delivery

	claimID   int64 // of webhook_claims; 0: none
	claimedAt time.Time
}

// jobsOf returns the deliveries of a statement, which writes at most one row of webhook_claims.
func jobsOf(rows []claimedRow) []delivery {
	jobs, first := make([]delivery, len(rows)), (*firstClaim)(nil)
	for i, r := range rows {
		if jobs[i] = r.delivery; r.claimID == 0 {
			continue
		}
		if first == nil {
			first = &firstClaim{id: r.claimID, startedAt: r.claimedAt}
		}
		first.add(&jobs[i])
	}
	return jobs
}

// claimsUntil returns the deadline for claims by the database clock; nil: none.
func (s *deliverer) claimsUntil() *time.Time {
	if at := s.node.ClaimsUntil(); !at.IsZero() {
		return &at
	}
	return nil
}

const (
	pending   = string(webhookdelivery.StatePending)
	failed    = string(webhookdelivery.StateFailed)
	delivered = string(webhookdelivery.StateDelivered)
)
