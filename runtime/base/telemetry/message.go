package telemetry

import (
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A message has one trace for its whole life: acceptance, queue, SMTP attempts, webhooks. The trace id is
// derived from the email id, so that every process knows it and no row has to store it. The id of the
// acceptance span is derived too. Later spans link to it, and the message trace and the trace of the
// request that submitted the message link to each other.
//
// Every span has the attribute email_id.

// acceptedSpan is the name of the acceptance span.
const acceptedSpan = "email accept"

// tracer is the instrumentation scope of the spans.
const tracer = "github.com/postrider/postrider"

// messageIDs returns the ids of a message's trace and of its acceptance span.
func messageIDs(emailID string) (id trace.TraceID, accepted trace.SpanID) {
	sum := sha256.Sum256([]byte("trace of " + emailID)) // uniform, as ratio-based samplers require
	copy(id[:], sum[:])
	copy(accepted[:], sum[len(id):])
	return id, accepted
}

type messageKey struct{}

// idGenerator generates random ids, except for message spans, which use the trace id of their message.
type idGenerator struct{}

var _ sdktrace.IDGenerator = idGenerator{}

// messageSpan is the context value that requests a span in the trace of a message.
type messageSpan struct {
	emailID  string
	accepted bool
}

// NewIDs returns the ids of a span without a parent.
func (g idGenerator) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	m, ok := ctx.Value(messageKey{}).(messageSpan)
	if !ok {
		crand.Read(id[:]) // never fails
		return id, g.NewSpanID(ctx, id)
	}
	if id, span = messageIDs(m.emailID); !m.accepted {
		span = g.NewSpanID(ctx, id)
	}
	return id, span
}

// NewSpanID returns the id of a child span.
func (idGenerator) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	crand.Read(span[:]) // never fails
	return span
}

// Now returns the current time if tracing is on, as the start of a span that is created later.
func (t *Tracing) Now() time.Time {
	if !t.IsEnabled() {
		return time.Time{}
	}
	return time.Now()
}

// RecordAcceptance records the acceptance span of an email, which started at began, and links it with the request
// span in ctx, if there is one.
func (t *Tracing) RecordAcceptance(ctx context.Context, emailID string, began time.Time) {
	if !t.IsEnabled() {
		return
	}
	request := trace.SpanFromContext(ctx)
	_, span := t.startSpan(ctx, messageSpan{emailID, true}, acceptedSpan, trace.WithTimestamp(began),
		trace.WithLinks(linksTo(request.SpanContext())...))
	span.End()
	request.SetAttributes(attribute.String(KeyEmailID, emailID))
	request.AddLink(trace.Link{SpanContext: span.SpanContext()})
}

// Message starts a span in the trace of an email, linked to its acceptance span, and returns a context with
// the span. Without tracing the span does nothing.
func (t *Tracing) Message(ctx context.Context, emailID, name string, began time.Time) (context.Context, trace.Span) {
	if !t.IsEnabled() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	id, accepted := messageIDs(emailID)
	link := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: accepted, TraceFlags: trace.FlagsSampled,
		Remote: true})
	return t.startSpan(ctx, messageSpan{emailID, false}, name, trace.WithTimestamp(began),
		trace.WithLinks(linksTo(link)...))
}

func (t *Tracing) startSpan(ctx context.Context, m messageSpan, name string,
	options ...trace.SpanStartOption) (context.Context, trace.Span) {
	options = append(options, trace.WithNewRoot(), trace.WithAttributes(attribute.String(KeyEmailID, m.emailID)))
	return t.Provider().Tracer(tracer).Start(context.WithValue(ctx, messageKey{}, m), name, options...) //nolint:spancheck // the caller ends it
}

func linksTo(to trace.SpanContext) []trace.Link {
	if !to.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: to}}
}
