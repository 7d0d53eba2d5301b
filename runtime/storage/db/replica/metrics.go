package replica

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Register registers the metrics of reads. With a nil replica all values are 0.
func (r *Replica) Register(reg prometheus.Registerer) error {
	reads := func(server string, count func() int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "postrider_replica_reads_total",
			Help: "Lists, searches and statistics while a replica is configured, by the server that served " +
				"them: replica, primary.",
			ConstLabels: prometheus.Labels{"server": server}}, func() float64 { return float64(count()) })
	}
	gauge := func(name, help string, of func(Status) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if r == nil {
				return 0
			}
			return of(r.Status())
		})
	}
	count := func(of func() int64) func() int64 {
		if r == nil {
			return func() int64 { return 0 }
		}
		return of
	}
	return fault.Wrap("replica", telemetry.Register(reg,
		reads("replica", count(func() int64 { return r.answered.Load() })),
		reads("primary", count(func() int64 { return r.elsewhere.Load() })),
		gauge("postrider_replica_lag_seconds", "Age of the oldest write that the replica lacks, to within a second.",
			func(s Status) float64 { return s.Lag.Seconds() }),
		gauge("postrider_replica_passed_over",
			"1 while the replica is not used and the primary serves all reads, otherwise 0.", func(s Status) float64 {
				if s.PassedOver != "" {
					return 1
				}
				return 0
			}),
	))
}
