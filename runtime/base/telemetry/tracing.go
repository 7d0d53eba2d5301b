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

// Tracing sends spans to a collector, or nowhere. A nil Tracing is off.
type Tracing struct{ provider *sdktrace.TracerProvider }

// NewTracing sends spans over OTLP/HTTP to the collector at endpoint (as
// `http://collector:4318`), "" is off. The endpoint is the base of the standard
// OTEL_EXPORTER_OTLP_ENDPOINT: `/v1/traces` is added. The other OTEL_ variables
// (headers, time-out, sampler) hold as the OpenTelemetry SDK documents them. A
// collector that is away delays nothing: spans are sent in the background and
// dropped when too many wait.
func NewTracing(ctx context.Context, endpoint, version string) (*Tracing, error) {
	if endpoint == "" {
		return &Tracing{}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimRight(endpoint, "/")+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over the names given here.
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "postrider"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: describe this process: %w", err)
	}
	return newTracing(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)), nil
}

// TracingTo hands each span to an exporter when it ends. It is for tests.
func TracingTo(exporter sdktrace.SpanExporter) *Tracing {
	return newTracing(sdktrace.WithSyncer(exporter))
}

func newTracing(options ...sdktrace.TracerProviderOption) *Tracing {
	return &Tracing{provider: sdktrace.NewTracerProvider(append(options, sdktrace.WithIDGenerator(ids{}))...)}
}

// On tells whether spans go anywhere.
func (t *Tracing) On() bool { return t != nil && t.provider != nil }

// Provider gives tracers; those of a Tracing that is off do nothing.
func (t *Tracing) Provider() trace.TracerProvider {
	if !t.On() {
		return noop.NewTracerProvider()
	}
	return t.provider
}

// Shutdown sends what waits, until ctx ends.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if !t.On() {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: shut down: %w", err)
	}
	return nil
}
