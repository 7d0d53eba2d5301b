package telemetry

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
)

// StatusClientClosed is the status of a request whose client closed the connection before it had the whole
// response. It appears in logs and metrics only. RFC 9110 has no such status; nginx introduced this one.
const StatusClientClosed = 499

// observation is the outcome of one request at the level of the connection. It also replaces the request
// body, to see why reading it ended.
type observation struct {
	io.ReadCloser // the request body

	request  context.Context //nolint:containedctx // of the request, for as long as it lasts
	status   int
	begun    bool
	written  int64
	early    bool // the client disconnected before the response began
	failed   bool // the response could not be written completely
	streamed bool // parts of the response were flushed, so only the handler knows its end
	timedOut bool // reading the body exceeded the server's timeout
}

// observeRequest starts observing a request and replaces its body.
func observeRequest(r *http.Request) *observation {
	o := &observation{request: r.Context(), status: http.StatusOK, ReadCloser: r.Body}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = o
	}
	return o
}

// Read records a deadline that passed: net/http then cancels the request context as if the client had
// disconnected.
func (o *observation) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		o.timedOut = true
	}
	return n, err
}

// clientLeft reports whether the client closed the connection or reset the stream. A server that shuts down
// cancels its requests with a cause of its own.
func (o *observation) clientLeft() bool {
	return errors.Is(context.Cause(o.request), context.Canceled) && !o.timedOut
}

// finalStatus returns the status for logs and metrics, after the handler has returned.
func (o *observation) finalStatus() int {
	if o.clientLeft() && (!o.begun || o.early || o.failed || o.streamed) {
		return StatusClientClosed
	}
	return o.status
}

func (o *observation) beginResponse(status int) {
	if !o.begun {
		o.status, o.begun, o.early = status, true, o.clientLeft()
	}
}

// responseWriter is a response that is observed. http.ResponseController finds what else the server's writer can do.
type responseWriter struct {
	http.ResponseWriter

	seen *observation
}

// Unwrap returns the server's writer.
func (w responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader records the status.
func (w responseWriter) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols { // other 1xx are interim responses
		w.seen.beginResponse(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (w responseWriter) Write(b []byte) (int, error) {
	w.seen.beginResponse(http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.seen.countBytes(int64(n), err)
	return n, err
}

// ReadFrom counts bytes. The server copies a file without passing it through the process.
func (w responseWriter) ReadFrom(src io.Reader) (int64, error) {
	w.seen.beginResponse(http.StatusOK)
	n, err := io.Copy(w.ResponseWriter, src)
	w.seen.countBytes(n, err)
	return n, err
}

// Flush sends what was written.
func (w responseWriter) Flush() { _ = w.FlushError() } // recorded in failed

// FlushError sends what was written.
func (w responseWriter) FlushError() error {
	w.seen.beginResponse(http.StatusOK)
	w.seen.streamed = true
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.seen.failed = w.seen.failed || err != nil && !errors.Is(err, http.ErrNotSupported)
	return err
}

// Hijack takes over the connection. The server returns http.ErrNotSupported for HTTP/2.
func (w responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.seen.beginResponse(http.StatusSwitchingProtocols)
	}
	return conn, buffered, err
}

func (o *observation) countBytes(written int64, err error) {
	o.written += written
	o.failed = o.failed || err != nil
}
