package apilog

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// counters count requests by their outcome in the log.
type counters struct{ stored, sampled, full, lost prometheus.Counter }

// newCounters registers the counters; a nil registry is allowed.
func newCounters(reg prometheus.Registerer) (counters, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace,
		Name: "api_log_requests_total",
		Help: "Requests to the API by what became of them in its log: sampled were left out because there were many, full found no room in memory, lost could not be stored."}, []string{"result"})
	c := counters{all.WithLabelValues("stored"), all.WithLabelValues("sampled"), all.WithLabelValues("full"),
		all.WithLabelValues("lost")}
	if reg == nil {
		return c, nil
	}
	return c, reg.Register(all)
}
