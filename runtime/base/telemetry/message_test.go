package telemetry

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// All spans of a message are in one trace, which every process derives from its id.
func TestAMessageHasOneTrace(t *testing.T) {
	t.Parallel()
	memory := tracetest.NewInMemoryExporter()
	accepting, delivering := TracingTo(memory), TracingTo(memory) // two processes
	ctx, request := accepting.Provider().Tracer("test").Start(t.Context(), "POST /api/emails")
	accepting.RecordAcceptance(ctx, "msg_1", accepting.Now())
	request.End()
	_, attempt := delivering.Message(t.Context(), "msg_1", "smtp attempt", time.Now())
	attempt.End()
	_, other := delivering.Message(t.Context(), "msg_2", "smtp attempt", time.Now())
	other.End()

	spans := memory.GetSpans()
	if len(spans) != 4 {
		t.Fatalf("%d spans were exported, want those of the acceptance, the request and two attempts: %v",
			len(spans), spans)
	}
	accepted, asked, first, second := spans[0], spans[1], spans[2], spans[3]
	if accepted.SpanContext.TraceID() != first.SpanContext.TraceID() ||
		first.SpanContext.TraceID() == second.SpanContext.TraceID() {
		t.Errorf("the traces are %s, %s and %s of another message, want the first two equal",
			accepted.SpanContext.TraceID(), first.SpanContext.TraceID(), second.SpanContext.TraceID())
	}
	for _, s := range []tracetest.SpanStub{accepted, asked, first} {
		if !hasAttribute(s.Attributes, "email_id", "msg_1") {
			t.Errorf("the span %s has the attributes %v, want email_id=msg_1", s.Name, s.Attributes)
		}
	}
	if len(first.Links) != 1 || first.Links[0].SpanContext.SpanID() != accepted.SpanContext.SpanID() {
		t.Errorf("the attempt links to %v, want the span of the acceptance, %s", first.Links,
			accepted.SpanContext.SpanID())
	}
	if len(accepted.Links) != 1 || accepted.Links[0].SpanContext.SpanID() != asked.SpanContext.SpanID() ||
		len(asked.Links) != 1 || asked.Links[0].SpanContext.SpanID() != accepted.SpanContext.SpanID() {
		t.Errorf("acceptance links to %v and the request to %v, want each to the other", accepted.Links, asked.Links)
	}
}

func hasAttribute(all []attribute.KeyValue, key, value string) bool {
	for _, a := range all {
		if string(a.Key) == key && a.Value.AsString() == value {
			return true
		}
	}
	return false
}

// Tracing that is off creates no spans and allocates nothing.
func TestTracingThatIsOffCostsNothing(t *testing.T) { //nolint:paralleltest // allocations are counted
	var off *Tracing
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() { off.RecordAcceptance(ctx, "msg_1", off.Now()) }); n != 0 ||
		!off.Now().IsZero() {
		t.Errorf("without tracing, an accepted email costs %v allocations and Now returns %s, want none",
			n, off.Now())
	}
	if got, span := off.Message(ctx, "msg_1", "smtp attempt", time.Time{}); got != ctx || span.IsRecording() {
		t.Errorf("without tracing, an attempt has the span %v", span)
	}
}
