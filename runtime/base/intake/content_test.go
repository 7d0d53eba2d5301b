package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newBudget(t testing.TB, change ...func(*Config)) *Budget {
	t.Helper()
	c := Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&c)
	}
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, err := os.ReadDir(c.Dir)
		if err != nil || len(left) > 0 {
			t.Errorf("after the test the folder of the spool has %d files, %v", len(left), err)
		}
		for name, p := range map[string]*Pool{"arriving": b.arriving, "working": b.working, "spool": b.spool,
			"bodies": b.bodies, "reads": b.reads} {
			if p.used != 0 || len(p.shares) != 0 {
				t.Errorf("after the test %s holds %d in %d shares, want nothing", name, p.used, len(p.shares))
			}
		}
	})
	return b
}

func (b *Budget) content(t testing.TB, small int64) *Content {
	t.Helper()
	c := b.NewContent(Terms{Tenant: account("a"), MaxMemory: small, MaxSize: 10 << 20, Patience: time.Second})
	t.Cleanup(c.Close)
	return c
}

func sample(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}

// Written bytes are read back unchanged, from memory and from a file.
func TestSmallContentIsInMemory(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	for _, size := range []int{0, 1, 4095, 4096, 4097, 100_000, 1 << 20} {
		for _, piece := range []int{1000, 4096, 70_000} {
			c := b.content(t, 4096)
			want := sample(size)
			for rest := want; len(rest) > 0; {
				n := min(piece, len(rest))
				if err := c.Append(t.Context(), rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if c.Size() != int64(size) || c.InMemory() != (size <= 4096) {
				t.Errorf("a content of %d bytes has %d, in memory: %v", size, c.Size(), c.InMemory())
			}
			read, err := io.ReadAll(c.Reader())
			if err != nil || !bytes.Equal(read, want) {
				t.Errorf("for %d bytes in pieces of %d, the reader returned %d, %v", size, piece, len(read), err)
			}
			lie, err := c.Bytes()
			if err != nil || !bytes.Equal(lie, want) || cap(lie) != len(lie) && !c.InMemory() {
				t.Errorf("for %d bytes in pieces of %d, Bytes returned %d, %v", size, piece, len(lie), err)
			}
			if held := b.arriving.used; size > 4096 && held != 0 {
				t.Errorf("a content of %d bytes in the spool holds %d bytes of memory", size, held)
			}
			c.Close()
			c.Close()
		}
	}
}

// Small contents go to the spool while their memory is used up. No request waits for that memory.
func TestSmallContentGoesToTheSpoolWithoutMemory(t *testing.T) {
	t.Parallel()
	b := newBudget(t, func(c *Config) { c.Arriving = 4 * 4096 })
	one, other := b.content(t, 4096), b.content(t, 4096)
	for _, c := range []*Content{one, other} {
		if err := c.Append(t.Context(), sample(3000)); err != nil {
			t.Fatal(err)
		}
	}
	if !one.InMemory() || other.InMemory() {
		t.Errorf("in a share with room for one, the first is in memory: %v, the second: %v", one.InMemory(),
			other.InMemory())
	}
	if read, err := io.ReadAll(other.Reader()); err != nil || !bytes.Equal(read, sample(3000)) {
		t.Errorf("the second returned %d bytes, %v", len(read), err)
	}
}

func TestExtendReturnsWritableBytes(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	c := b.content(t, 0)
	room, err := c.Extend(t.Context(), 700_000)
	if err != nil || len(room) != 700_000 || bytes.Trim(room, "\x00") != nil && len(bytes.Trim(room, "\x00")) > 0 {
		t.Fatalf("%d bytes, %v", len(room), err)
	}
	copy(room, sample(600_000))
	if err := c.Trim(600_000); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Bytes(); err != nil || !bytes.Equal(got, sample(600_000)) {
		t.Errorf("the bytes written in place were read back as %d bytes, %v", len(got), err)
	}
	if held := b.spool.used; held != roundUp(600_000) {
		t.Errorf("after Trim, %d bytes are held, want %d", held, roundUp(600_000))
	}
}

// A full spool returns ErrFull after Patience, and the units are released.
func TestFullSpoolReturnsErrFull(t *testing.T) {
	t.Parallel()
	b := newBudget(t, func(c *Config) { c.Spool = 8 << 20 })
	first := b.content(t, 0)
	if err := first.Append(t.Context(), sample(2<<20)); err != nil {
		t.Fatal(err)
	}
	second := b.NewContent(Terms{Tenant: account("a"), MaxSize: 1 << 20, Patience: 10 * time.Millisecond})
	defer second.Close()
	if err := second.Append(t.Context(), sample(100)); !errors.Is(err, ErrFull) {
		t.Errorf("in a share that is full: %v, want ErrFull", err)
	}
	other := b.NewContent(Terms{Tenant: account("b"), MaxSize: 1 << 20, Patience: 10 * time.Millisecond})
	defer other.Close()
	if err := other.Append(t.Context(), sample(1<<20)); err != nil {
		t.Errorf("another share: %v", err)
	}
}

// A failing disk returns ErrFull too.
func TestFailingDiskReturnsErrFull(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	b, err := New(Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c := b.content(t, 0)
	if err := c.Append(t.Context(), sample(300_000)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil { // an unlinked file still works
		t.Fatal(err)
	}
	if err := c.file.Close(); err != nil { // and then fails as if the disk were gone
		t.Fatal(err)
	}
	if err := c.Append(t.Context(), sample(10)); !errors.Is(err, ErrFull) {
		t.Errorf("a write that fails: %v, want ErrFull", err)
	}
	if err := b.content(t, 0).Append(t.Context(), sample(10)); !errors.Is(err, ErrFull) || b.disk.Load() != 2 {
		t.Errorf("a file that cannot be created: %v after %d failures, want ErrFull", err, b.disk.Load())
	}
}

// The next start removes the files of a process that was killed while it created one.
func TestTheSpoolIsCleanedAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"postrider-spool-1", "postrider-spool-2", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), sample(10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("the remaining files are %v, %v; want only those that are not ours", left, err)
	}
}

// A file in use has no name in the folder, so a crash leaves no files.
func TestFilesHaveNoName(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	c := b.content(t, 0)
	if err := c.Append(t.Context(), sample(300_000)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(b.dir); err != nil || len(left) != 0 {
		t.Errorf("the folder shows %v, %v", left, err)
	}
}

// A memory fault in a mapped file becomes an error and does not end the process. Any other panic continues.
func TestDiskFaultIsAnError(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	c := b.content(t, 0)
	if err := c.Append(t.Context(), sample(300_000)); err != nil {
		t.Fatal(err)
	}
	octets, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.file.Truncate(0); err != nil { // like a disk that loses a file
		t.Fatal(err)
	}
	err = RecoverDiskFault(func() error {
		for i := range octets {
			octets[i]++
		}
		return nil
	})
	if !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	defer func() {
		if problem := recover(); problem != "mine" {
			t.Errorf("another panic was reported as %v", problem)
		}
	}()
	RecoverDiskFault(func() error { panic("mine") }) // it panics
}

// reader returns pieces, and then fails.
type reader struct {
	pieces []string
	err    error
	before func()
}

func (r *reader) Read(b []byte) (int, error) {
	if r.before != nil {
		r.before()
	}
	if len(r.pieces) == 0 {
		return 0, r.err
	}
	n := copy(b, r.pieces[0])
	if r.pieces[0] = r.pieces[0][n:]; r.pieces[0] == "" {
		r.pieces = r.pieces[1:]
	}
	return n, nil
}

func noDeadline(time.Time) error { return nil }

func TestArrivals(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		pieces   []string
		err      error
		declared int64
		want     error
		size     int64
	}{
		"nothing":            {nil, io.EOF, 0, nil, 0},
		"undeclared":         {[]string{"abc", "def"}, io.EOF, -1, nil, 6},
		"declared":           {[]string{"abc", "def"}, io.EOF, 6, nil, 6},
		"less than declared": {[]string{"abc"}, io.EOF, 6, io.ErrUnexpectedEOF, 3},
		"large":              {[]string{strings.Repeat("x", 50_000), "y"}, io.EOF, -1, nil, 50_001},
		"large and declared": {[]string{strings.Repeat("x", 50_000), "y"}, io.EOF, 50_001, nil, 50_001},
		"at the limit":       {[]string{strings.Repeat("x", 100_000)}, io.EOF, -1, nil, 100_000},
		"over the limit":     {[]string{strings.Repeat("x", 100_001)}, io.EOF, -1, ErrTooLarge, 0},
		"cut":                {[]string{"abc"}, gone, -1, gone, 0},
		"cut when large":     {[]string{strings.Repeat("x", 50_000)}, gone, -1, gone, 0},
		"slow":               {[]string{"abc"}, os.ErrDeadlineExceeded, -1, ErrSlow, 0},
	} {
		content := b.content(t, 20_000)
		err := content.Receive(t.Context(), Upload{From: &reader{pieces: c.pieces, err: c.err}, Limit: 100_000,
			Size: c.declared, Deadline: noDeadline, Within: time.Minute})
		if !errors.Is(err, c.want) || c.want == nil && (err != nil || content.Size() != c.size) {
			t.Errorf("%s: %d bytes and %v, want %d and %v", name, content.Size(), err, c.size, c.want)
		}
	}
}

// A declared size reserves nothing before the bytes have arrived.
func TestDeclaredSizeReservesNothing(t *testing.T) {
	t.Parallel()
	b := newBudget(t)
	content := b.content(t, 256<<10)
	var memory, spool int64
	in := &reader{pieces: []string{"{"}, err: io.EOF}
	in.before = func() { memory, spool = b.arriving.used, b.spool.used }
	if err := content.Receive(t.Context(), Upload{From: in, Limit: 10 << 20, Size: 10 << 20, Deadline: noDeadline,
		Within: time.Minute}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if memory > firstPiece || spool != 0 {
		t.Errorf("10 MB were declared and one byte has arrived: %d bytes of memory and %d of the spool are held",
			memory, spool)
	}
}

// Each 60 KB has its own time limit, and so does the whole content.
func TestDeadlineMovesWithTheBytes(t *testing.T) {
	t.Parallel()
	m := NewMeter(Rate{Bytes: 100, Period: 10 * time.Second})
	for i, c := range []struct {
		n      int
		waited time.Duration
		left   time.Duration
	}{{50, 4 * time.Second, 6 * time.Second}, {49, 5 * time.Second, time.Second}, {1, 0, 10 * time.Second},
		{0, 11 * time.Second, 0}} {
		m.Count(c.n, c.waited)
		if m.TimeLeft() != c.left {
			t.Errorf("step %d: %s are left, want %s", i, m.TimeLeft(), c.left)
		}
	}
}

// A client whose place others need is disconnected immediately, with a clear error.
func TestSlowUploadIsCutForOtherClients(t *testing.T) {
	t.Parallel()
	b := newBudget(t, func(c *Config) { c.Spool, c.Grace = 16<<20, 10*time.Millisecond })
	for _, name := range []string{"b", "c", "d"} {
		c := b.NewContent(Terms{Tenant: account(name), MaxSize: 4 << 20, Patience: time.Second})
		defer c.Close()
		if err := c.Append(t.Context(), sample(4<<20)); err != nil {
			t.Fatal(err)
		}
	}
	cut, ended := make(chan struct{}), make(chan error, 1)
	in := &reader{pieces: []string{strings.Repeat("x", 4<<20)}, err: os.ErrDeadlineExceeded}
	full := make(chan struct{})
	in.before = func() {
		if len(in.pieces) == 0 {
			close(full)
			<-cut
		}
	}
	go func() {
		c := b.NewContent(Terms{Tenant: account("slow"), MaxSize: 4 << 20, Patience: time.Second})
		err := c.Receive(t.Context(), Upload{From: in, Limit: 8 << 20, Size: -1, Deadline: noDeadline,
			Within: time.Minute, Cut: func() { close(cut) }})
		c.Close()
		ended <- err
	}()
	<-full
	honest := b.content(t, 0)
	honest.terms.Tenant, honest.terms.Patience = account("honest"), time.Minute
	if err := honest.Append(t.Context(), sample(1<<20)); err != nil {
		t.Errorf("the newcomer: %v", err)
	}
	if err := <-ended; !errors.Is(err, ErrCut) {
		t.Errorf("the client of the largest share got %v, want ErrCut", err)
	}
}

func BenchmarkSmallArrival(b *testing.B) {
	budget := newBudget(b)
	body := sample(3000)
	o := account("acc_01kf0m4w7he6x8q2v5b3n9c1ta")
	b.ReportAllocs()
	for b.Loop() {
		release, err := budget.AcquireBody(context.Background(), o, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		c := budget.NewContent(Terms{Tenant: o, MaxMemory: 256 << 10, MaxSize: 150 << 20, Patience: time.Minute})
		if err := c.Receive(context.Background(), Upload{From: bytes.NewReader(body), Limit: 150 << 20,
			Size: int64(len(body)), Deadline: noDeadline, Within: time.Minute}); err != nil {
			b.Fatal(err)
		}
		c.Close()
		release()
	}
}
