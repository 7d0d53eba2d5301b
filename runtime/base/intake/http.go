package intake

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// The limits for HTTP bodies.
const (
	bodyPatience = 5 * time.Second
	bodyWithin   = 30 * time.Minute // 22 MB at 100 kbit/s
)

// RequestBody reads the body of a request, at most limit bytes. It waits for a place among the arriving
// bodies in the share of the owner, and reserves room as the bytes arrive. The errors are ErrFull, ErrCut,
// ErrSlow, ErrTooLarge and those of the connection.
func (b *Budget) RequestBody(w http.ResponseWriter, r *http.Request, o Tenant, limit int64) (*Content, error) {
	ctx, from := r.Context(), r.Body
	bounded, _ := from.(*requestBody)
	if bounded != nil {
		from = bounded.ReadCloser // it is bounded here
	}
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	leave, err := b.AcquireBody(ctx, o, min(bodyPatience, b.patience))
	if err != nil {
		return nil, err
	}
	defer leave()
	deadline := readDeadline(w)
	c := b.NewContent(Terms{Tenant: o, MaxMemory: smallContent, MaxSize: limit, Patience: b.patience})
	err = c.Receive(ctx, Upload{From: from, Limit: limit, Size: r.ContentLength, Deadline: deadline, Within: bodyWithin,
		Cut: func() { deadline(time.Unix(1, 0)) }}) //nolint:errcheck // the next read of a closed connection fails
	if err != nil {
		c.Close()
		return nil, err
	}
	if bounded != nil {
		bounded.ended = true
	}
	// net/http keeps reading after the body to detect a disconnect, and would take a late deadline for one.
	return c, deadline(time.Time{})
}

func readDeadline(w http.ResponseWriter) func(time.Time) error {
	controller := http.NewResponseController(w)
	return func(at time.Time) error {
		if err := controller.SetReadDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return nil
	}
}

// PacedWriter writes a response that may be large to a client that may be slow. A client slower than the pace is
// ended. The contents of the response are held meanwhile, on disk if they are large.
type PacedWriter struct {
	to         http.ResponseWriter
	pace       Rate
	controller *http.ResponseController
	holding    []*Content
	err        error
}

// NewWriter begins a response. contents are the sources of the response: they are released early if other
// clients need the room and this client is the slowest.
func (b *Budget) NewWriter(w http.ResponseWriter, made ...*Content) *PacedWriter {
	if x := responseOf(w); x != nil {
		x.startStreaming()
	}
	return b.newAnswer(w, made...)
}

func (b *Budget) newAnswer(w http.ResponseWriter, made ...*Content) *PacedWriter {
	a := &PacedWriter{to: w, pace: b.floor, controller: http.NewResponseController(w), holding: made}
	for _, c := range made {
		c.AllowCut(func() { a.controller.SetWriteDeadline(time.Unix(1, 0)) }) //nolint:errcheck // the next write to a closed connection fails
	}
	return a
}

// Write remembers the first error: the client has disconnected, and further writes are skipped.
func (a *PacedWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 && a.err == nil {
		piece := b[:min(int64(len(b)), a.pace.Bytes)]
		if a.err = a.setDeadline(time.Now().Add(a.pace.Period)); a.err != nil {
			break
		}
		var wrote int
		wrote, a.err = a.to.Write(piece)
		n, b = n+wrote, b[wrote:]
		for _, c := range a.holding {
			c.CountMoved(wrote)
		}
	}
	return n, a.err
}

// setDeadline sets the write deadline. It does not override the deadline set by a content that was cut.
func (a *PacedWriter) setDeadline(at time.Time) error {
	for _, c := range a.holding {
		if c.isCut() {
			return ErrCut
		}
	}
	if err := a.controller.SetWriteDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// End returns the first error, and clears the deadline for what follows on the connection.
func (a *PacedWriter) End() error {
	for _, c := range a.holding {
		if err := c.DisallowCut(); a.err == nil {
			a.err = err
		}
	}
	if a.err == nil {
		a.err = a.setDeadline(time.Time{})
	}
	return a.err
}

// WorkOnBody waits for the memory to process a body that has arrived: for the texts built from it for the
// database, and for the part of the body that the kernel keeps in memory meanwhile. A body in memory needs
// none.
func (b *Budget) WorkOnBody(ctx context.Context, o Tenant, c *Content) (release func(), err error) {
	if c.Size() <= workFrom {
		return func() {}, nil
	}
	return b.AcquireWork(ctx, o, 4*min(c.Size(), mostText)+c.Size()/2, b.patience)
}

const (
	workFrom = 1 << 20  // bytes; smaller bodies cost little compared to the request
	mostText = 20 << 20 // of a body: a batch; a single email has at most 10 MB
)
