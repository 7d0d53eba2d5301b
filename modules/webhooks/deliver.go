package webhooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/work/event"
)

// eventErased is the error stored with deliveries whose event was erased.
const eventErased = "the event has been erased"

// deliver makes one attempt.
func (s *deliverer) deliver(ctx context.Context, d delivery, l *worker.Lease) (a answer) {
	defer func() { s.flights.end(d, &a) }()
	if d.data == nil {
		return answer{Result: post.Result{Failure: eventErased}, final: true}
	}
	body, err := event.Encode(d.accountID, "", d.eventType, d.eventAt, d.data)
	if err != nil {
		return answer{Result: post.Result{Failure: "the event cannot be encoded"}, final: true}
	}
	secrets, err := s.openSecrets(d)
	if err != nil {
		s.log.ErrorContext(ctx, "cannot decrypt webhook secret", telemetry.KeyWebhookID, d.webhookID,
			telemetry.KeyError, err)
		return answer{Result: post.Result{Failure: "the signing secret cannot be read; rotate it"}}
	}
	headers, err := s.openHeaders(d.webhookID, d.headers)
	if err != nil {
		s.log.ErrorContext(ctx, "cannot decrypt webhook headers", telemetry.KeyWebhookID, d.webhookID,
			telemetry.KeyError, err)
		return answer{Result: post.Result{Failure: "the header fields cannot be read; set them again"}}
	}
	if !l.IsValid() {
		return answer{cut: true}
	}
	began := time.Now()
	posting, end := s.startSpan(ctx, d)
	a.Result = s.poster.Post(posting, post.DeliveryRequest{URL: d.url, DeliveryID: d.id, EventID: d.eventID,
		Attempt: d.attempt, Headers: headers,
		Body: body, Secrets: secrets})
	end(a)
	a.took = time.Since(began)
	if a.Status == 0 && ctx.Err() != nil {
		a.cut = true
	}
	s.logAttempt(ctx, d, a)
	return a
}

// openSecrets decrypts the signing secrets, newest first.
func (s *deliverer) openSecrets(d delivery) ([]secret.String, error) {
	var all []secret.String
	for _, sealed := range [][]byte{d.secret, d.previous} {
		if sealed == nil {
			continue
		}
		opened, err := s.box.Open(sealed, secretContext(d.webhookID))
		if err != nil {
			return nil, err
		}
		all = append(all, secret.New(string(opened)))
	}
	return all, nil
}

// logAttempt logs the attempt as a single wide event. The URL is omitted because it may contain a token.
func (s *deliverer) logAttempt(ctx context.Context, d delivery, a answer) {
	level := slog.LevelInfo
	if !a.IsDelivered() {
		level = slog.LevelWarn
	}
	s.log.Log(ctx, level, "webhook attempt", telemetry.KeyAccountID, d.accountID, telemetry.KeyWebhookID, d.webhookID,
		telemetry.KeyDeliveryID, d.id,
		telemetry.KeyFactID, d.eventID, telemetry.KeyEvent, d.eventType, telemetry.KeyAttempt, d.attempt,
		telemetry.KeyStatus, a.Status,
		telemetry.KeyRemoteAddr, a.Remote, telemetry.KeyDuration, a.took, telemetry.KeyError, a.Failure)
}
