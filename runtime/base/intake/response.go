package intake

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// smallResponse is how many bytes of a response a request may hold outside the budget. The connection
	// or stream, which the gate counts, uses more than that.
	smallResponse = 8 << 10
	// smallContent is how many bytes of a body or a response may be held in memory.
	smallContent = 256 << 10
	// largestResponse is an upper bound for responses that are not streamed: the attachments of a received
	// email in base64, along with its record.
	largestResponse  = 64 << 20
	responsePatience = 5 * time.Second
)

// sendMode is how a response of more than a few KB is sent.
type sendMode int

const (
	wayHeld     sendMode = iota // by the budget, until the client has received it
	wayStreamed                 // by the handler, which counts each part
	wayShared                   // from memory that all responses share
	ways
)

func (w sendMode) String() string { return [...]string{"held", "streamed", "shared"}[w] }

// LimitHandler returns a handler whose requests and responses stay within the budget, whatever next does:
//
//   - A body takes a place among the arriving bodies, and memory for what next reads of it. It must arrive
//     at the pace, or reading it fails with ErrSlow.
//   - A response of more than a few KB is held by the budget until the client has received it. By then next
//     has returned, so a slow client ties up none of its resources. A handler that flushes streams its
//     response instead; each write is counted until it has been passed to the connection.
//
// The owner function names the owner until SetTenant names an account. refuse responds if there is no room
// for a response.
func (b *Budget) LimitHandler(next http.Handler, owner func(*http.Request) Tenant,
	refuse func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &response{ResponseWriter: w, budget: b, request: r, refuse: refuse, owner: owner(r),
			direct: r.Method == http.MethodHead}
		if r.Body != nil && r.Body != http.NoBody {
			out.body = &requestBody{ReadCloser: r.Body, response: out, meter: NewMeter(b.floor)}
			r.Body = out.body
		}
		defer out.release()
		next.ServeHTTP(out, r)
		if out.body != nil {
			// net/http checks this for a body that was not read to its end: it then closes the connection
			// in two steps, so that a client that is still sending reads the response instead of a reset.
			r.Body = out.body.ReadCloser
		}
		out.finish()
	})
}

// response is the ResponseWriter of handlers under LimitHandler.
type response struct {
	http.ResponseWriter

	budget  *Budget
	request *http.Request
	refuse  func(http.ResponseWriter)
	owner   Tenant
	body    *requestBody // nil if the request has none

	status  int
	begun   bool     // the header was passed to the connection
	passed  int64    // bytes written directly to the connection
	content *Content // the response, once it is large
	direct  bool     // writes go to the connection
	counted bool     // the written bytes are counted elsewhere
	shared  bool     // the written bytes are not memory of the request
	err     error
}

var (
	_ http.Flusher = (*response)(nil)
	_ io.Writer    = (*response)(nil)
)

// Unwrap serves http.ResponseController.
func (x *response) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader waits for the first byte: until then, the response can still become a refusal.
func (x *response) WriteHeader(status int) {
	switch {
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		x.ResponseWriter.WriteHeader(status)
	case x.status == 0:
		x.status = status
	}
}

func (x *response) writeHeader() {
	if x.begun {
		return
	}
	x.begun = true
	if x.body != nil {
		x.body.abandonRest()
	}
	if x.status == 0 {
		x.status = http.StatusOK
	}
	x.ResponseWriter.WriteHeader(x.status)
	x.limitStream()
}

// Write implements io.Writer.
func (x *response) Write(p []byte) (int, error) {
	switch {
	case x.err != nil:
		return 0, x.err
	case x.direct:
		return x.writeDirect(p)
	case x.content == nil && x.passed+int64(len(p)) <= smallResponse:
		x.writeHeader()
		n, err := x.ResponseWriter.Write(p)
		x.passed += int64(n)
		return n, err
	}
	if x.content == nil {
		x.budget.large[wayHeld].Add(1)
		x.content = x.budget.NewContent(Terms{Tenant: x.owner, MaxMemory: smallContent, MaxSize: largestResponse,
			Patience: min(responsePatience, x.budget.patience)})
	}
	if err := x.content.Append(x.request.Context(), p); err != nil {
		x.fail(err)
		return 0, err
	}
	return len(p), nil
}

