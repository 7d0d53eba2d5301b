package delivery

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
)

func endNoSpan(smtpclient.Outcome) {}

// startSpan starts the span of an attempt in the trace of its email; end ends it. The first attempt also creates
// a span for the time that the recipient has waited. Without tracing, nothing is created.
func (s *Service) startSpan(ctx context.Context, d Job) (_ context.Context, end func(smtpclient.Outcome)) {
	if !s.tracing.IsEnabled() {
		return ctx, endNoSpan
	}
	now := time.Now()
	if d.attempt == 1 {
		_, waited := s.tracing.Message(ctx, d.emailID, "email queue", now.Add(-d.age))
		waited.SetAttributes(attribute.Int64(telemetry.KeyRecipientID, d.recipientID))
		waited.End()
	}
	ctx, span := s.tracing.Message(ctx, d.emailID, "smtp attempt", now)
	return ctx, func(out smtpclient.Outcome) {
		span.SetAttributes(attribute.Int64(telemetry.KeyRecipientID, d.recipientID),
			attribute.Int(telemetry.KeyAttempt, d.attempt), attribute.String(telemetry.KeyOutcome, string(out.Kind)),
			attribute.String(telemetry.KeyPhase, string(out.Phase)), attribute.Int("smtp_code", out.Code),
			attribute.String(telemetry.KeyRemoteHost, out.RemoteHost))
		if out.Kind != smtpclient.Delivered {
			span.SetStatus(codes.Error, out.Diagnostic())
		}
		span.End()
	}
}
