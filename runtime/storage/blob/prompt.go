package blob

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// promptTimeout is how long the store may take, in addition to the time for the object at minRate.
	promptTimeout = 4 * time.Second
	minRate       = 1 << 20 // bytes a second
	retryInterval = 5 * time.Second
)

// ErrSilent is returned when the store does not respond in time.
var ErrSilent = errors.New("the object store does not respond in time")

// Getter is what Prompt needs of a store.
type Getter interface {
	Get(ctx context.Context, key string) (io.ReadCloser, error)
}

// Prompt reads objects for clients that wait for a response. A store that is silent or very slow delays them by a few
// seconds, instead of the minutes that a background upload may take. After a timeout, one caller at a time tries the
// store again; all others get the error immediately. It is safe for concurrent use.
type Prompt struct {
	store Getter

	mutex  sync.Mutex
	silent bool
	until  time.Time // if silent: when the next caller may try
}

// NewPrompt returns a new Prompt that reads from a store.
func NewPrompt(store Getter) *Prompt { return &Prompt{store: store} }

// Get opens an object. The error is ErrSilent, also of Read, when the store does not deliver it in time.
func (p *Prompt) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if !p.mayTry() {
		return nil, ErrSilent
	}
	ctx, cancel := context.WithCancelCause(ctx)
	o := &promptObject{prompt: p, ctx: ctx, cancel: cancel, left: promptTimeout}
	err := o.wait(func() (err error) {
		o.object, err = p.store.Get(ctx, key)
		return err
	})
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return o, nil
}

// mayTry reports whether a caller may use the store. While it is silent, one caller may, at intervals.
func (p *Prompt) mayTry() bool {
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

// recordResult remembers whether the store responds.
func (p *Prompt) recordResult(responds bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.silent = !responds
	if !responds {
		p.until = time.Now().Add(retryInterval)
	}
}

// promptObject is an open object. Only the store's time counts, not its reader's.
type promptObject struct {
	prompt *Prompt
	object io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request to the store, which ends with Close
	cancel context.CancelCauseFunc
	left   time.Duration // that the store may still take
}

// wait runs one operation of the store within the time that is left.
func (o *promptObject) wait(step func() error) error {
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

func (o *promptObject) Read(p []byte) (n int, err error) {
	err = o.wait(func() (err error) {
		n, err = o.object.Read(p)
		return err
	})
	o.left += time.Duration(n) * time.Second / minRate
	return n, err
}

func (o *promptObject) Close() error {
	defer o.cancel(nil)
	return o.object.Close()
}
