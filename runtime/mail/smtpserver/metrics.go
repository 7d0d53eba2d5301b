package smtpserver

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts the traffic of all listeners of a process, by listener.
type Metrics struct {
	connections, messages, refusals *prometheus.CounterVec
	open                            *prometheus.GaugeVec
}

// NewMetrics registers the metrics with reg, unless reg is nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "postrider", Subsystem: "smtp", Name: name,
			Help: help},
			append([]string{"listener"}, labels...))
	}
	m := &Metrics{
		connections: counter("connections_total", "SMTP connections that were accepted."),
		messages:    counter("messages_total", "Messages accepted with 250."),
		refusals:    counter("refusals_total", "Rejected connections, commands and messages.", "reason"),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "postrider", Subsystem: "smtp",
			Name: "open_connections",
			Help: "SMTP connections that are open now."}, []string{"listener"}),
	}
	if reg != nil {
		reg.MustRegister(m.connections, m.messages, m.refusals, m.open)
	}
	return m
}

// series are the metrics of one listener.
type series struct {
	connections, messages prometheus.Counter
	open                  prometheus.Gauge
	refusals              *prometheus.CounterVec
	listener              string
}

func (m *Metrics) seriesOf(listener string) series {
	if m == nil {
		m = NewMetrics(nil)
	}
	m.refusals.WithLabelValues(listener, "5.7.1") // shown before the first refusal
	return series{m.connections.WithLabelValues(listener), m.messages.WithLabelValues(listener),
		m.open.WithLabelValues(listener), m.refusals, listener}
}

func (s series) countRefusal(r *Reply) {
	s.refusals.WithLabelValues(s.listener, r.refusalReason()).Inc()
}
