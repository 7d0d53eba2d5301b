package templates

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/osteele/liquid/expressions"
)

var (
	errTooLarge = errors.New("makes more than 1 MB")
	errTooSlow  = errors.New("takes too long to render")
)

// budget bounds one render in time and in octets. The library has no such thing
// and never looks at a context, so it is asked wherever the library calls us: at
// every output, at every use of a variable, and at every turn of a loop.
type budget struct {
	ctx      context.Context //nolint:containedctx // lives as long as one render
	deadline time.Time
	steps    int
	broken   error
}

func newBudget(ctx context.Context) *budget {
	return &budget{ctx: ctx, deadline: time.Now().Add(RenderTime)}
}

// spend counts a step and tells whether the render has to end.
func (b *budget) spend() error {
	if b.steps++; b.broken == nil && b.steps%16 == 0 {
		switch {
		case b.ctx.Err() != nil:
			b.broken = b.ctx.Err()
		case time.Now().After(b.deadline):
			b.broken = errTooSlow
		}
	}
	return b.broken
}

// metered is a value whose every use is a step. The library calls ToLiquid when
// it looks a name up, and takes a panic with its own error type for an error.
type metered struct {
	budget *budget
	value  any
}

// ToLiquid gives the value.
func (m metered) ToLiquid() any {
	if err := m.budget.spend(); err != nil {
		panic(expressions.InterpreterError(err.Error()))
	}
	return m.value
}

// output collects what is rendered, up to MaxRender.
type output struct {
	bytes.Buffer
	budget *budget
}

// Write refuses what is too much.
func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > MaxRender {
		o.budget.broken = errTooLarge
	}
	if err := o.budget.spend(); err != nil {
		return 0, err
	}
	return o.Buffer.Write(p)
}

// WriteString goes the same way: io.WriteString prefers it.
func (o *output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }
