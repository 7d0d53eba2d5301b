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
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

const userAgent = "Postrider-Webhooks/1"

// Message is one attempt to tell an endpoint of an event.
type Message struct {
	URL        string
	DeliveryID string // for the log
	EventID    string
	Attempt    int // from 1
	Body       []byte
	Secrets    []secret.String // that sign, the newest first
}

// Answer is what came of one POST.
type Answer struct {
	Status   int    // 0: there was no answer
	Failure  string // what happened instead, in words for the endpoint's owner
	Response string // the beginning of the answer's body
	Remote   string // address of the server
}

// Delivered tells whether the endpoint has taken the event.
func (a Answer) Delivered() bool { return a.Status >= 200 && a.Status <= 299 }

// Gone tells whether the endpoint asks not to be told any more (RFC 9110 section 15.5.11).
func (a Answer) Gone() bool { return a.Status == http.StatusGone }

// Post makes one attempt to tell an endpoint, and returns what came of it.
func (p *Poster) Post(ctx context.Context, m Message) Answer {
	var a Answer
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { a.Remote = i.Conn.RemoteAddr().String() }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Answer{Failure: "the URL cannot be used"}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Service-Event-Id", m.EventID)
	request.Header.Set("Service-Delivery-Attempt", strconv.Itoa(m.Attempt))
	request.Header.Set(webhooksig.Header, sign(time.Now(), m.Body, m.Secrets...))
	response, err := p.client.Do(request)
	if err != nil {
		a.Failure = explain(err, p.timeout)
		return a
	}
	a.Status = response.StatusCode
	// What the body says is for the records; the status has decided already.
	kept, _, readErr := egress.ReadBody(response.Body)
	if closeErr := response.Body.Close(); readErr != nil || closeErr != nil {
		p.log.DebugContext(ctx, "answer of a webhook endpoint not read to its end", telemetry.KeyDeliveryID, m.DeliveryID)
	}
	a.Response = storable(kept)
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
		return "the host " + egress.PrivateTarget
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
