package telemetry

import (
	"io"
	"net/http"

	"github.com/felixge/httpsnoop"
)

// observation is what went out.
type observation struct {
	status  int
	begun   bool
	written int64
}

// wrap keeps the optional interfaces of w (Flusher for streams, …).
func (o *observation) wrap(w http.ResponseWriter) http.ResponseWriter {
	return httpsnoop.Wrap(w, httpsnoop.Hooks{
		WriteHeader: func(next httpsnoop.WriteHeaderFunc) httpsnoop.WriteHeaderFunc {
			return func(status int) {
				if !o.begun && status >= http.StatusOK { // 1xx announce, they do not answer
					o.status, o.begun = status, true
				}
				next(status)
			}
		},
		Write: func(next httpsnoop.WriteFunc) httpsnoop.WriteFunc {
			return func(b []byte) (int, error) {
				o.begun = true
				n, err := next(b)
				o.written += int64(n)
				return n, err
			}
		},
		ReadFrom: func(next httpsnoop.ReadFromFunc) httpsnoop.ReadFromFunc {
			return func(src io.Reader) (int64, error) {
				o.begun = true
				n, err := next(src)
				o.written += n
				return n, err
			}
		},
	})
}
