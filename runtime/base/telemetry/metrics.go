package telemetry

import (
	"log/slog"
	"net/http"
	"runtime"

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

// MetricsHandler serves a registry in the Prometheus text formats. If a collector fails, only its own
// metrics are missing, and the failure is logged.
func MetricsHandler(registry *prometheus.Registry, logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(logger.Handler(), slog.LevelError),
		Registry:      registry,
	})
}
