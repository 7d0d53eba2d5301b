package webhooks

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// failingAfter is the number of consecutive failed deliveries after which an endpoint is disabled.
const failingAfter = 30

// hasFactSQL reports whether the event of the delivery d exists. With EXISTS, a plan made while the table was empty
// could read all of it.
const hasFactSQL = `(SELECT true FROM facts f WHERE f.id = d.event_id LIMIT 1) IS NOT NULL`

// settleSQL always stores the outcome of an attempt, no matter which process holds the delivery by now. The
// delivery changes only under the fencing number of the claim that made the attempt. Settling raises the
// fencing number or deletes the work row, so a batch can be repeated if the result of its commit was lost. Only
// the holder of a work row changes the row of its delivery. If the event was erased, the response is not stored
// because its body and its header fields may quote the event.
var settleSQL = db.Compile(`
WITH done AS (
	SELECT * FROM ` + attemptRows.Source() + `
), tried AS (
	UPDATE webhook_attempts a SET finished_at = clock_timestamp(), outcome = v.outcome, status_code = NULLIF(v.status, 0), error = v.error,
		response = CASE WHEN kept.event THEN v.response ELSE '' END,
		response_headers = CASE WHEN kept.event THEN NULLIF(v.headers, '') END,
		remote_addr = v.remote, duration_ms = v.took
	FROM done v JOIN webhook_deliveries d ON d.id = v.id
	CROSS JOIN LATERAL (SELECT d.data IS NOT NULL OR ` + hasFactSQL + ` AS event) kept
	WHERE a.delivery_id = v.id AND a.fence = v.fence
), again AS (
	UPDATE webhook_works q SET due_at = now() + v.wait * interval '1 microsecond', fence = q.fence + 1
	FROM done v WHERE q.id = v.id AND q.fence = v.fence AND v.state = 'pending'
	RETURNING q.id, q.due_at
), over AS (
	DELETE FROM webhook_works q USING done v WHERE q.id = v.id AND q.fence = v.fence AND v.state <> 'pending'
	RETURNING q.id
), held AS (
	SELECT id, due_at FROM again UNION ALL SELECT id, NULL FROM over
)
UPDATE webhook_deliveries d SET state = v.state, attempts = v.attempt, status_code = NULLIF(v.status, 0), error = v.error, due_at = h.due_at,
	settled_at = CASE WHEN v.state <> 'pending' THEN clock_timestamp() END, failed = CASE WHEN v.state = 'failed' THEN true END
FROM done v JOIN held h ON h.id = v.id WHERE d.id = v.id
RETURNING d.webhook_id, d.state`)

// settleFirstSQL stores the outcomes of first attempts (firstClaim). The deliveries change only while the row of
// their claim exists, which is locked against the end of its lease. A batch can be repeated, because a delivery with
// an outcome counts a finished attempt. If the lease has ended, the attempt has a row whose outcome is unknown
// until now.
var settleFirstSQL = db.Compile(`
WITH done AS (
	SELECT * FROM ` + firstAttemptRows.Source() + `
), closed AS (
	DELETE FROM webhook_claims WHERE id = ANY(@closed::bigint[]) RETURNING id
), open AS (
	SELECT id FROM webhook_claims WHERE id = ANY(@open::bigint[]) ORDER BY id FOR UPDATE
), held AS (
	SELECT id FROM closed UNION ALL SELECT id FROM open
), tried AS (
	INSERT INTO webhook_attempts AS a (delivery_id, account_id, number, fence, started_at, finished_at, outcome, status_code, error, response, response_headers,
		remote_addr, duration_ms, node)
	SELECT d.id, d.account_id, 1, v.fence, v.began::timestamptz, clock_timestamp(), v.outcome, NULLIF(v.status, 0), v.error,
		CASE WHEN kept.event THEN v.response ELSE '' END, CASE WHEN kept.event THEN NULLIF(v.headers, '') END, v.remote, v.took, NULLIF(@node::int, 0)
	FROM done v JOIN webhook_deliveries d ON d.id = v.id
	CROSS JOIN LATERAL (SELECT d.data IS NOT NULL OR ` + hasFactSQL + ` AS event) kept
	ON CONFLICT (delivery_id, fence) DO UPDATE SET finished_at = EXCLUDED.finished_at, outcome = EXCLUDED.outcome, status_code = EXCLUDED.status_code,
		error = EXCLUDED.error, response = EXCLUDED.response, response_headers = EXCLUDED.response_headers, remote_addr = EXCLUDED.remote_addr,
		duration_ms = EXCLUDED.duration_ms
), changed AS (
	UPDATE webhook_deliveries d SET state = v.state, attempts = v.attempt, status_code = NULLIF(v.status, 0), error = v.error,
		due_at = CASE WHEN v.state = 'pending' THEN now() + v.wait * interval '1 microsecond' END,
		settled_at = CASE WHEN v.state <> 'pending' THEN clock_timestamp() END, failed = CASE WHEN v.state = 'failed' THEN true END
	FROM done v JOIN held h ON h.id = v.claim WHERE d.id = v.id AND d.state = 'pending' AND d.attempts = 0
	RETURNING d.id, d.webhook_id, d.state, d.due_at
), again AS (
	INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, due_at, 1, 1, 1 FROM changed WHERE state = 'pending'
	ON CONFLICT DO NOTHING
)
SELECT webhook_id, state FROM changed`)

