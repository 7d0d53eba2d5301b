package telemetry

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Namespace is the prefix of our own metric names.
const Namespace = "postrider"

// NewRegistry returns a metrics registry with the metrics of the Go runtime, the process and the build.
// Each package registers its own metrics with it.
func NewRegistry(version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: Namespace, Name: "build_info", Help: "Always 1; the labels describe the running program.",
	}, []string{"version", "go_version"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	registry.MustRegister(build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Register registers collectors with reg, unless it is nil.
func Register(reg prometheus.Registerer, all ...prometheus.Collector) error {
	if reg == nil {
		return nil
	}
	for _, c := range all {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// NewCounters creates a counter for each value of a label, and registers them with reg unless it is nil. They
// exist from the start, so that counting is one atomic addition.
func NewCounters[V ~string](reg prometheus.Registerer, name, help, label string,
	values ...V) (map[V]prometheus.Counter, error) {
	all := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: Namespace, Name: name, Help: help}, []string{label})
	counters := make(map[V]prometheus.Counter, len(values))
	for _, v := range values {
		counters[v] = all.WithLabelValues(string(v))
	}
	return counters, Register(reg, all)
}

// scrapeLimit limits the time that a gauge takes during a scrape.
const scrapeLimit = 3 * time.Second

// NewQueryGauge creates a gauge that calls read at each scrape. Its value is NaN if read returns an error,
// for example while the database does not respond.
func NewQueryGauge(name, help string, read func(ctx context.Context) (float64, error)) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: Namespace, Name: name, Help: help}, func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
		defer cancel()
		value, err := read(ctx)
		if err != nil {
			return math.NaN()
		}
		return value
	})
}

// MetricsHandler serves a registry in the Prometheus text formats. If a collector fails, only its own
// metrics are missing, and the failure is logged.
func MetricsHandler(registry *prometheus.Registry, logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(logger.Handler(), slog.LevelError),
		Registry:      registry,
	})
}
