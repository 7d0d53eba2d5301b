package webhooks

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/postrider/postrider/runtime/base/telemetry"
)

func endNoSpan(answer) {}

// startSpan starts the span of an attempt in the trace of the event's email, and returns a function that ends
// it. Without tracing, or if the event has no email, it does nothing.
func (s *deliverer) startSpan(ctx context.Context, d delivery) (_ context.Context, end func(answer)) {
	if !s.tracing.IsEnabled() {
		return ctx, endNoSpan
	}
	var about struct {
		EmailID string `json:"email_id"`
	}
	if err := json.Unmarshal(d.data, &about); err != nil || about.EmailID == "" {
		return ctx, endNoSpan
	}
	ctx, span := s.tracing.Message(ctx, about.EmailID, "webhook attempt", time.Now())
	return ctx, func(a answer) {
		// The URL is omitted because it may contain a token.
		span.SetAttributes(attribute.String(telemetry.KeyWebhookID, d.webhookID),
			attribute.String(telemetry.KeyDeliveryID, d.id), attribute.String(telemetry.KeyFactID, d.eventID),
			attribute.String(telemetry.KeyEvent, string(d.eventType)), attribute.Int(telemetry.KeyAttempt, d.attempt),
			attribute.Int(telemetry.KeyStatus, a.Status))
		if !a.IsDelivered() {
			span.SetStatus(codes.Error, a.Failure)
		}
		span.End()
	}
}
