package bus

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	handled, failed, poisoned, outages *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "bus", Name: name, Help: help}, []string{"group"})
	}
	m := metrics{
		handled:  counter("handled_total", "Messages handled."),
		failed:   counter("failed_total", "Failed calls of a handler."),
		poisoned: counter("poisoned_total", "Messages set aside after too many failures."),
		outages:  counter("outages_total", "Times that a group could not read its messages."),
	}
	if reg != nil {
		reg.MustRegister(m.handled, m.failed, m.poisoned, m.outages)
	}
	return m
}

type groupMetrics struct {
	handled, failed, poisoned, outages prometheus.Counter
}

func (m metrics) of(group string) groupMetrics {
	return groupMetrics{m.handled.WithLabelValues(group), m.failed.WithLabelValues(group),
		m.poisoned.WithLabelValues(group), m.outages.WithLabelValues(group)}
}
