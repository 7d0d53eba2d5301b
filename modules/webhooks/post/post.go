package post

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/web/egress"
)

const userAgent = "Postrider-Webhooks/1"

// DeliveryRequest is the input of one delivery attempt.
type DeliveryRequest struct {
	URL        string
	DeliveryID string // for logging
	EventID    string
	Attempt    int               // starts at 1
	Headers    map[string]string // of the endpoint's owner
	Body       []byte
	Secrets    []secret.String // newest first
}

// Result is the result of one POST.
type Result struct {
	Status   int    // 0: no response
	Failure  string // why there was no response, written for the endpoint's owner
	Response string // start of the response body
	Headers  string // header fields of the response (FormatHeaders)
	Remote   string // address of the server
}

// IsDelivered reports whether the endpoint accepted the event.
func (a Result) IsDelivered() bool { return a.Status >= 200 && a.Status <= 299 }

// IsGone reports whether the endpoint asks for no further deliveries (RFC 9110 section 15.5.11).
func (a Result) IsGone() bool { return a.Status == http.StatusGone }

// Post makes one attempt and returns its result.
func (p *Poster) Post(ctx context.Context, m DeliveryRequest) Result {
	var a Result
	ctx = httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { a.Remote = i.Conn.RemoteAddr().String() }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Result{Failure: "the URL is invalid"}
	}
	for name, value := range m.Headers { // first, so that they replace none of ours
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Service-Event-Id", m.EventID)
	request.Header.Set("Service-Delivery-Attempt", strconv.Itoa(m.Attempt))
	signRequest(request.Header, m, time.Now())
	response, err := p.client.Do(request)
	if err != nil {
		a.Failure = explainFailure(err, p.timeout)
		return a
	}
	a.Status = response.StatusCode
	// The body is only logged; the status decides.
	kept, _, readErr := egress.ReadBody(response.Body)
	if closeErr := response.Body.Close(); readErr != nil || closeErr != nil {
		p.log.DebugContext(ctx, "cannot read the full response of a webhook endpoint", telemetry.KeyDeliveryID,
			m.DeliveryID)
	}
	a.Response, a.Headers = makeStorable(kept), FormatHeaders(response.Header)
	return a
}

// makeStorable returns text that PostgreSQL can store.
func makeStorable(text []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
}

// explainFailure explains to the endpoint's owner why there was no response, without revealing our DNS servers or
// private addresses.
func explainFailure(err error, timeout time.Duration) string {
	var dnsError *net.DNSError
	var netError net.Error
	var certificate *x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var where *url.Error
	if errors.As(err, &where) { // its text contains the whole URL, which may contain a token
		err = where.Err
	}
	switch {
	case errors.Is(err, egress.ErrRefused):
		return "the host " + egress.PrivateTarget
	case errors.Is(err, egress.ErrPlainHTTP):
		return egress.ErrPlainHTTP.Error()
	case errors.As(err, &dnsError):
		return "the host name could not be looked up"
	case errors.As(err, &hostname), errors.As(err, &invalid), errors.As(err, &certificate):
		return "the certificate is not valid for the host: " + makeStorable([]byte(err.Error()))
	case where != nil && where.Timeout(), errors.As(err, &netError) && netError.Timeout(),
		errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", timeout)
	}
	return truncateText(makeStorable([]byte(err.Error())), 300)
}

func truncateText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}
