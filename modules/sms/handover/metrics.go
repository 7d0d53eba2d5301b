package handover

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
)

// outcomeCounters counts settled claims by the resulting status of the message.
type outcomeCounters map[string]prometheus.Counter

// newResults registers the counters and the queue gauges. Without a registry, the counters are not exported.
func newResults(reg prometheus.Registerer, d *db.DB) (outcomeCounters, error) {
	counters, err := telemetry.NewCounters(reg, "sms_attempts_total",
		"Attempts to submit text messages, by the resulting status: queued will be retried, unknown may have been sent.",
		"result", "queued", "sent", "delivered", "failed", "unknown")
	if err != nil {
		return nil, err
	}
	return counters, telemetry.Register(reg,
		db.NewGauge("sms_queue_messages",
			"Queued text messages, at most 100,000. All processes report the same database value: use the maximum in dashboards.", d.Hot, waitingSQL),
		db.NewGauge("sms_queue_late_seconds",
			"How long the oldest text message has been due. All processes report the same database value: use the maximum in dashboards.", d.Hot, lateSQL))
}

const (
	waitingSQL = `SELECT count(*)::float8 FROM (SELECT FROM sms_messages WHERE due_at IS NOT NULL LIMIT 100000) waiting`
	lateSQL    = `SELECT coalesce(greatest(extract(epoch FROM now() - min(due_at)), 0), 0)::float8
		FROM (SELECT account_id, due_at FROM sms_messages WHERE due_at IS NOT NULL LIMIT 100000) waiting`
)

func (r outcomeCounters) count(status string) {
	if c := r[status]; c != nil {
		c.Inc()
	}
}

// lateLimit is the delay above which the queue counts as degraded.
const lateLimit = 5 * time.Minute

// Condition reports how late the queue is.
func (s *Service) Condition(ctx context.Context) (module.Condition, error) {
	late, err := db.One(ctx, s.db.Hot, db.Value[float64], lateSQL)
	if err != nil {
		return module.Condition{}, fmt.Errorf("read the delay of text messages: %w", err)
	}
	return module.Condition{Degraded: late > lateLimit.Seconds(),
		Figures: map[string]float64{"late_seconds": math.Floor(late)}}, nil
}
