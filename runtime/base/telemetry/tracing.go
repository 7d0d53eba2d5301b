package telemetry

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Tracing exports spans to a collector. A nil Tracing is off.
type Tracing struct{ provider *sdktrace.TracerProvider }

// NewTracing exports spans over OTLP/HTTP to the collector at endpoint (for example
// `http://collector:4318`); "" turns tracing off. The endpoint is the base URL, like the standard
// OTEL_EXPORTER_OTLP_ENDPOINT: `/v1/traces` is appended. The other OTEL_ variables (headers, timeout,
// sampler) work as documented by the OpenTelemetry SDK. A collector that is down delays nothing: spans are
// sent in the background and dropped when the buffer is full.
func NewTracing(ctx context.Context, endpoint, version string) (*Tracing, error) {
	if endpoint == "" {
		return &Tracing{}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimRight(endpoint, "/")+
		"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these names.
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "postrider"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: describe this process: %w", err)
	}
	return newTracing(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)), nil
}

// TracingTo passes each span to an exporter when it ends. It is for tests.
func TracingTo(exporter sdktrace.SpanExporter) *Tracing {
	return newTracing(sdktrace.WithSyncer(exporter))
}

func newTracing(options ...sdktrace.TracerProviderOption) *Tracing {
	return &Tracing{provider: sdktrace.NewTracerProvider(append(options, sdktrace.WithIDGenerator(idGenerator{}))...)}
}

// IsEnabled reports whether spans are exported.
func (t *Tracing) IsEnabled() bool { return t != nil && t.provider != nil }

// Provider returns the tracer provider; a no-op one if tracing is off.
func (t *Tracing) Provider() trace.TracerProvider {
	if !t.IsEnabled() {
		return noop.NewTracerProvider()
	}
	return t.provider
}

// Shutdown sends buffered spans, until ctx ends.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if !t.IsEnabled() {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: shut down: %w", err)
	}
	return nil
}