// attempt is a claimed delivery with its result and its verdict.
type attempt struct {
	delivery
	answer
	verdict
}

var (
	attemptRows      = batch.New("v", attemptColumns...)
	firstAttemptRows = batch.New("v", append(slices.Clone(attemptColumns),
		batch.Int("claim", func(a *attempt) int64 { return a.first.id }),
		batch.Time("began", func(a *attempt) time.Time { return a.first.startedAt }))...)
)

var attemptColumns = []batch.Column[*attempt]{
	batch.Text("id", func(a *attempt) string { return a.id }),
	batch.Int("fence", func(a *attempt) int64 { return a.fence }),
	batch.Int("attempt", func(a *attempt) int { return a.delivery.attempt }),
	batch.Text("state", func(a *attempt) webhookdelivery.State { return a.state }),
	batch.Int("wait", func(a *attempt) int64 { return a.wait.Microseconds() }),
	batch.Text("outcome", func(a *attempt) webhookattempt.Outcome { return a.outcome }),
	batch.Int("status", func(a *attempt) int { return a.Status }),
	batch.Text("error", func(a *attempt) string { return a.Failure }),
	batch.Text("response", func(a *attempt) string { return a.Response }),
	batch.Text("headers", func(a *attempt) string { return a.Headers }),
	batch.Text("remote", func(a *attempt) string { return a.Remote }),
	batch.Int("took", func(a *attempt) int64 { return a.took.Milliseconds() }),
}

// switchOffSQL disables an endpoint.
const switchOffSQL = `
UPDATE webhooks SET enabled = false, disabled_at = now(), disabled_reason = $2, updated_at = clock_timestamp()
WHERE id = $1 AND enabled RETURNING account_id, url, disabled_at`

// failingSQL checks the latest deliveries settled since the endpoint was last changed, so that enabling an
// endpoint resets the count.
const failingSQL = `
SELECT count(*) = $2 AND bool_and(latest.state = 'failed') FROM webhooks w CROSS JOIN LATERAL (
	SELECT d.state FROM webhook_deliveries d
	WHERE d.webhook_id = w.id AND d.state <> 'pending' AND d.settled_at > w.updated_at ORDER BY d.id DESC LIMIT $2
) latest WHERE w.id = $1 AND w.enabled`

type settledDelivery struct{ webhookID, state string }

type disabledEndpoint struct {
	accountID, url string
	at             time.Time
}

// settle stores the outcomes of a batch of attempts. Usually none has failed permanently, and a single
// statement suffices.
func (s *deliverer) settle(ctx context.Context, results []worker.Result[delivery, answer]) error {
	batch := s.judgeAll(results)
	if batch.failures || len(batch.first) > 0 && len(batch.later) > 0 {
		return s.settleInTx(ctx, batch)
	}
	if _, err := s.storeOutcomes(ctx, s.db.Prepared, batch); err != nil {
		return err
	}
	s.finish(batch)
	return nil
}

// finish counts attempts whose outcomes are stored.
func (s *deliverer) finish(b outcomes) {
	s.results.count(b.first)
	s.results.count(b.later)
	for _, a := range b.first {
		a.first.remove()
	}
}

