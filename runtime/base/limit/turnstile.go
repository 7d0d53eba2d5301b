// Package limit bounds how many do something costly at a time, and how many wait for it.
package limit

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrFull says that too many wait already.
var ErrFull = errors.New("too many wait already")

// Turnstile lets so many in at a time. Safe for concurrent use.
type Turnstile struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64 // that may wait
}

// New makes a Turnstile for as many inside, one at least, and as many who wait.
func New(inside, waiting int) *Turnstile {
	return &Turnstile{slots: make(chan struct{}, max(1, inside)), most: int64(waiting)}
}

// Do runs something when there is room. Its error is that of run; ErrFull where too many wait; or
// that of the context, which ended the wait.
func (t *Turnstile) Do(ctx context.Context, run func() error) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer func() { <-t.slots }()
	return run()
}

func (t *Turnstile) enter(ctx context.Context) error {
	select {
	case t.slots <- struct{}{}:
		return nil
	default:
	}
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > t.most {
		return ErrFull
	}
	select {
	case t.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
