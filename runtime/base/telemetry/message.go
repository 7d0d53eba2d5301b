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

// A message has one trace for its whole life: acceptance, queue, attempts over SMTP,
// webhooks. Its trace id follows from the id of the email, so that every process knows it
// and no row has to keep it. The span of acceptance has an id that follows too. Later spans
// link to it, and the span of the request that brought the message and the message's link
// to each other.
//
// Every span has the attribute email_id.

// acceptedSpan names the span of acceptance.
const acceptedSpan = "email accept"

// tracer names what makes the spans.
const tracer = "github.com/postrider/postrider"

// messageIDs are the ids of a message's trace and of its span of acceptance.
func messageIDs(emailID string) (id trace.TraceID, accepted trace.SpanID) {
	sum := sha256.Sum256([]byte("trace of " + emailID)) // uniform, as samplers by ratio want it
	copy(id[:], sum[:])
	copy(accepted[:], sum[len(id):])
	return id, accepted
}

type messageKey struct{}

// ids gives random ids, and to spans of messages those of their trace.
type ids struct{}

var _ sdktrace.IDGenerator = ids{}

// messageSpan asks for a span in the trace of a message.
type messageSpan struct {
	emailID  string
	accepted bool
}

// NewIDs is for spans without a parent.
func (g ids) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	m, ok := ctx.Value(messageKey{}).(messageSpan)
	if !ok {
		crand.Read(id[:]) // which never fails
		return id, g.NewSpanID(ctx, id)
	}
	if id, span = messageIDs(m.emailID); !m.accepted {
		span = g.NewSpanID(ctx, id)
	}
	return id, span
}

// NewSpanID is for spans below others.
func (ids) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	crand.Read(span[:]) // which never fails
	return span
}

// Now is the time when spans go anywhere, for a span that begins now and is made later.
func (t *Tracing) Now() time.Time {
	if !t.On() {
		return time.Time{}
	}
	return time.Now()
}

// Accepted makes the span of an email that was accepted since began, and links it with the
// span of the request in ctx, if there is one.
func (t *Tracing) Accepted(ctx context.Context, emailID string, began time.Time) {
	if !t.On() {
		return
	}
	request := trace.SpanFromContext(ctx)
	_, span := t.start(ctx, messageSpan{emailID, true}, acceptedSpan, trace.WithTimestamp(began), trace.WithLinks(linksTo(request.SpanContext())...))
	span.End()
	request.SetAttributes(attribute.String(KeyEmailID, emailID))
	request.AddLink(trace.Link{SpanContext: span.SpanContext()})
}

// Message starts a span in the trace of an email, which is linked to that of its acceptance.
// It returns a context with the span. Without tracing the span does nothing.
func (t *Tracing) Message(ctx context.Context, emailID, name string, began time.Time) (context.Context, trace.Span) {
	if !t.On() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	id, accepted := messageIDs(emailID)
	link := trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: accepted, TraceFlags: trace.FlagsSampled, Remote: true})
	return t.start(ctx, messageSpan{emailID, false}, name, trace.WithTimestamp(began), trace.WithLinks(linksTo(link)...))
}

func (t *Tracing) start(ctx context.Context, m messageSpan, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	options = append(options, trace.WithNewRoot(), trace.WithAttributes(attribute.String(KeyEmailID, m.emailID)))
	return t.Provider().Tracer(tracer).Start(context.WithValue(ctx, messageKey{}, m), name, options...) //nolint:spancheck // the caller ends it
}

func linksTo(to trace.SpanContext) []trace.Link {
	if !to.IsValid() {
		return nil
	}
	return []trace.Link{{SpanContext: to}}
}
