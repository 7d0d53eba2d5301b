package probes

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/module"
)

// lateLimit is the delay from which the queue is degraded.
const lateLimit = time.Minute

// Queue reports on GET /readyz and in the metrics how late the queue is.
var Queue = fx.Options(
	module.ProvideHealth(func(q *queue.Service) module.Health {
		return module.Health{Name: "queue", Ask: func(ctx context.Context) (module.Condition, error) {
			late, err := q.MeasureLag(ctx)
			if err != nil {
				return module.Condition{}, err
			}
			unknown, err := q.CountUnknown(ctx)
			return module.Condition{Degraded: late > lateLimit,
				Figures: map[string]float64{"late_seconds": math.Floor(late.Seconds()),
					"unknown_results": float64(unknown)}}, err
		}}
	}),
	fx.Invoke(gaugeQueue),
)

// gaugeQueue exports how late the queue is. It queries at each scrape, and reports NaN while the database
// does not respond.
func gaugeQueue(q *queue.Service, registry prometheus.Registerer) error {
	late := telemetry.NewQueryGauge("queue_late_seconds",
		"How long the oldest due recipient has waited for its delivery to start, without held recipients and those that wait for a lane.",
		func(ctx context.Context) (float64, error) {
			late, err := q.MeasureLag(ctx)
			return late.Seconds(), err
		})
	unknown := telemetry.NewQueryGauge("attempts_unknown",
		"Attempts of the last 24 hours without a known result, up to 100,000. Each of their recipients may have received the email twice. It describes the database: use the maximum across processes.",
		func(ctx context.Context) (float64, error) {
			n, err := q.CountUnknown(ctx)
			return float64(n), err
		})
	return telemetry.Register(registry, queueDepth{q}, faults{q}, late, unknown)
}

// queueDepth exports how many recipients are queued. They are counted at each scrape; the metric is absent
// while the database does not respond.
type queueDepth struct{ queue *queue.Service }

var _ prometheus.Collector = queueDepth{}

var depthDesc = prometheus.NewDesc("postrider_queue_recipients",
	"Waiting recipients: queued in the common queue or deferred, parked under a full lane, held; each is counted up to 100,000. It describes the database: use the maximum across processes.",
	[]string{"state"}, nil)

// Describe implements prometheus.Collector.
func (queueDepth) Describe(to chan<- *prometheus.Desc) { to <- depthDesc }

// Collect implements prometheus.Collector.
func (d queueDepth) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	depth, err := d.queue.Depth(ctx)
	if err != nil {
		return
	}
	for state, n := range map[string]int{"queued": depth.Queued, "parked": depth.Parked, "held": depth.Held} {
		to <- prometheus.MustNewConstMetric(depthDesc, prometheus.GaugeValue, float64(n), state)
	}
}

// faults exports how many recipients are in doubt after the faults of each process. The metric is absent while the
// database does not respond.
type faults struct{ queue *queue.Service }

var _ prometheus.Collector = faults{}

var faultsDesc = prometheus.NewDesc("postrider_fault_recipients_in_doubt",
	"Recipients that may have received an email twice after faults of the last 24 hours, by process and kind of fault: process (killed or frozen) or connection (broken after the final dot). It describes the database: use the maximum across processes.",
	[]string{"node", "kind"}, nil)

// Describe implements prometheus.Collector.
func (faults) Describe(to chan<- *prometheus.Desc) { to <- faultsDesc }

// Collect implements prometheus.Collector.
func (f faults) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	list, err := f.queue.Faults(ctx)
	if err != nil {
		return
	}
	type key struct {
		node string
		kind queue.FaultKind
	}
	inDoubt := map[key]int{}
	for _, found := range list {
		inDoubt[key{found.Node, found.Kind}] += found.InDoubt
	}
	for of, n := range inDoubt {
		to <- prometheus.MustNewConstMetric(faultsDesc, prometheus.GaugeValue, float64(n), of.node, string(of.kind))
	}
}
