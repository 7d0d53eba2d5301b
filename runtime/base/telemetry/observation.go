package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/felixge/httpsnoop"
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

// wrapWriter preserves the optional interfaces of w (http.Flusher and others).
func (o *observation) wrapWriter(w http.ResponseWriter) http.ResponseWriter {
	return httpsnoop.Wrap(w, httpsnoop.Hooks{
		WriteHeader: func(next httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
			return func(status int) {
				if status >= http.StatusOK || status == http.StatusSwitchingProtocols { // other 1xx are interim responses
					o.beginResponse(status)
				}
				if o.early && status >= http.StatusInternalServerError {
					status = StatusClientClosed // for the span, where any 5xx counts as an error
				}
				next(status)
			}
		},
		Write: func(next httpsnoop.WriteFunc) httpsnoop.WriteFunc {
			return func(b []byte) (int, error) {
				o.beginResponse(http.StatusOK)
				n, err := next(b)
				o.countBytes(int64(n), err)
				return n, err
			}
		},
		ReadFrom: func(next httpsnoop.ReadFromFunc) httpsnoop.ReadFromFunc {
			return func(src io.Reader) (int64, error) {
				o.beginResponse(http.StatusOK)
				n, err := next(src)
				o.countBytes(n, err)
				return n, err
			}
		},
		Flush: func(next httpsnoop.FlushFunc) httpsnoop.FlushFunc {
			return func() {
				o.beginResponse(http.StatusOK)
				o.streamed = true
				next()
			}
		},
		FlushError: func(next httpsnoop.FlushErrorFunc) httpsnoop.FlushErrorFunc {
			return func() error {
				o.beginResponse(http.StatusOK)
				o.streamed = true
				err := next()
				o.failed = o.failed || err != nil
				return err
			}
		},
	})
}

func (o *observation) countBytes(written int64, err error) {
	o.written += written
	o.failed = o.failed || err != nil
}
