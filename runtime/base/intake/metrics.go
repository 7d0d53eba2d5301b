package intake

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

// Usage is the amount held of each part, in bytes or places.
type Usage struct{ Arriving, Working, Spool, Bodies, Reads int64 }

// Usage returns the current usage.
func (b *Budget) Usage() Usage {
	used := func(p *Pool) (n int64) {
		p.readLocked(func() float64 { n = p.used; return 0 })
		return n
	}
	return Usage{used(b.arriving), used(b.working), used(b.spool), used(b.bodies), used(b.reads)}
}

// LargeResponses returns how many responses of more than a few KB were sent so far, by kind: "held",
// "streamed" or "shared".
func (b *Budget) LargeResponses() map[string]uint64 {
	out := map[string]uint64{}
	for by := range ways {
		out[by.String()] = b.large[by].Load()
	}
	return out
}

// Register registers the metrics of the budget.
func (b *Budget) Register(reg prometheus.Registerer) error {
	gauge := func(name, help, part string, of func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "postrider", Subsystem: "intake", Name: name,
			Help:        help,
			ConstLabels: prometheus.Labels{"part": part}}, of)
	}
	counter := func(reason string, of func() float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "intake",
			Name:        "ended_total",
			Help:        "Bodies, messages and responses that were ended or rejected, by reason.",
			ConstLabels: prometheus.Labels{"reason": reason}}, of)
	}
	pools := map[string]*Pool{"arriving": b.arriving, "working": b.working, "spool": b.spool, "bodies": b.bodies,
		"reads": b.reads}
	all := []prometheus.Collector{counter("slow", func() float64 { return float64(b.slow.Load()) }),
		counter("disk", func() float64 { return float64(b.disk.Load()) }),
		counter("crowded", func() float64 { return float64(b.refused.Load()) }),
		counter("full", func() float64 { return sumPools(pools, func(p *Pool) uint64 { return p.refused }) }),
		counter("cut", func() float64 { return sumPools(pools, func(p *Pool) uint64 { return p.cut }) })}
	for by := range ways {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "intake",
			Name:        "large_responses_total",
			Help:        "Responses of more than 8 KB, by how they were sent: held by the budget until the client had received them, streamed, or from shared memory.",
			ConstLabels: prometheus.Labels{"way": by.String()}}, func() float64 { return float64(b.large[by].Load()) }))
	}
	for name, p := range pools {
		all = append(all,
			gauge("held", "Usage of each part of the budget: bytes and places.", name,
				func() float64 { return p.readLocked(func() float64 { return float64(p.used) }) }),
			gauge("waiting", "Waiters for each part of the budget.", name,
				func() float64 { return p.readLocked(func() float64 { return float64(len(p.queue)) }) }))
	}
	return telemetry.Register(reg, all...)
}

func (p *Pool) readLocked(at func() float64) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return at()
}

func sumPools(pools map[string]*Pool, of func(*Pool) uint64) (n float64) {
	for _, p := range pools {
		n += p.readLocked(func() float64 { return float64(of(p)) })
	}
	return n
}
