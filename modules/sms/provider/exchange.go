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
	// maxAnswer is the maximum number of bytes read of a response.
	maxAnswer = 64 << 10
	// Timeout is the time limit of one request including its response.
	Timeout = 20 * time.Second
	// maxWait is the longest Retry-After that is honored.
	maxWait = time.Hour
)

// exchange is the result of an HTTP request.
type exchange struct {
	status  int
	body    []byte
	wait    time.Duration // Retry-After
	written bool          // part of the request may have been read
	err     error
}

// doRequest makes one request on a separate connection.
func doRequest(ctx context.Context, client *http.Client, method, target string, body string,
	header http.Header) exchange {
	var x exchange
	var connected atomic.Bool // set by the transport from its own goroutine
	ctx = httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return exchange{err: err}
	}
	r.Header = header
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", "application/json")
	r.Close, r.GetBody = true, nil // prevents the transport from repeating the request
	response, err := client.Do(r)
	x.written = connected.Load()
	if err != nil {
		x.err = err
		return x
	}
	x.status, x.wait = response.StatusCode, retryAfter(response.Header.Get("Retry-After"))
	x.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if closeErr := response.Body.Close(); err != nil || closeErr != nil {
		x.body = nil // the status alone decides
	}
	return x
}

// retryAfter parses seconds or a date (RFC 9110 section 10.2.3).
func retryAfter(text string) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(max(seconds, 0), int(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), maxWait)
}

// answerOf returns the result that follows from HTTP alone. If its Outcome is Sent or Failed, the caller reads
// the details from the body.
func (x exchange) answerOf() SendResult {
	a := SendResult{Status: x.status, Wait: x.wait}
	switch {
	case x.err != nil && x.written:
		a.Outcome, a.Code, a.Reason = Unknown, CodeNoAnswer, "the provider was reached but did not answer ("+
			explainError(x.err)+"); it may have sent the message"
	case x.err != nil && refusedForGood(x.err):
		a.Outcome, a.Code, a.Reason = Failed, CodeSettings, explainError(x.err)
	case x.err != nil:
		a.Outcome, a.Code, a.Reason = Temporary, CodeUnreachable, explainError(x.err)
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

// explainError explains to the owner of the account why there was no response. It includes no address and no URL,
// because a URL may contain a password.
func explainError(err error) string {
	var where *url.Error
	var dns *net.DNSError
	var timeout net.Error
	if errors.As(err, &where) {
		err = where.Err
	}
	switch {
	case errors.Is(err, egress.ErrRefused):
		return "the provider's host resolves to a private, local or reserved address"
	case errors.Is(err, egress.ErrPlainHTTP):
		return "the provider's URL must be https://"
	case errors.As(err, &dns):
		return "the provider's host name does not resolve"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "the request timed out"
	case errors.Is(err, context.Canceled):
		return "this service stopped"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the connection was closed"
	}
	return "the connection failed"
}

// sanitizeText makes untrusted text valid for a row, with at most 300 bytes.
func sanitizeText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "")
	}
	return text
}
