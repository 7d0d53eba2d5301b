package webhooks

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/telemetry"
	"github.com/postrider/postrider/runtime/worker"
)

// failingAfter is how many deliveries in a row have to fail until their endpoint is
// switched off.
const failingAfter = 30

// The attempt's outcome is the truth whoever holds the delivery by now; the delivery
// changes only under the fence of the claim that made the attempt. The fence goes
// up, so that a batch whose commit was not heard of can be repeated. Of an event
// that was erased meanwhile no answer is kept, which may repeat it.
const settleSQL = `
WITH done AS (
	SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::bigint[])
		AS v (id, fence, state, wait, outcome, status, error, response, remote, took)
), tried AS (
	UPDATE webhook_attempts a SET finished_at = clock_timestamp(), outcome = v.outcome, status_code = NULLIF(v.status, 0), error = v.error,
		response = CASE WHEN d.data IS NOT NULL OR EXISTS (SELECT 1 FROM facts f WHERE f.id = d.event_id) THEN v.response ELSE '' END,
		remote_addr = v.remote, duration_ms = v.took
	FROM done v JOIN webhook_deliveries d ON d.id = v.id WHERE a.delivery_id = v.id AND a.fence = v.fence
)
UPDATE webhook_deliveries d SET state = v.state, fence = d.fence + 1, status_code = NULLIF(v.status, 0), error = v.error,
	due_at = CASE WHEN v.state = 'pending' THEN now() + v.wait * interval '1 microsecond' END,
	settled_at = CASE WHEN v.state <> 'pending' THEN clock_timestamp() END
FROM done v WHERE d.id = v.id AND d.fence = v.fence AND d.due_at IS NOT NULL
RETURNING d.webhook_id, d.state`

// switchOffSQL disables an endpoint unless it was changed since.
const switchOffSQL = `
UPDATE webhooks SET enabled = false, disabled_at = now(), disabled_reason = $2, updated_at = clock_timestamp()
WHERE id = $1 AND enabled RETURNING account_id`

// failingSQL asks the latest deliveries that are settled since the endpoint was
// changed last: switched on again it has its 30 anew.
const failingSQL = `
SELECT count(*) = $2 AND bool_and(latest.state = 'failed') FROM webhooks w CROSS JOIN LATERAL (
	SELECT d.state FROM webhook_deliveries d
	WHERE d.webhook_id = w.id AND d.state <> 'pending' AND d.settled_at > w.updated_at ORDER BY d.id DESC LIMIT $2
) latest WHERE w.id = $1 AND w.enabled`

type settled struct{ webhookID, state string }

// settle stores what came of a batch of attempts. Mostly none has failed for good, and
// then it is one statement by itself.
func (s *Service) settle(ctx context.Context, results []worker.Result[delivery, answer]) error {
	args, failures := settleArgs(results)
	if failures {
		return s.settleFailures(ctx, results, args)
	}
	_, err := storeOutcomes(s.db.QueryPrepared(ctx, settleSQL, args...))
	return err
}

func storeOutcomes(rows *sql.Rows, err error) ([]settled, error) {
	if err != nil {
		return nil, fmt.Errorf("store webhook outcomes: %w", err)
	}
	stored, err := scanAll(rows, func(x *settled) []any { return []any{&x.webhookID, &x.state} })
	if err != nil {
		return nil, fmt.Errorf("store webhook outcomes: %w", err)
	}
	return stored, nil
}

// settleFailures also switches off the endpoints that ask for it or have failed for
// too long.
func (s *Service) settleFailures(ctx context.Context, results []worker.Result[delivery, answer], args []any) error {
	gone := map[string]bool{}
	var off []func()
	err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		off = nil
		stored, err := storeOutcomes(tx.Look(ctx, settleSQL, args...))
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Value.gone() {
				gone[r.Job.webhookID] = true
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
				return fmt.Errorf("switch off webhook %s: %w", x.webhookID, err)
			}
			off = append(off, report)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, report := range off {
		report()
	}
	return nil
}

// switchOff gives what to say after the commit.
func (s *Service) switchOff(ctx context.Context, tx *sql.Tx, webhookID string, gone bool) (report func(), err error) {
	reason := ReasonGone
	if !gone {
		reason = ReasonFailing
		var failing sql.NullBool
		if err := tx.QueryRowContext(ctx, failingSQL, webhookID, failingAfter).Scan(&failing); err != nil {
			return nil, err
		}
		if !failing.Bool {
			return func() {}, nil
		}
	}
	rows, err := tx.QueryContext(ctx, switchOffSQL, webhookID, reason)
	if err != nil {
		return nil, err
	}
	owners, err := scanAll(rows, func(accountID *string) []any { return []any{accountID} })
	if err != nil || len(owners) == 0 {
		return func() {}, err
	}
	return func() {
		s.log.WarnContext(ctx, "webhook endpoint switched off", telemetry.KeyAccountID, owners[0], telemetry.KeyWebhookID, webhookID, telemetry.KeyReason, reason)
	}, nil
}

// settleArgs are the parameters of settleSQL; failures: a delivery has failed for good.
func settleArgs(results []worker.Result[delivery, answer]) (args []any, failures bool) {
	n := len(results)
	ids, states, outcomes, errors, responses, remotes := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	fences, waited, statuses, took := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, r := range results {
		v := judge(r.Value, r.Job.round)
		failures = failures || string(v.state) == failed
		ids[i], fences[i], states[i], outcomes[i] = r.Job.id, r.Job.fence, string(v.state), string(v.outcome)
		waited[i], statuses[i], took[i] = v.wait.Microseconds(), int64(r.Value.status), int64(r.Value.took/time.Millisecond)
		errors[i], responses[i], remotes[i] = r.Value.failure, r.Value.response, r.Value.remote
	}
	return []any{db.Texts(ids), pq.Array(fences), db.Texts(states), pq.Array(waited), db.Texts(outcomes), pq.Array(statuses),
		db.Texts(errors), db.Texts(responses), db.Texts(remotes), pq.Array(took)}, failures
}
