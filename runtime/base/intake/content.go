package intake

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"time"
)

// Content is octets that are held for somebody: in memory while they are few, else in a
// file of the spool. One goroutine at a time may write; once written any number may read.
// Close gives everything back.
type Content struct {
	budget *Budget
	terms  Terms

	size   int64
	memory []byte
	file   *os.File
	mapped []byte

	near, far hold // of memory; of the spool, once it is needed
	end       func()
}

// Terms say how a content is held.
type Terms struct {
	Owner    Owner
	Small    int64         // octets that may lie in memory
	Most     int64         // there will be no more than these
	Patience time.Duration // with which room in the spool is waited for
}

// Content makes an empty one.
func (b *Budget) Content(t Terms) *Content {
	c := &Content{budget: b, terms: t}
	if t.Small > 0 {
		b.arriving.enter(&c.near, t.Owner, t.Small)
	}
	return c
}

// step is the least that is taken of the spool at a time.
const step = 256 << 10

func roundUp(n int64) int64 { return (n + step - 1) / step * step }

// Size is how many octets there are.
func (c *Content) Size() int64 { return c.size }

// Reserve takes room for n octets at once, where it is known how many there will be.
// The errors are those of Append.
func (c *Content) Reserve(ctx context.Context, n int64) error {
	if n <= c.terms.Small && c.file == nil && c.grow(int(n)) {
		return nil
	}
	return c.room(ctx, n)
}

// Append adds octets. The errors are ErrFull, ErrCut and that of ctx; an error of the
// disk is ErrFull as well.
func (c *Content) Append(ctx context.Context, p []byte) error {
	if c.file == nil && c.far.held == 0 && c.size+int64(len(p)) <= c.terms.Small && c.grow(len(p)) {
		c.memory = append(c.memory, p...)
		c.size += int64(len(p))
		return nil
	}
	if err := c.spill(ctx, int64(len(p))); err != nil {
		return err
	}
	if _, err := c.file.WriteAt(p, c.size); err != nil {
		return c.budget.diskError(err)
	}
	c.size += int64(len(p))
	return nil
}

// Writer is Append for those who write. It is good for as long as ctx is.
func (c *Content) Writer(ctx context.Context) io.Writer { return appender{ctx, c} }

type appender struct {
	ctx context.Context
	to  *Content
}

