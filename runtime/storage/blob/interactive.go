package blob

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// promptTimeout is how long the store may take, in addition to the transfer time at minRate.
	promptTimeout = 4 * time.Second
	minRate       = 1 << 20 // bytes per second
	retryInterval = 5 * time.Second
)

// ErrSilent is returned when the store does not respond in time.
var ErrSilent = errors.New("the object store does not respond in time")

// Getter is the part of a store that InteractiveStore needs.
type Getter interface {
	Get(ctx context.Context, key string) (io.ReadCloser, error)
}

// InteractiveStore reads objects for clients that wait for a response. A store that is silent or very slow delays
// them by a few seconds, instead of the minutes that a background upload may take. After a timeout, one
// caller at a time tries the store again; all others get the error immediately. It is safe for concurrent
// use.
type InteractiveStore struct {
	store Getter

	mutex  sync.Mutex
	silent bool
	until  time.Time // when the next caller may try, if silent
}

// NewInteractiveStore returns a new InteractiveStore that reads from a store.
func NewInteractiveStore(store Getter) *InteractiveStore { return &InteractiveStore{store: store} }

// Get opens an object. If the store does not deliver it in time, Get or a later Read returns ErrSilent.
func (p *InteractiveStore) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if !p.mayTry() {
		return nil, ErrSilent
	}
	ctx, cancel := context.WithCancelCause(ctx)
	o := &interactiveObject{prompt: p, ctx: ctx, cancel: cancel, left: promptTimeout}
	err := o.runInTime(func() (err error) {
		o.object, err = p.store.Get(ctx, key)
		return err
	})
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return o, nil
}

// mayTry reports whether a caller may use the store. While the store is silent, one caller at a time may
// try, at intervals.
func (p *InteractiveStore) mayTry() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if !p.silent {
		return true
	}
	if time.Now().Before(p.until) {
		return false
	}
	p.until = time.Now().Add(promptTimeout + retryInterval)
	return true
}

// recordResult records whether the store responds.
func (p *InteractiveStore) recordResult(responds bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.silent = !responds
	if !responds {
		p.until = time.Now().Add(retryInterval)
	}
}

// interactiveObject is an open object. Only the time spent in the store counts, not that of the reader.
type interactiveObject struct {
	prompt *InteractiveStore
	object io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request to the store, which ends with Close
	cancel context.CancelCauseFunc
	left   time.Duration // how long the store may still take
}

// runInTime runs one operation of the store within the time left.
func (o *interactiveObject) runInTime(step func() error) error {
	began := time.Now()
	timer := time.AfterFunc(o.left, func() { o.cancel(ErrSilent) })
	err := step()
	timer.Stop()
	o.left -= time.Since(began)
	switch {
	case errors.Is(context.Cause(o.ctx), ErrSilent):
		o.prompt.recordResult(false)
		return ErrSilent
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, ErrNotFound):
		o.prompt.recordResult(true)
	}
	return err
}

func (o *interactiveObject) Read(p []byte) (n int, err error) {
	err = o.runInTime(func() (err error) {
		n, err = o.object.Read(p)
		return err
	})
	o.left += time.Duration(n) * time.Second / minRate
	return n, err
}

func (o *interactiveObject) Close() error {
	defer o.cancel(nil)
	return o.object.Close()
}
