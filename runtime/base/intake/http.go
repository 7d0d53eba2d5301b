package intake

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// How HTTP bodies are taken.
const (
	bodyPatience = 5 * time.Second
	bodyWithin   = 30 * time.Minute // 22 MB at 100 kbit/s
)

// RequestBody reads the body of a request of which at most limit octets are taken. It
// waits for the place of one more body in the share of the owner, and takes room as the
// octets come. The errors are ErrFull, ErrCut, ErrSlow, ErrTooLarge and those of the
// connection.
func (b *Budget) RequestBody(w http.ResponseWriter, r *http.Request, o Owner, limit int64) (*Content, error) {
	ctx, from := r.Context(), r.Body
	bounded, _ := from.(*requestBody)
	if bounded != nil {
		from = bounded.ReadCloser // it is bounded here
	}
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	leave, err := b.Body(ctx, o, min(bodyPatience, b.patience))
	if err != nil {
		return nil, err
	}
	defer leave()
	deadline := readDeadline(w)
	c := b.Content(Terms{Owner: o, Small: smallContent, Most: limit, Patience: b.patience})
	err = c.Arrive(ctx, Arrival{From: from, Limit: limit, Size: r.ContentLength, Deadline: deadline, Within: bodyWithin,
		Cut: func() { deadline(time.Unix(1, 0)) }}) //nolint:errcheck // a connection that is gone says so when it is read
	if err != nil {
		c.Close()
		return nil, err
	}
	if bounded != nil {
		bounded.ended = true
	}
	// net/http goes on reading behind the body to see the client leave, and would take a
	// late deadline for that.
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

// Answer writes an answer that may be large to a client that may be slow: what is taken of
// it more slowly than the pace ends it. What the answer is made of is held meanwhile by
// contents, and lies on disk when it is large.
type Answer struct {
	to         http.ResponseWriter
	pace       Pace
	controller *http.ResponseController
	holding    []*Content
	err        error
}

// Answer begins one. The contents are what it is made of: they are given up when others
// need the room, and the client is the slowest.
func (b *Budget) Answer(w http.ResponseWriter, made ...*Content) *Answer {
	if x := responseOf(w); x != nil {
		x.stream()
	}
	return b.newAnswer(w, made...)
}

func (b *Budget) newAnswer(w http.ResponseWriter, made ...*Content) *Answer {
	a := &Answer{to: w, pace: b.floor, controller: http.NewResponseController(w), holding: made}
	for _, c := range made {
		c.Cut(func() { a.controller.SetWriteDeadline(time.Unix(1, 0)) }) //nolint:errcheck // a connection that is gone says so when it is written to
	}
	return a
}

// Write remembers the first error, for the client has left then, and the rest is spared.
func (a *Answer) Write(b []byte) (n int, err error) {
	for len(b) > 0 && a.err == nil {
		piece := b[:min(int64(len(b)), a.pace.Octets)]
		if a.err = a.deadline(time.Now().Add(a.pace.Within)); a.err != nil {
			break
		}
		var wrote int
		wrote, a.err = a.to.Write(piece)
		n, b = n+wrote, b[wrote:]
		for _, c := range a.holding {
			c.Moved(wrote)
		}
	}
	return n, a.err
}

// deadline leaves alone what a content that was cut has set.
func (a *Answer) deadline(at time.Time) error {
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

// End gives the first error, and lifts the deadline for what follows on the connection.
func (a *Answer) End() error {
	for _, c := range a.holding {
		if err := c.Uncut(); a.err == nil {
			a.err = err
		}
	}
	if a.err == nil {
		a.err = a.deadline(time.Time{})
	}
	return a.err
}

// WorkOnBody waits for the memory in which a body is worked on, once it has come: what is
// made of texts in it for the database, and a part of the body, which the kernel keeps in
// memory meanwhile. Of a body that lies in memory it takes none.
func (b *Budget) WorkOnBody(ctx context.Context, o Owner, c *Content) (release func(), err error) {
	if c.Size() <= workFrom {
		return func() {}, nil
	}
	return b.Work(ctx, o, 4*min(c.Size(), mostText)+c.Size()/2, b.patience)
}

const (
	workFrom = 1 << 20  // octets; below that the work is small beside the request
	mostText = 20 << 20 // of a body: a batch. A single email has 10 MB
)
