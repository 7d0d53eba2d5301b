package handover

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// settlement is a claimed message with its result.
type settlement struct {
	*job
	result
}

// status returns the new status of the message.
func (t settlement) status() string {
	if t.Outcome == provider.Temporary {
		return "queued"
	}
	return string(t.Outcome)
}

// outcome returns the outcome of the attempt.
func (t settlement) outcome() string {
	if t.Outcome == provider.Delivered {
		return string(provider.Sent)
	}
	return string(t.Outcome)
}

var settledRows = batch.New("v",
	batch.Text("id", func(t settlement) string { return t.ID }),
	batch.Int("fence", func(t settlement) int64 { return t.fence }),
	batch.Text("status", func(t settlement) string { return t.status() }),
	batch.Text("outcome", func(t settlement) string { return t.outcome() }),
	batch.Text("provider_id", func(t settlement) string { return t.ProviderID }),
	batch.Text("code", func(t settlement) string { return t.Code }),
	batch.Text("reason", func(t settlement) string { return t.Reason }),
	batch.Int("wait", func(t settlement) int64 { return t.Wait.Microseconds() }),
	batch.Int("http", func(t settlement) int { return t.Status }),
	batch.Int("took", func(t settlement) int64 { return t.took.Milliseconds() }),
)

// settleSQL stores outcomes. The outcome of an attempt is stored even if another process holds the message by
// now. The message changes only under the fencing number of the claim, which receipts increase as well. A
// message whose retry would start too late fails. Open attempts of earlier claims are marked as interrupted.
var settleSQL = db.Compile(`
WITH done AS MATERIALIZED (
	SELECT * FROM ` + settledRows.Source() + `
), tried AS (
	UPDATE sms_attempts a SET finished_at = clock_timestamp(), outcome = v.outcome, status_code = NULLIF(v.http, 0), error = v.reason, duration_ms = v.took
	FROM done v WHERE a.message_id = v.id AND a.fence = v.fence AND a.outcome IS NULL
), cut AS (
	UPDATE sms_attempts a SET finished_at = clock_timestamp(), outcome = 'unknown', error = v.reason
	FROM done v WHERE a.message_id = v.id AND a.fence < v.fence AND a.outcome IS NULL
), judged AS (
	SELECT v.*, CASE WHEN v.status <> 'queued' OR now() + v.wait * interval '1 microsecond' < m.expires_at THEN v.status WHEN v.code = 'no_answer' THEN 'unknown' ELSE 'failed' END AS becomes
	FROM done v JOIN sms_messages m ON m.id = v.id
)
UPDATE sms_messages m SET status = v.becomes, fence = m.fence + 1, provider_id = CASE WHEN v.provider_id <> '' THEN v.provider_id ELSE m.provider_id END,
	error_code = v.code, error = v.reason,
	due_at = CASE WHEN v.becomes = 'queued' THEN now() + v.wait * interval '1 microsecond' END,
	sent_at = CASE WHEN v.becomes IN ('sent', 'delivered') THEN clock_timestamp() ELSE m.sent_at END,
	settled_at = CASE WHEN v.becomes <> 'queued' THEN clock_timestamp() END
FROM judged v WHERE m.id = v.id AND m.fence = v.fence AND m.due_at IS NOT NULL
RETURNING m.id, m.status`)

// settleMessages stores the results of claims.
func (s *Service) settleMessages(ctx context.Context, results []worker.Result[*job, result]) error {
	list := make([]settlement, 0, len(results))
	for _, r := range results {
		if !r.Value.lost {
			list = append(list, settlement{r.Job, r.Value})
		}
	}
	if len(list) == 0 {
		return nil
	}
	type settled struct{ id, status string }
	var stored []settled
	err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) (err error) {
		for _, t := range list {
			if t.OptedOut {
				if err := s.account.OptOut(ctx, tx, t.accountID, t.To); err != nil {
					return err
				}
			}
		}
		stored, err = db.All(ctx, tx, func(x *settled) []any { return []any{&x.id, &x.status} }, settleSQL.Text,
			settleSQL.Args(settledRows.Rows(list))...)
		return err
	})
	if err != nil {
		return fmt.Errorf("settle text messages: %w", err)
	}
	for _, x := range stored {
		s.results.count(x.status)
	}
	return nil
}
