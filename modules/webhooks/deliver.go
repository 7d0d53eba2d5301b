package webhooks

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/event"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
	"github.com/postrider/postrider/runtime/webhooksig"
	"github.com/postrider/postrider/runtime/worker"
)

const userAgent = "Postrider-Webhooks/1"

// erased is why a delivery whose event is gone cannot be made.
const erased = "the event has been erased"

// deliver makes one attempt.
func (s *Service) deliver(ctx context.Context, d delivery, l *worker.Lease) (a answer) {
	defer func() { s.flights.end(d, &a) }()
	if d.data == nil {
		return answer{failure: erased, final: true}
	}
	body, err := envelope(d.eventType, d.eventAt, d.data)
	if err != nil {
		return answer{failure: "the event cannot be written", final: true}
	}
	secrets, err := s.secrets(d)
	if err != nil {
		s.log.ErrorContext(ctx, "webhook secret cannot be opened", telemetry.KeyWebhookID, d.webhookID, telemetry.KeyError, err)
		return answer{failure: "the signing secret cannot be read; rotate it"}
	}
	if !l.Valid() {
		return answer{cut: true}
	}
	began := time.Now()
	posting, end := s.traced(ctx, d)
	a = s.post(posting, d, body, secrets)
	end(a)
	a.took = time.Since(began)
	if a.status == 0 && ctx.Err() != nil {
		a.cut = true
	}
	s.tell(ctx, d, a)
	return a
}

// envelope is the body of a delivery.
func envelope(typ event.Type, at time.Time, data json.RawMessage) ([]byte, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	head, err := json.Marshal(struct {
		Type      event.Type `json:"type"`
		CreatedAt event.Time `json:"created_at"`
	}{typ, event.At(at)})
	if err != nil {
		return nil, err
	}
	body := make([]byte, 0, len(head)+len(`,"data":`)+compact.Len())
	body = append(body, head[:len(head)-1]...)
	body = append(body, `,"data":`...)
	body = append(body, compact.Bytes()...)
	return append(body, '}'), nil
}

// secrets are those that sign, the newest first.
func (s *Service) secrets(d delivery) ([]secret.String, error) {
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

func (s *Service) post(ctx context.Context, d delivery, body []byte, secrets []secret.String) answer {
	var a answer
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { a.remote = i.Conn.RemoteAddr().String() }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(body))
	if err != nil {
		return answer{failure: "the URL cannot be used"}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Service-Event-Id", d.eventID)
	request.Header.Set("Service-Delivery-Attempt", strconv.Itoa(d.attempt))
	request.Header.Set(webhooksig.Header, sign(time.Now(), body, secrets...))
	response, err := s.client.Do(request)
	if err != nil {
		a.failure = explain(err, s.config.Timeout)
		return a
	}
	a.status = response.StatusCode
	// What the body says is for the records; the status has decided already.
	kept, _, readErr := egress.ReadBody(response.Body)
	if closeErr := response.Body.Close(); readErr != nil || closeErr != nil {
		s.log.DebugContext(ctx, "answer of a webhook endpoint not read to its end", telemetry.KeyDeliveryID, d.id)
	}
	a.response = storable(kept)
	return a
}

// storable makes text that PostgreSQL takes.
func storable(text []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
}

// explain says in words for the endpoint's owner why there was no answer. What DNS
// servers and private addresses of ours are is none of their business.
func explain(err error, timeout time.Duration) string {
	var dnsError *net.DNSError
	var netError net.Error
	var certificate *x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var where *url.Error
	if errors.As(err, &where) { // its text has the whole URL, which may hold a token
		err = where.Err
	}
	switch {
	case errors.Is(err, egress.ErrRefused):
		return "the host " + refusedHost
	case errors.Is(err, egress.ErrPlainHTTP):
		return egress.ErrPlainHTTP.Error()
	case errors.As(err, &dnsError):
		return "the host name could not be looked up"
	case errors.As(err, &hostname), errors.As(err, &invalid), errors.As(err, &certificate):
		return "the certificate is not valid for the host: " + storable([]byte(err.Error()))
	case where != nil && where.Timeout(), errors.As(err, &netError) && netError.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", timeout)
	}
	return clip(storable([]byte(err.Error())), 300)
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// tell writes the wide line of an attempt. The URL is not in it: it may hold a token.
func (s *Service) tell(ctx context.Context, d delivery, a answer) {
	level := slog.LevelInfo
	if !a.delivered() {
		level = slog.LevelWarn
	}
	s.log.Log(ctx, level, "webhook attempt", telemetry.KeyAccountID, d.accountID, telemetry.KeyWebhookID, d.webhookID, telemetry.KeyDeliveryID, d.id,
		telemetry.KeyFactID, d.eventID, telemetry.KeyEvent, d.eventType, telemetry.KeyAttempt, d.attempt, telemetry.KeyStatus, a.status,
		telemetry.KeyRemoteAddr, a.remote, telemetry.KeyDuration, a.took, telemetry.KeyError, a.failure)
}
