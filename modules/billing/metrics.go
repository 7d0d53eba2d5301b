package billing

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// metricSet contains the metrics of billing.
type metricSet struct {
	events      *prometheus.CounterVec
	due, hours  prometheus.Gauge
	oldestHours prometheus.Gauge // in seconds
}

func newMetricSet() metricSet {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: telemetry.Namespace, Subsystem: "billing",
			Name: name, Help: help})
	}
	f := metricSet{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Subsystem: "billing",
			Name: "events_total",
			Help: "Events of the payment provider, by result: foreign (not a customer of this installation), held " +
				"(an invoice that waits for usage), refused, taken."}, []string{"result"}),
		due:         gauge("sync_due", "Customers that are due for a sync with the payment provider."),
		hours:       gauge("unreported_hours", "Hours of usage not yet reported to the payment provider."),
		oldestHours: gauge("oldest_unreported_seconds", "Age of the oldest unreported hour, measured from its end."),
	}
	for _, result := range []string{eventTaken, eventForeign, eventHeld, eventRefused} {
		f.events.WithLabelValues(result)
	}
	return f
}

func (f metricSet) registerMetrics(reg prometheus.Registerer) error {
	return telemetry.Register(reg, f.events, f.due, f.hours, f.oldestHours)
}

func (s *events) countEvent(result string) { s.metrics.events.WithLabelValues(result).Inc() }

const syncDueSQL = `SELECT count(*) FROM billing_customers WHERE sync_due_at <= now()`

// updateGauges updates the gauges.
func (s *events) updateGauges(ctx context.Context) error {
	due, err := db.One(ctx, s.db.SQL, db.Value[float64], syncDueSQL)
	if err != nil {
		return fmt.Errorf("billing metrics: %w", err)
	}
	backlog, err := s.meter.Backlog(ctx)
	if err != nil {
		return err
	}
	s.metrics.due.Set(due)
	s.metrics.hours.Set(float64(backlog.Hours))
	s.metrics.oldestHours.Set(backlog.Oldest.Seconds())
	return nil
}
