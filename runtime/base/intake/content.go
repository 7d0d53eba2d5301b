package intake

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"time"
)

// Content holds bytes for an owner: a few in memory, and more in a spool file. One goroutine at a time can
// write; after that, any number can read. Close releases everything.
type Content struct {
	budget *Budget
	terms  Terms

	size   int64
	memory []byte
	file   *os.File
	mapped []byte

	near, far hold // of memory; of the spool, once needed
	end       func()
}

// Terms define how a content is held.
type Terms struct {
	Tenant    Tenant
	MaxMemory int64         // bytes that may be held in memory
	MaxSize   int64         // upper bound of the size
	Patience  time.Duration // how long to wait for room in the spool
}

// NewContent returns a new, empty content.
func (b *Budget) NewContent(t Terms) *Content {
	c := &Content{budget: b, terms: t}
	if t.MaxMemory > 0 {
		b.arriving.addHold(&c.near, t.Tenant, t.MaxMemory)
	}
	return c
}

// step is the smallest amount reserved in the spool at a time.
const step = 256 << 10

func roundUp(n int64) int64 { return (n + step - 1) / step * step }

// Size returns the number of bytes.
func (c *Content) Size() int64 { return c.size }

// Reserve reserves room for n bytes in one step, when the size is known. The errors are those of Append.
func (c *Content) Reserve(ctx context.Context, n int64) error {
	if n <= c.terms.MaxMemory && c.file == nil && c.growMemory(int(n)) {
		return nil
	}
	return c.reserveSpool(ctx, n)
}

// Append adds bytes. The errors are ErrFull, ErrCut and that of ctx. A disk error is ErrFull as well.
func (c *Content) Append(ctx context.Context, p []byte) error {
	if c.file == nil && c.far.held == 0 && c.size+int64(len(p)) <= c.terms.MaxMemory && c.growMemory(len(p)) {
		c.memory = append(c.memory, p...)
		c.size += int64(len(p))
		return nil
	}
	if err := c.spillToFile(ctx, int64(len(p))); err != nil {
		return err
	}
	if _, err := c.file.WriteAt(p, c.size); err != nil {
		return c.budget.diskError(err)
	}
	c.size += int64(len(p))
	return nil
}

// Writer returns an io.Writer that appends. It is valid as long as ctx.
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

// growMemory makes room for n more bytes in memory, without waiting.
func (c *Content) growMemory(n int) bool {
	need := len(c.memory) + n
	if need <= cap(c.memory) {
		return true
	}
	larger := min(max(need, 2*cap(c.memory)), int(c.terms.MaxMemory))
	if !c.near.tryTake(int64(larger - cap(c.memory))) {
		return false
	}
	c.memory = append(make([]byte, 0, larger), c.memory...)
	return true
}

// spillToFile makes room for n more bytes in the file, and moves the bytes in memory there.
func (c *Content) spillToFile(ctx context.Context, n int64) error {
	if err := c.reserveSpool(ctx, c.size+n); err != nil {
		return err
	}
	if c.file != nil {
		return nil
	}
	file, err := c.budget.createFile()
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

// reserveSpool reserves a total of n bytes in the spool.
func (c *Content) reserveSpool(ctx context.Context, n int64) error {
	if c.far.pool == nil {
		c.budget.spool.addHold(&c.far, c.terms.Tenant, roundUp(max(n, c.terms.MaxSize)))
		if c.end != nil {
			c.far.startTransfer(c.end)
		}
	}
	more := roundUp(n) - c.far.held
	if more <= 0 {
		return nil
	}
	if err := c.budget.diskHas(more); err != nil {
		return err
	}
	return c.far.takeUnits(ctx, more, c.terms.Patience)
}

// Extend adds n zero bytes in the file and returns them for writing: a place for large output of this
// process. It may be called once, on an empty content.
func (c *Content) Extend(ctx context.Context, n int64) ([]byte, error) {
	if err := c.spillToFile(ctx, n); err != nil {
		return nil, err
	}
	zeros := make([]byte, min(n, step))
	for c.size < n { // written explicitly: a sparse file that runs out of disk later would crash the process
		piece := zeros[:min(n-c.size, step)]
		if _, err := c.file.WriteAt(piece, c.size); err != nil {
			return nil, c.budget.diskError(err)
		}
		c.size += int64(len(piece))
	}
	return c.Bytes()
}

// Trim keeps the first n bytes and releases the rest. Slices returned earlier must not be used any more.
func (c *Content) Trim(n int64) error {
	if n >= c.size || c.file == nil {
		return nil
	}
	c.unmap()
	if err := c.file.Truncate(n); err != nil {
		return c.budget.diskError(err)
	}
	c.size = n
	c.far.releaseUnits(c.far.held - roundUp(n))
	return nil
}

// ReadAt implements io.ReaderAt.
func (c *Content) ReadAt(p []byte, off int64) (int, error) {
	if c.file != nil {
		return io.NewSectionReader(c.file, 0, c.size).ReadAt(p, off)
	}
	return bytes.NewReader(c.memory).ReadAt(p, off)
}

// Reader returns a reader that starts at the beginning.
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

// Bytes returns the bytes without copying them, valid until Close. If they are in a file, the slice is the
// mapped file, whose memory the kernel may evict and read again: see RecoverDiskFault.
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

// EvictPages lets the kernel evict the memory of the mapped file. The addresses stay valid.
func (c *Content) EvictPages() {
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

// InMemory reports whether the bytes are in memory.
func (c *Content) InMemory() bool { return c.file == nil }

// Finish ends writing and releases what was reserved but not used.
func (c *Content) Finish() {
	if spare := c.far.held - roundUp(c.size); c.far.pool != nil && spare > 0 {
		c.far.releaseUnits(spare)
	}
	c.far.stopGrowing()
}

// Close releases everything. It may be called more than once.
func (c *Content) Close() {
	c.unmap()
	if c.file != nil {
		c.file.Close() // the file is already unlinked
	}
	c.memory, c.file, c.size = nil, nil, 0
	c.near.leave()
	c.far.leave()
}

// AllowCut registers end, which is called when another client needs the room and this client is the slowest of
// its share. end must not block. Call CountMoved for bytes that the client has sent or received, and
// DisallowCut when this process no longer waits for the client; end is not called afterwards.
func (c *Content) AllowCut(end func()) {
	if c.end = end; end != nil && c.far.pool != nil {
		c.far.startTransfer(end)
	}
}

// CountMoved counts bytes that a client has sent or received.
func (c *Content) CountMoved(n int) {
	if c.far.pool != nil {
		c.far.countTransfer(n)
	}
}

// DisallowCut reverts AllowCut, and returns ErrCut if the client was ended.
func (c *Content) DisallowCut() error {
	if c.end = nil; c.far.endTransfer() {
		return ErrCut
	}
	return nil
}

func (c *Content) isCut() bool { return c.far.pool != nil && c.far.isEnded() }