// fail abandons the response. If it has not begun, a refusal is sent instead.
func (x *response) fail(err error) {
	x.err = err
	x.content.Close()
	x.content = nil
	if x.begun {
		return
	}
	header := x.Header()
	for name := range header {
		if name != "X-Request-Id" {
			delete(header, name)
		}
	}
	x.begun = true
	if x.body != nil {
		x.body.abandonRest()
	}
	x.refuse(x.ResponseWriter)
	x.limitStream()
}

// writeDirect writes to the connection. A large write is counted until it returns.
func (x *response) writeDirect(p []byte) (int, error) {
	x.writeHeader()
	if x.passed <= smallResponse && x.passed+int64(len(p)) > smallResponse {
		by := wayStreamed
		if x.shared {
			by = wayShared
		}
		x.budget.large[by].Add(1)
	}
	x.passed += int64(len(p))
	if !x.counted && len(p) > smallResponse {
		release, err := x.budget.AcquireMemory(x.request.Context(), x.owner, int64(len(p)))
		if err != nil {
			return 0, err
		}
		defer release()
	}
	return x.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (x *response) Flush() {
	x.FlushError() //nolint:errcheck // the next write returns the error
}

// FlushError sends what was written, and everything that follows immediately.
func (x *response) FlushError() error {
	if x.err == nil {
		x.err = x.passThrough()
	}
	if x.err != nil {
		return x.err
	}
	return http.NewResponseController(x.ResponseWriter).Flush()
}

// passThrough sends what the budget holds of the response. All further writes go to the connection.
func (x *response) passThrough() error {
	x.writeHeader()
	x.direct = true
	content := x.content
	if content == nil {
		return nil
	}
	defer content.Close()
	x.content = nil
	content.Finish()
	answer := x.budget.newAnswer(x.ResponseWriter, content)
	_, err := content.WriteTo(answer)
	if ended := answer.End(); err == nil {
		err = ended
	}
	return err
}

// finish sends the rest after the handler has returned.
func (x *response) finish() {
	if x.content != nil && x.err == nil {
		if h := x.Header(); !x.begun && h.Get("Content-Length") == "" {
			h.Set("Content-Length", strconv.FormatInt(x.content.Size(), 10))
		}
		x.err = x.passThrough()
	}
	if x.status != 0 && x.err == nil {
		x.writeHeader()
	}
	// net/http sends its own buffer after this.
	x.limitStream()
	if x.body != nil {
		x.body.abandonRest()
	}
}

// limitStream limits how long an HTTP/2 stream waits for a client that reads nothing. HTTP/1.1 connections have
// the pace of their gate.
func (x *response) limitStream() {
	if x.request.ProtoMajor < 2 {
		return
	}
	// A stream that has ended needs no deadline.
	http.NewResponseController(x.ResponseWriter).SetWriteDeadline(time.Now().Add(x.budget.floor.Period)) //nolint:errcheck // as above
}

// startStreaming lets the handler write to the connection itself. The handler counts what it holds.
func (x *response) startStreaming() {
	x.counted = true
	if x.content != nil && x.err == nil {
		x.err = x.passThrough()
	}
	x.direct = true
}

// release releases everything, even after a panic of the handler.
func (x *response) release() {
	if x.content != nil {
		x.content.Close()
	}
	if x.body != nil {
		x.body.release()
	}
}

// responseOf returns the response of LimitHandler that w wraps, or nil.
func responseOf(w http.ResponseWriter) *response {
	for {
		if x, is := w.(*response); is {
			return x
		}
		inner, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return nil
		}
		w = inner.Unwrap()
	}
}

// SetTenant assigns the response to an account from now on.
func SetTenant(w http.ResponseWriter, o Tenant) {
	if x := responseOf(w); x != nil && o.Account != "" {
		x.owner = o
	}
}

// WriteShared writes bytes that all responses share, such as a text that is the same for every client. They
// are neither counted nor copied.
func WriteShared(w http.ResponseWriter, p []byte) error {
	x := responseOf(w)
	if x == nil {
		_, err := w.Write(p)
		return err
	}
	x.shared = true
	answer := x.budget.NewWriter(w)
	if _, err := answer.Write(p); err != nil {
		return err
	}
	return answer.End()
}

// AcquireMemory counts memory that a request keeps until a client has received something. The errors are those of
// Pool.Take.
func (b *Budget) AcquireMemory(ctx context.Context, o Tenant, bytes int64) (release func(), err error) {
	return b.arriving.Take(ctx, o, bytes, responsePatience)
}
