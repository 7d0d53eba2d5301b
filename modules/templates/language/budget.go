package language

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

// Budget bounds one render in time and in bytes, over all of its parts. The library has no
// such bounds and never looks at a context. So the budget is asked wherever the library
// calls this package: at every output, at every use of a variable, at every turn of a loop.
type Budget struct {
	ctx      context.Context //nolint:containedctx // lives as long as one render
	deadline time.Time
	steps    int
	broken   error
}

// NewBudget returns the budget of a render that begins now.
func NewBudget(ctx context.Context) *Budget {
	return &Budget{ctx: ctx, deadline: time.Now().Add(RenderTime)}
}

// spend counts a step and tells whether the render has to end.
func (b *Budget) spend() error {
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
	budget *Budget
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
	budget *Budget
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
