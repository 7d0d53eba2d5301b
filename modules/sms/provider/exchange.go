package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/runtime/web/egress"
)

const (
	userAgent = "Postrider-SMS/1"
	// maxAnswer is how much of an answer is read, in octets.
	maxAnswer = 64 << 10
	// Timeout bounds one request with its answer.
	Timeout = 20 * time.Second
	// maxWait is the longest Retry-After that is believed.
	maxWait = time.Hour
)

// exchange is what HTTP came to.
type exchange struct {
	status  int
	body    []byte
	wait    time.Duration // Retry-After
	written bool          // something of the request may have been read
	err     error
}

// do makes one request over a connection of its own.
func do(ctx context.Context, client *http.Client, method, target string, body string, header http.Header) exchange {
	var x exchange
	var connected atomic.Bool // the transport tells it from a goroutine of its own
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return exchange{err: err}
	}
	r.Header = header
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", "application/json")
	r.Close, r.GetBody = true, nil // nothing below makes it a second time
	response, err := client.Do(r)
	x.written = connected.Load()
	if err != nil {
		x.err = err
		return x
	}
	x.status, x.wait = response.StatusCode, retryAfter(response.Header.Get("Retry-After"))
	x.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if closeErr := response.Body.Close(); err != nil || closeErr != nil {
		x.body = nil // the status has decided already
	}
	return x
}

// retryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func retryAfter(text string) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(max(seconds, 0), int(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), maxWait)
}

// judge gives the answer as far as HTTP says it: what of a 2xx and of a refusal for good has to be
// read in the body is left to the caller, who sees the Outcome Sent or Failed.
func (x exchange) judge() Answer {
	a := Answer{Status: x.status, Wait: x.wait}
	switch {
	case x.err != nil && x.written:
		a.Outcome, a.Code, a.Reason = Unknown, CodeNoAnswer, "the provider was reached and gave no answer ("+explain(x.err)+"); it may have sent the message"
	case x.err != nil && refusedForGood(x.err):
		a.Outcome, a.Code, a.Reason = Failed, CodeSettings, explain(x.err)
	case x.err != nil:
		a.Outcome, a.Code, a.Reason = Temporary, CodeUnreachable, explain(x.err)
	case x.status == http.StatusTooManyRequests || x.status >= 500:
		a.Outcome, a.Code, a.Reason = Temporary, CodeBusy, "the provider answered "+strconv.Itoa(x.status)
	case x.status >= 200 && x.status <= 299:
		a.Outcome = Sent
	default:
		a.Outcome, a.Code, a.Reason = Failed, CodeRefused, "the provider answered "+strconv.Itoa(x.status)
	}
	return a
}

func refusedForGood(err error) bool {
	return errors.Is(err, egress.ErrRefused) || errors.Is(err, egress.ErrPlainHTTP)
}

// explain says in words for the owner of the account why there was no answer. It names no address
// and no URL, which may hold a password.
func explain(err error) string {
	var where *url.Error
	var dns *net.DNSError
	var timeout net.Error
	if errors.As(err, &where) {
		err = where.Err
	}
	switch {
	case errors.Is(err, egress.ErrRefused):
		return "the provider's host leads to a private, local or reserved address"
	case errors.Is(err, egress.ErrPlainHTTP):
		return "the provider's address must be https://"
	case errors.As(err, &dns):
		return "the provider's host name could not be looked up"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "time is over"
	case errors.Is(err, context.Canceled):
		return "this service was stopped"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the connection was closed"
	}
	return "the connection failed"
}

// storable makes a text of a stranger one that a row takes, of at most 300 octets.
func storable(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "")
	}
	return text
}