func (a appender) Write(p []byte) (int, error) {
	if err := a.to.Append(a.ctx, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// grow makes room for n more octets in memory, without waiting.
func (c *Content) grow(n int) bool {
	need := len(c.memory) + n
	if need <= cap(c.memory) {
		return true
	}
	larger := min(max(need, 2*cap(c.memory)), int(c.terms.Small))
	if !c.near.try(int64(larger - cap(c.memory))) {
		return false
	}
	c.memory = append(make([]byte, 0, larger), c.memory...)
	return true
}

// spill makes room for n more octets in the file, and brings there what is in memory.
func (c *Content) spill(ctx context.Context, n int64) error {
	if err := c.room(ctx, c.size+n); err != nil {
		return err
	}
	if c.file != nil {
		return nil
	}
	file, err := c.budget.create()
	if err != nil {
		return err
	}
	c.file = file
	if _, err := file.WriteAt(c.memory, 0); err != nil {
		return c.budget.diskError(err)
	}
	c.near.leave()
	c.memory = nil
	return nil
}

// room has the spool keep room for n octets in all.
func (c *Content) room(ctx context.Context, n int64) error {
	if c.far.pool == nil {
		c.budget.spool.enter(&c.far, c.terms.Owner, roundUp(max(n, c.terms.Most)))
		if c.end != nil {
			c.far.moving(c.end)
		}
	}
	more := roundUp(n) - c.far.held
	if more <= 0 {
		return nil
	}
	if err := c.budget.diskHas(more); err != nil {
		return err
	}
	return c.far.take(ctx, more, c.terms.Patience)
}

// Blank adds n octets in the file, all zero, and gives them to be written to: a place for
// something large that is made here. It may be called once, on an empty content.
func (c *Content) Blank(ctx context.Context, n int64) ([]byte, error) {
	if err := c.spill(ctx, n); err != nil {
		return nil, err
	}
	zeros := make([]byte, min(n, step))
	for c.size < n { // real ones: a hole that finds no room on the disk later ends the process
		piece := zeros[:min(n-c.size, step)]
		if _, err := c.file.WriteAt(piece, c.size); err != nil {
			return nil, c.budget.diskError(err)
		}
		c.size += int64(len(piece))
	}
	return c.Bytes()
}

// Trim forgets what is behind the first n octets, and gives the room back. Bytes that
// were given before must not be used any more.
func (c *Content) Trim(n int64) error {
	if n >= c.size || c.file == nil {
		return nil
	}
	c.unmap()
	if err := c.file.Truncate(n); err != nil {
		return c.budget.diskError(err)
	}
	c.size = n
	c.far.give(c.far.held - roundUp(n))
	return nil
}

// ReadAt implements io.ReaderAt.
func (c *Content) ReadAt(p []byte, off int64) (int, error) {
	if c.file != nil {
		return io.NewSectionReader(c.file, 0, c.size).ReadAt(p, off)
	}
	return bytes.NewReader(c.memory).ReadAt(p, off)
}

// Reader reads from the beginning.
func (c *Content) Reader() *io.SectionReader { return io.NewSectionReader(c, 0, c.size) }

// WriteTo implements io.WriterTo.
func (c *Content) WriteTo(w io.Writer) (int64, error) {
	if c.file == nil {
		n, err := w.Write(c.memory)
		return int64(n), err
	}
	piece := pieces.Get().(*[]byte) //nolint:forcetypeassert // the pool has no others
	defer pieces.Put(piece)
	return io.CopyBuffer(w, struct{ io.Reader }{c.Reader()}, *piece)
}

// Bytes are the octets where they lie, good until Close. In a file that is the file
// itself, and the kernel may take the memory of it away and read it again: see Guarded.
func (c *Content) Bytes() ([]byte, error) {
	if c.file == nil {
		return c.memory, nil
	}
	if c.mapped == nil {
		mapped, err := mapFile(c.file, c.size)
		if err != nil {
			return nil, c.budget.diskError(err)
		}
		c.mapped = mapped
	}
	return slices.Clip(c.mapped), nil
}

// Rest lets the kernel take the memory away in which the octets were written or read last.
// They stay where they lie.
func (c *Content) Rest() {
	if c.mapped != nil {
		restFile(c.mapped)
	}
}

func (c *Content) unmap() {
	if c.mapped != nil {
		unmapFile(c.mapped)
		c.mapped = nil
	}
}

// InMemory tells whether the octets are in memory.
func (c *Content) InMemory() bool { return c.file == nil }

// Whole says that nothing more comes. What was reserved and is not needed is given back.
func (c *Content) Whole() {
	if spare := c.far.held - roundUp(c.size); c.far.pool != nil && spare > 0 {
		c.far.give(spare)
	}
	c.far.settle()
}

// Close gives everything back. It may be called more than once.
func (c *Content) Close() {
	c.unmap()
	if c.file != nil {
		c.file.Close() // it has no name any more
	}
	c.memory, c.file, c.size = nil, nil, 0
	c.near.leave()
	c.far.leave()
}

// Cut has end called when somebody else needs the room and the client is the slowest of
// its share. end must not wait. Moved counts what a client has brought or taken; Uncut says
// that it is ours to go on, after which end is not called any more.
func (c *Content) Cut(end func()) {
	if c.end = end; end != nil && c.far.pool != nil {
		c.far.moving(end)
	}
}

// Moved counts octets that a client has brought or taken.
func (c *Content) Moved(n int) {
	if c.far.pool != nil {
		c.far.moves(n)
	}
}

// Uncut ends Cut, and gives ErrCut when the client was ended.
func (c *Content) Uncut() error {
	if c.end = nil; c.far.still() {
		return ErrCut
	}
	return nil
}

func (c *Content) isCut() bool { return c.far.pool != nil && c.far.wasEnded() }
