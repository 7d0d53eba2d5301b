package webhooks

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Results of an attempt, used as metric labels.
const (
	resultDelivered = "delivered"
	resultRetried   = "retried" // another attempt follows
	resultFailed    = "failed"  // no further attempt
	resultCut       = "cut"     // interrupted because this process stopped
)

// results counts settled attempts, with one counter per result.
type results map[string]prometheus.Counter

// newResults registers the counters and the gauges of the queue. Without a registry, the counters are not
// exported.
func newResults(reg prometheus.Registerer, d *db.DB) (results, error) {
	counters, err := telemetry.NewCounters(reg, "webhook_attempts_total",
		"Attempts to deliver to webhook endpoints, by result: retried (another attempt follows), failed (no further attempt), cut (interrupted because this process stopped).",
		"result", resultDelivered, resultRetried, resultFailed, resultCut)
	if err != nil {
		return nil, err
	}
	return counters, telemetry.Register(reg,
		db.NewGauge("webhook_queue_deliveries",
			"Pending webhook deliveries, at most 100,000. All processes report the same database value: use the maximum in dashboards.", d.Hot, waitingCountSQL),
		db.NewGauge("webhook_queue_late_seconds",
			"How long the oldest webhook delivery has been due. All processes report the same database value: use the maximum in dashboards.", d.Hot, oldestPendingSQL))
}

const (
	waitingCountSQL = `SELECT least((SELECT count(*) FROM (SELECT FROM webhook_works LIMIT 100000) waiting) + (SELECT count(*) FROM ` +
		firstAttemptsSQL + `), 100000)::float8`
	oldestPendingSQL = `SELECT coalesce(greatest(extract(epoch FROM now() - min(due_at)), 0), 0)::float8
		FROM (SELECT due_at FROM webhook_works LIMIT 100000) waiting`
)

// count adds attempts whose outcome is stored.
func (r results) count(attempts []*attempt) {
	for _, a := range attempts {
		switch {
		case a.state == webhookdelivery.StateDelivered:
			r[resultDelivered].Inc()
		case a.state == webhookdelivery.StateFailed:
			r[resultFailed].Inc()
		case a.cut:
			r[resultCut].Inc()
		default:
			r[resultRetried].Inc()
		}
	}
}
