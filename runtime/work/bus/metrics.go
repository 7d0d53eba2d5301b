package bus

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	handled, failed, poisoned, outages, found *prometheus.CounterVec
	behind                                    *prometheus.GaugeVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "bus", Name: name,
			Help: help}, []string{"group"})
	}
	m := metrics{
		handled:  counter("handled_total", "Messages handled."),
		failed:   counter("failed_total", "Failed calls of a handler."),
		poisoned: counter("poisoned_total", "Messages set aside after too many failures."),
		outages:  counter("outages_total", "Times that a group could not read its messages."),
		found:    counter("found_total", "Facts without a message that the catch-up found and delivered."),
		behind: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "postrider", Subsystem: "bus",
			Name: "behind_seconds",
			Help: "Age of the oldest fact that the group may not have handled. Less than 30 when idle."},
			[]string{"group"}),
	}
	if reg != nil {
		reg.MustRegister(m.handled, m.failed, m.poisoned, m.outages, m.found, m.behind)
	}
	return m
}

type groupMetrics struct {
	handled, failed, poisoned, outages, found prometheus.Counter
	behind                                    prometheus.Gauge
}

func (m metrics) groupMetricsOf(group string) groupMetrics {
	return groupMetrics{m.handled.WithLabelValues(group), m.failed.WithLabelValues(group),
		m.poisoned.WithLabelValues(group), m.outages.WithLabelValues(group), m.found.WithLabelValues(group),
		m.behind.WithLabelValues(group)}
}
