package apilog

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// counters count requests by their result in the log.
type counters struct{ stored, sampled, full, lost prometheus.Counter }

// newCounters registers the counters. A nil registry is allowed.
func newCounters(reg prometheus.Registerer) (counters, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace,
		Name: "api_log_requests_total",
		Help: "API requests by their result in the API log: sampled: omitted because there were many; full: no " +
			"room in memory; lost: could not be stored."}, []string{"result"})
	c := counters{all.WithLabelValues("stored"), all.WithLabelValues("sampled"), all.WithLabelValues("full"),
		all.WithLabelValues("lost")}
	return c, telemetry.Register(reg, all)
}
