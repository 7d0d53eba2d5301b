package intake

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Upload defines how a content is read from a connection.
type Upload struct {
	From  io.Reader
	Limit int64 // maximum number of bytes
	Size  int64 // as declared by the client, -1 if undeclared; memory is only allocated for bytes that have arrived
	// Deadline sets when reads of From end with os.ErrDeadlineExceeded. If nil, From enforces the pace
	// itself.
	Deadline func(time.Time) error
	Within   time.Duration // limit for the whole content, with Deadline
	// Cut interrupts a blocked read of From immediately; see Content.AllowCut.
	Cut func()
}

// firstPiece is the amount of memory allocated before any bytes have arrived.
const firstPiece = 16 << 10

// Receive reads all of From. The errors are ErrTooLarge, ErrSlow, those of Append, and those of From, which
// include io.ErrUnexpectedEOF if fewer bytes arrived than declared.
func (c *Content) Receive(ctx context.Context, a Upload) error {
	in := upload{Upload: a, content: c, meter: NewMeter(c.budget.floor), end: time.Now().Add(a.Within)}
	c.AllowCut(a.Cut)
	err := in.readAll(ctx)
	if cut := c.DisallowCut(); cut != nil {
		err = cut
	}
	c.Finish()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.budget.slow.Add(1)
		return ErrSlow
	case err == nil && a.Size > c.size:
		return io.ErrUnexpectedEOF
	}
	return err
}

type upload struct {
	Upload

	content *Content
	meter   Meter
	end     time.Time // deadline of the whole content
	limit   time.Time // the deadline that is set
}

func (a *upload) readAll(ctx context.Context) error {
	err := a.readIntoMemory()
	if !errors.Is(err, errSpill) {
		return ignoreEOF(err)
	}
	piece := pieces.Get().(*[]byte) //nolint:forcetypeassert // the pool has no others
	defer pieces.Put(piece)
	for {
		n, err := a.readNext(*piece)
		if a.content.size+int64(n) > a.Limit {
			return ErrTooLarge
		}
		if n > 0 {
			began := time.Now()
			if err := a.content.Append(ctx, (*piece)[:n]); err != nil {
				return err
			}
			a.content.CountMoved(n)
			if time.Since(began) > 100*time.Millisecond { // not the client's fault
				a.limit = time.Time{}
			}
		}
		if err != nil {
			return ignoreEOF(err)
		}
	}
}

var pieces = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

var errSpill = errors.New("continue in the spool")

// readIntoMemory reads into memory, as long as there is room.
func (a *upload) readIntoMemory() error {
	c := a.content
	first := min(firstPiece, c.terms.MaxMemory)
	if a.Size >= 0 {
		first = min(first, a.Size+1)
	}
	if first <= 0 || !c.growMemory(int(first)) {
		return errSpill
	}
	for {
		if len(c.memory) == cap(c.memory) && (c.size >= c.terms.MaxMemory || !c.growMemory(1)) {
			return errSpill
		}
		n, err := a.readNext(c.memory[len(c.memory):cap(c.memory)])
		c.memory = c.memory[:len(c.memory)+n]
		c.size += int64(n)
		switch {
		case c.size > a.Limit:
			return ErrTooLarge
		case err != nil:
			return err
		case c.size == a.Size: // all declared bytes have arrived; do not read again
			return nil
		}
	}
}

// readNext reads once, for no longer than the pace allows.
func (a *upload) readNext(b []byte) (int, error) {
	if a.Deadline == nil {
		return a.From.Read(b)
	}
	now := time.Now()
	if limit := a.meter.TimeLeft(); a.limit.IsZero() || a.meter.moved == 0 && a.meter.left == a.meter.pace.Period {
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
