package billing

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// figures are what monitoring sees of billing.
type figures struct {
	events      *prometheus.CounterVec
	due, hours  prometheus.Gauge
	oldestHours prometheus.Gauge // in seconds
}

func newFigures() figures {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: telemetry.Namespace, Subsystem: "billing", Name: name, Help: help})
	}
	f := figures{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Subsystem: "billing", Name: "events_total",
			Help: "Events of the payment provider, by what became of them: foreign ones are about nobody here, held ones are invoices that wait for usage."}, []string{"result"}),
		due:         gauge("sync_due", "Customers about whom the payment provider is to be asked now."),
		hours:       gauge("unreported_hours", "Hours of usage that were not told to the payment provider yet."),
		oldestHours: gauge("oldest_unreported_seconds", "Age of the oldest of them, from its end."),
	}
	for _, result := range []string{eventTaken, eventForeign, eventHeld, eventRefused} {
		f.events.WithLabelValues(result)
	}
	return f
}

func (f figures) register(reg prometheus.Registerer) error {
	if reg == nil {
		return nil
	}
	for _, c := range []prometheus.Collector{f.events, f.due, f.hours, f.oldestHours} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *events) count(result string) { s.figures.events.WithLabelValues(result).Inc() }

const syncDueSQL = `SELECT count(*) FROM billing_customers WHERE sync_due_at <= now()`

// observe brings the gauges up to date.
func (s *events) observe(ctx context.Context) error {
	due, err := db.One(ctx, s.db.SQL, db.Value[float64], syncDueSQL)
	if err != nil {
		return fmt.Errorf("figures of billing: %w", err)
	}
	backlog, err := s.meter.Backlog(ctx)
	if err != nil {
		return err
	}
	s.figures.due.Set(due)
	s.figures.hours.Set(float64(backlog.Hours))
	s.figures.oldestHours.Set(backlog.Oldest.Seconds())
	return nil
}
