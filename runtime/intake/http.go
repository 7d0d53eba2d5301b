package intake

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// How HTTP bodies are taken.
const (
	smallBody    = 256 << 10 // octets that may lie in memory
	bodyPatience = 5 * time.Second
	bodyWithin   = 30 * time.Minute // 22 MB at 100 kbit/s
)

// RequestBody reads the body of a request of which at most limit octets are taken. It
// waits for the place of one more body in the share of the owner, and takes room as the
// octets come. The errors are ErrFull, ErrCut, ErrSlow, ErrTooLarge and those of the
// connection.
func (b *Budget) RequestBody(w http.ResponseWriter, r *http.Request, o Owner, limit int64) (*Content, error) {
	ctx := r.Context()
	if r.ContentLength > limit {
		return nil, ErrTooLarge
	}
	leave, err := b.Body(ctx, o, min(bodyPatience, b.patience))
	if err != nil {
		return nil, err
	}
	defer leave()
	deadline := readDeadline(w)
	c := b.Content(Terms{Owner: o, Small: smallBody, Most: limit, Patience: b.patience})
	err = c.Arrive(ctx, Arrival{From: r.Body, Limit: limit, Size: r.ContentLength, Deadline: deadline, Within: bodyWithin,
		Cut: func() { deadline(time.Unix(1, 0)) }}) //nolint:errcheck // a connection that is gone says so when it is read
	if err != nil {
		c.Close()
		return nil, err
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
