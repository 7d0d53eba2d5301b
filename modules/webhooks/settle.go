package webhooks

import (
	"context"
	"database/sql"
	"fmt"
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
	CROSS JOIN LATERAL (SELECT d.data IS NOT NULL OR EXISTS (SELECT 1 FROM facts f WHERE f.id = d.event_id) AS event) kept
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

// attempt is a claimed delivery with its result and its verdict.
type attempt struct {
	delivery
	answer
	verdict
}

var attemptRows = batch.New("v",
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
)

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
	attempts, failures := s.judgeAll(results)
	if failures {
		return s.settleFailures(ctx, attempts)
	}
	if _, err := storeOutcomes(ctx, s.db.Prepared, attempts); err != nil {
		return err
	}
	s.results.count(attempts)
	return nil
}

func storeOutcomes(ctx context.Context, on db.Execer, attempts []*attempt) ([]settledDelivery, error) {
	stored, err := db.All(ctx, on, func(x *settledDelivery) []any { return []any{&x.webhookID, &x.state} },
		settleSQL.Text, settleSQL.Args(attemptRows.Rows(attempts))...)
	if err != nil {
		return nil, fmt.Errorf("store webhook outcomes: %w", err)
	}
	return stored, nil
}

// settleFailures also disables endpoints that responded with 410 or have failed too often.
func (s *deliverer) settleFailures(ctx context.Context, attempts []*attempt) error {
	gone := map[string]bool{}
	var off []func()
	err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		off = nil
		stored, err := storeOutcomes(ctx, tx, attempts)
		if err != nil {
			return err
		}
		for _, a := range attempts {
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
	s.results.count(attempts)
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

// judgeAll returns the attempts with their verdicts and whether any delivery has failed permanently.
func (s *deliverer) judgeAll(results []worker.Result[delivery, answer]) (attempts []*attempt, failures bool) {
	attempts = make([]*attempt, len(results))
	for i, r := range results {
		attempts[i] = &attempt{r.Job, r.Value, decideVerdict(r.Value, r.Job.round, s.pausesFor(r.Job.url))}
		failures = failures || string(attempts[i].state) == failed
	}
	return attempts, failures
}
