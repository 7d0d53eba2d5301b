package blob_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/storage/blob"
)

// script is a store with one object, which it delivers in pieces.
type script struct {
	first   time.Duration // until Get returns
	between time.Duration // before each piece
	pieces  int
	piece   int // bytes
	err     error
	asked   int
}

const never = 24 * time.Hour

func (s *script) Get(ctx context.Context, _ string) (io.ReadCloser, error) {
	s.asked++
	if err := pause(ctx, s.first); err != nil {
		return nil, err
	}
	if s.err != nil {
		return nil, s.err
	}
	return &scripted{s: s, ctx: ctx, left: s.pieces}, nil
}

type scripted struct {
	s    *script
	ctx  context.Context
	left int
}

func (o *scripted) Read(p []byte) (int, error) {
	if err := pause(o.ctx, o.s.between); err != nil {
		return 0, err
	}
	if o.left == 0 {
		return 0, io.EOF
	}
	o.left--
	return min(len(p), o.s.piece), nil
}

func (o *scripted) Close() error { return nil }

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d): // fake time
		return nil
	}
}

// readAll reads an object and pauses after each piece.
func readAll(p *blob.InteractiveStore, reader time.Duration) (n int, err error) {
	object, err := p.Get(context.Background(), "key")
	if err != nil {
		return 0, err
	}
	buffer := make([]byte, 64<<10)
	for {
		got, err := object.Read(buffer)
		n += got
		if errors.Is(err, io.EOF) {
			return n, object.Close()
		}
		if err != nil {
			return n, errors.Join(err, object.Close())
		}
		time.Sleep(reader) // fake time
	}
}

// A store that stops responding, at any point, delays a caller by a few seconds. Reading from a slow store
// that continues succeeds.
func TestReadsFromSilentStoreTimeOut(t *testing.T) {
	t.Parallel()
	refused := errors.New("access denied")
	for name, c := range map[string]struct {
		store  script
		reader time.Duration
		want   error
		most   time.Duration
	}{
		"a store that responds":                    {script{pieces: 3, piece: 1000}, 0, nil, time.Second},
		"one that never responds":                  {script{first: never}, 0, blob.ErrSilent, 4 * time.Second},
		"one that never delivers":                  {script{between: never, pieces: 1, piece: 1}, 0, blob.ErrSilent, 4 * time.Second},
		"one that delivers a byte a second":        {script{between: time.Second, pieces: 1000, piece: 1}, 0, blob.ErrSilent, 5 * time.Second},
		"one that delivers two megabytes a second": {script{between: 31250 * time.Microsecond, pieces: 480, piece: 64 << 10}, 0, nil, 20 * time.Second},
		"a slow reader":                            {script{pieces: 100, piece: 64 << 10}, time.Second, nil, 2 * time.Minute},
		"one that rejects the request":             {script{err: refused}, 0, refused, time.Second},
		"one that does not have the object":        {script{err: blob.ErrNotFound}, 0, blob.ErrNotFound, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				n, err := readAll(blob.NewInteractiveStore(&c.store), c.reader)
				if took := time.Since(began); !errors.Is(err, c.want) || took > c.most {
					t.Errorf("got %v after %s, want %v after at most %s", err, took, c.want, c.most)
				}
				if want := c.store.pieces * c.store.piece; c.want == nil && n != want {
					t.Errorf("%d bytes were read, want %d", n, want)
				}
			})
		})
	}
}

// While the store is silent, one caller at a time waits for it, and notices when it responds again.
func TestOneCallerRetriesSilentStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &script{first: never}
		p := blob.NewInteractiveStore(store)
		take := func() (time.Duration, error) {
			began := time.Now()
			_, err := readAll(p, 0)
			return time.Since(began), err
		}
		if took, err := take(); !errors.Is(err, blob.ErrSilent) || took != 4*time.Second {
			t.Errorf("the first caller got %v after %s, want ErrSilent after 4 s", err, took)
		}
		for range 100 {
			if took, err := take(); !errors.Is(err, blob.ErrSilent) || took != 0 {
				t.Errorf("a later caller got %v after %s, want ErrSilent immediately", err, took)
			}
		}
		time.Sleep(6 * time.Second) // fake time
		probed := make(chan time.Duration)
		go func() {
			took, err := take()
			if !errors.Is(err, blob.ErrSilent) {
				t.Errorf("the caller that tries again got %v, want ErrSilent", err)
			}
			probed <- took
		}()
		synctest.Wait()
		if took, err := take(); !errors.Is(err, blob.ErrSilent) || took != 0 {
			t.Errorf("a concurrent caller got %v after %s, want ErrSilent immediately", err, took)
		}
		if took := <-probed; took != 4*time.Second || store.asked != 2 {
			t.Errorf("the caller that tried again waited %s, and the store got %d requests, want 4 s and 2", took,
				store.asked)
		}
		store.first = 0
		time.Sleep(6 * time.Second) // fake time
		for range 10 {
			if took, err := take(); err != nil || took != 0 {
				t.Errorf("after the store recovered a caller got %v after %s, want the object immediately", err, took)
			}
		}
	})
}

// A caller that cancels does not mark the store as silent.
func TestCanceledReadIsNotATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &script{first: time.Second}
		p := blob.NewInteractiveStore(store)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := p.Get(ctx, "key"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the cancelled caller got %v, want its own deadline", err)
		}
		if _, err := readAll(p, 0); err != nil {
			t.Errorf("the next caller got %v, want the object", err)
		}
	})
}
