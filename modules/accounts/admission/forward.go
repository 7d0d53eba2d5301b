package admission

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/limit"
	"github.com/postrider/postrider/runtime/base/telemetry"
)

// HeaderForwarded contains the number of installations that have forwarded a request.
const HeaderForwarded = "Postrider-Forwarded"

const (
	// maxHops allows an account to move on, and back while a process of the source does not know about it yet.
	maxHops        = 3
	forwardConnect = 5 * time.Second
	forwardHeader  = 90 * time.Second // some operations, such as those that wait for a test email, take a minute
	forwardWithin  = 30 * time.Minute // for the whole response, which may be a stream
	forwardRetry   = 5 * time.Second
	forwardLimit   = 64 << 20 // bytes of a body; the target has lower limits by operation
	heldResponse   = 1 << 20  // bytes; larger responses are streamed
)

// forwarding bounds the requests that this process is forwarding.
var forwarding = limit.NewKeyed[string](limit.Bounds{PerKey: 128, Total: 256, Waiting: 256})

// forwardTransport sends forwarded requests. It closes idle connections before the target does.
var forwardTransport = &http.Transport{Proxy: http.ProxyFromEnvironment,
	DialContext:         (&net.Dialer{Timeout: forwardConnect}).DialContext,
	TLSHandshakeTimeout: forwardConnect, ResponseHeaderTimeout: forwardHeader, IdleConnTimeout: 30 * time.Second,
	MaxIdleConnsPerHost: 64, DisableCompression: true, ForceAttemptHTTP2: true}

// movedError is the error for a request with an API key of an account that another installation has.
type movedError struct {
	cause  *fault.Error // with a Location
	caller accounts.Caller
}

func (e *movedError) Error() string { return e.cause.Error() }

func (e *movedError) Unwrap() error { return e.cause }

// RequireHere returns an error with a Location if another installation has the account of an API key.
func RequireHere(r *http.Request, c accounts.Caller) error {
	if c.Residence.MovedTo == "" {
		return nil
	}
	moved := c.Residence.ErrMoved()
	moved.Location = accounts.MovedURL(c.Residence.MovedTo, r.URL)
	return &movedError{moved, c}
}

// Forward sends a request on to the installation that has the account of its API key, if the operator chose so when the
// account moved, and passes on the response. err is the error of authenticating the request, whose client has the
// address from. The result is nil if Forward has responded, and the error to respond with otherwise.
func Forward(w http.ResponseWriter, r *http.Request, from netip.Addr, budget *intake.Budget, err error) error {
	var moved *movedError
	if !errors.As(err, &moved) || !moved.caller.Residence.Forward {
		return err
	}
	hops := 0
	if given, err := strconv.ParseUint(r.Header.Get(HeaderForwarded), 10, 8); err == nil {
		hops = int(given)
	}
	if hops >= maxHops { // the installations refer to each other, as they do while an account moves back
		return accounts.ErrMoving()
	}
	to, err := url.Parse(moved.cause.Location)
	if err != nil {
		return err
	}
	owner := intake.Tenant{Account: moved.caller.AccountID, Remote: from}
	telemetry.SetCaller(r.Context(), moved.caller.AccountID, moved.caller.ID())
	telemetry.SetError(r.Context(), moved.cause.Code, nil) // shows in the log which clients are forwarded
	intake.SetTenant(w, owner)
	f := forwardedRequest{to: to, from: from, hops: hops + 1}
	if r.ContentLength != 0 {
		content, err := budget.RequestBody(w, r, owner, forwardLimit)
		if err != nil {
			return bodyError(err)
		}
		f.body = &sentBody{content: content, size: content.Size()}
		defer f.body.release()
	}
	waiting, stop := context.WithTimeout(r.Context(), fault.AnswerWithin)
	defer stop()
	if err := forwarding.Acquire(waiting, owner.Account); err != nil {
		return fault.Overloaded(forwardRetry).WithCause(err)
	}
	defer forwarding.Release(owner.Account)
	ctx, cancel := context.WithTimeout(r.Context(), forwardWithin)
	defer cancel()
	return f.send(w, r.Clone(ctx))
}

func bodyError(err error) error {
	if errors.Is(err, intake.ErrTooLarge) {
		return &fault.Error{Kind: fault.TooLarge, Code: fault.CodePayloadTooLarge, Message: "The body is too large"}
	}
	return fault.Overloaded(forwardRetry).WithCause(err)
}

// forwardedRequest is a request that is being forwarded.
type forwardedRequest struct {
	to   *url.URL
	from netip.Addr
	hops int
	body *sentBody // nil: none
}

// send sends the request r, which it changes, and passes on the response. If the target does not respond, it returns an
// error and has written nothing.
func (f forwardedRequest) send(w http.ResponseWriter, r *http.Request) (failed error) {
	for _, name := range []string{"Cookie", "Expect", "Upgrade"} {
		r.Header.Del(name)
	}
	proxy := &httputil.ReverseProxy{Transport: forwardTransport, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	proxy.Rewrite = func(p *httputil.ProxyRequest) {
		p.Out.URL, p.Out.Host = f.to, ""
		p.Out.TransferEncoding = nil
		p.Out.ContentLength, p.Out.Body = 0, http.NoBody
		if f.body != nil && f.body.size > 0 {
			p.Out.ContentLength, p.Out.GetBody = f.body.size, f.body.read
			p.Out.Body, _ = f.body.read() // has no error
		}
		p.Out.Header.Set(HeaderForwarded, strconv.Itoa(f.hops))
		if f.from.IsValid() {
			p.Out.Header.Set("X-Forwarded-For", f.from.String())
		}
		if id := telemetry.RequestID(r.Context()); id != "" {
			p.Out.Header.Set(telemetry.RequestIDHeader, id)
		}
	}
	proxy.ModifyResponse = func(response *http.Response) error {
		clear(w.Header()) // the response has its own
		response.Header.Del("Set-Cookie")
		if response.ContentLength > heldResponse {
			proxy.FlushInterval = -1
		}
		return nil
	}
	proxy.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, err error) {
		failed = (&fault.Error{Kind: fault.Unavailable, Code: fault.CodeUnavailable, RetryAfter: forwardRetry,
			Message: "The installation that has this account does not respond. Retry with the same Idempotency-Key"}).
			WithCause(err)
	}
	proxy.ServeHTTP(w, r)
	return failed
}

// sentBody is a body that net/http may still read when the request has ended and its content is released.
type sentBody struct {
	size int64

	mu       sync.Mutex
	content  *intake.Content
	released bool
}

// read returns the body from its beginning.
func (b *sentBody) read() (io.ReadCloser, error) {
	return io.NopCloser(&sentReader{b, b.content.Reader()}), nil
}

func (b *sentBody) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = true
	b.content.Close()
}

type sentReader struct {
	body *sentBody
	from io.Reader
}

// Read implements io.Reader.
func (s *sentReader) Read(p []byte) (int, error) {
	s.body.mu.Lock()
	defer s.body.mu.Unlock()
	if s.body.released {
		return 0, io.ErrClosedPipe
	}
	return s.from.Read(p)
}
