package intake

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Arrival says how a content comes over a connection.
type Arrival struct {
	From  io.Reader
	Limit int64 // octets that are taken
	Size  int64 // as declared; -1: not. Memory is not taken for more than has come.
	// Deadline sets when reads of From end with os.ErrDeadlineExceeded; nil: From keeps the
	// pace itself.
	Deadline func(time.Time) error
	Within   time.Duration // for all of it, with Deadline
	// Cut ends a read of From that waits, at once; see Content.Cut.
	Cut func()
}

// firstPiece is as much memory as is taken before anything has come.
const firstPiece = 16 << 10

// Arrive reads all of From. The errors are ErrTooLarge, ErrSlow, those of Append, and that
// of From, which is io.ErrUnexpectedEOF where less came than was declared.
func (c *Content) Arrive(ctx context.Context, a Arrival) error {
	in := arrival{Arrival: a, content: c, meter: NewMeter(c.budget.floor), end: time.Now().Add(a.Within)}
	c.Cut(a.Cut)
	err := in.read(ctx)
	if cut := c.Uncut(); cut != nil {
		err = cut
	}
	c.Whole()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.budget.slow.Add(1)
		return ErrSlow
	case err == nil && a.Size > c.size:
		return io.ErrUnexpectedEOF
	}
	return err
}

type arrival struct {
	Arrival

	content *Content
	meter   Meter
	end     time.Time // of all of it
	limit   time.Time // that is set
}

func (a *arrival) read(ctx context.Context) error {
	err := a.small()
	if !errors.Is(err, errSpill) {
		return ignoreEOF(err)
	}
	piece := pieces.Get().(*[]byte) //nolint:forcetypeassert // the pool has no others
	defer pieces.Put(piece)
	for {
		n, err := a.next(*piece)
		if a.content.size+int64(n) > a.Limit {
			return ErrTooLarge
		}
		if n > 0 {
			began := time.Now()
			if err := a.content.Append(ctx, (*piece)[:n]); err != nil {
				return err
			}
			a.content.Moved(n)
			if time.Since(began) > 100*time.Millisecond { // which was not the client's fault
				a.limit = time.Time{}
			}
		}
		if err != nil {
			return ignoreEOF(err)
		}
	}
}

var pieces = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

var errSpill = errors.New("it goes on in the spool")

// small reads into memory, as long as there is room.
func (a *arrival) small() error {
	c := a.content
	first := min(firstPiece, c.terms.Small)
	if a.Size >= 0 {
		first = min(first, a.Size+1)
	}
	if first <= 0 || !c.grow(int(first)) {
		return errSpill
	}
	for {
		if len(c.memory) == cap(c.memory) && (c.size >= c.terms.Small || !c.grow(1)) {
			return errSpill
		}
		n, err := a.next(c.memory[len(c.memory):cap(c.memory)])
		c.memory = c.memory[:len(c.memory)+n]
		c.size += int64(n)
		switch {
		case c.size > a.Limit:
			return ErrTooLarge
		case err != nil:
			return err
		case c.size == a.Size: // a reader that knows its end has told it; ask nothing more
			return nil
		}
	}
}

// next reads once, and no longer than the pace allows.
func (a *arrival) next(b []byte) (int, error) {
	if a.Deadline == nil {
		return a.From.Read(b)
	}
	now := time.Now()
	if limit := a.meter.Left(); a.limit.IsZero() || a.meter.moved == 0 && a.meter.left == a.meter.pace.Within {
		a.limit = now.Add(limit)
		if a.end.Before(a.limit) {
			a.limit = a.end
		}
		if err := a.Deadline(a.limit); err != nil {
			return 0, err
		}
	}
	n, err := a.From.Read(b)
	a.meter.Count(n, time.Since(now))
	return n, err
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