func (s *deliverer) storeOutcomes(ctx context.Context, on db.Execer, b outcomes) (stored []settledDelivery, err error) {
	if len(b.first) > 0 {
		open, closed := b.claims()
		stored, err = readSettled(ctx, on, settleFirstSQL.Text, settleFirstSQL.Args(firstAttemptRows.Rows(b.first),
			db.Arg("open", db.Array(open)), db.Arg("closed", db.Array(closed)), db.Arg("node", s.node.ID()))...)
	}
	if err != nil || len(b.later) == 0 {
		return stored, err
	}
	later, err := readSettled(ctx, on, settleSQL.Text, settleSQL.Args(attemptRows.Rows(b.later))...)
	return append(stored, later...), err
}

func readSettled(ctx context.Context, on db.Execer, statement string, args ...any) ([]settledDelivery, error) {
	stored, err := db.All(ctx, on, func(x *settledDelivery) []any { return []any{&x.webhookID, &x.state} },
		statement, args...)
	if err != nil {
		return nil, fmt.Errorf("store webhook outcomes: %w", err)
	}
	return stored, nil
}

// settleInTx also disables endpoints that responded with 410 or have failed too often.
func (s *deliverer) settleInTx(ctx context.Context, batch outcomes) error {
	gone := map[string]bool{}
	var off []func()
	err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		off = nil
		stored, err := s.storeOutcomes(ctx, tx, batch)
		if err != nil {
			return err
		}
		for _, a := range slices.Concat(batch.first, batch.later) {
			if a.IsGone() {
				gone[a.webhookID] = true
			}
		}
		asked := map[string]bool{}
		for _, x := range stored {
			if x.state != failed || asked[x.webhookID] {
				continue
			}
			asked[x.webhookID] = true
			report, err := s.switchOff(ctx, tx.Tx, x.webhookID, gone[x.webhookID])
			if err != nil {
				return fmt.Errorf("disable webhook %s: %w", x.webhookID, err)
			}
			off = append(off, report)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.finish(batch)
	for _, report := range off {
		report()
	}
	return nil
}

// switchOff disables an endpoint if necessary, and publishes this. It returns a function that logs it and wakes
// the consumers after the commit.
func (s *deliverer) switchOff(ctx context.Context, tx *sql.Tx, webhookID string, gone bool) (report func(), err error) {
	reason := ReasonGone
	if !gone {
		reason = ReasonFailing
		failing, err := db.One(ctx, tx, db.Value[sql.NullBool], failingSQL, webhookID, failingAfter)
		if err != nil {
			return nil, err
		}
		if !failing.Bool {
			return func() {}, nil
		}
	}
	disabled, err := db.All(ctx, tx, func(d *disabledEndpoint) []any { return []any{&d.accountID, &d.url, &d.at} },
		switchOffSQL, webhookID, reason)
	if err != nil || len(disabled) == 0 {
		return func() {}, err
	}
	fact := event.New(disabled[0].accountID, event.WebhookDisabled, disabled[0].at,
		event.DisabledWebhook{WebhookID: webhookID, URL: disabled[0].url, Reason: reason})
	if err := s.publisher.Publish(ctx, tx, fact); err != nil {
		return nil, err
	}
	return func() {
		s.publisher.WakeFor(fact)
		s.log.WarnContext(ctx, "webhook endpoint disabled", telemetry.KeyAccountID, fact.AccountID,
			telemetry.KeyWebhookID, webhookID, telemetry.KeyReason, reason)
	}, nil
}

// outcomes are attempts with their verdicts.
type outcomes struct {
	first    []*attempt // of a firstClaim
	later    []*attempt // of deliveries with a work row
	failures bool       // a delivery has failed permanently
}

// claims returns the ids of the claims of first attempts. closed are those without further deliveries.
func (b outcomes) claims() (open, closed []int64) {
	count := map[*firstClaim]int{}
	for _, a := range b.first {
		count[a.first]++
	}
	for claim, n := range count {
		if claim.isDoneAfter(n) {
			closed = append(closed, claim.id)
		} else {
			open = append(open, claim.id)
		}
	}
	return open, closed
}

// judgeAll decides the verdicts.
func (s *deliverer) judgeAll(results []worker.Result[delivery, answer]) (b outcomes) {
	for _, r := range results {
		a := &attempt{r.Job, r.Value, decideVerdict(r.Value, r.Job.round, s.pausesFor(r.Job.url))}
		if a.first != nil {
			b.first = append(b.first, a)
		} else {
			b.later = append(b.later, a)
		}
		b.failures = b.failures || string(a.state) == failed
	}
	return b
}
