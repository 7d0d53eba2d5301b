package language

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/osteele/liquid/expressions"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/limit"
)

var (
	errTooLarge = errors.New("makes more than 1 MB")
	errTooSlow  = errors.New("takes too long to render")
)

// quick is what a render may take before it is slow work, of which nobody does much at a time: hardly a
// template takes a tenth of it.
const quick = 20 * time.Millisecond

// Budget bounds one render in time and in bytes, over all of its parts. The library has no
// such bounds and never looks at a context. So the budget is asked wherever the library
// calls this package: at every output, at every use of a variable, at every turn of a loop.
type Budget struct {
	ctx      context.Context //nolint:containedctx // lives as long as one render
	slow     time.Time       // from when on it is slow work
	deadline time.Time
	steps    int
	broken   error
	leave    func() // ends slow work; nil: it is none
}

// NewBudget returns the budget of a render that begins now.
func NewBudget(ctx context.Context) *Budget {
	now := time.Now()
	return &Budget{ctx: ctx, slow: now.Add(quick), deadline: now.Add(RenderTime)}
}

// spend counts a step and tells whether the render has to end.
func (b *Budget) spend() error {
	if b.steps++; b.broken == nil && b.steps%16 == 0 {
		now := time.Now()
		switch {
		case b.ctx.Err() != nil:
			b.broken = b.ctx.Err()
		case now.After(b.deadline):
			b.broken = errTooSlow
		case b.leave == nil && now.After(b.slow):
			b.broken = b.enter(now)
		}
	}
	return b.broken
}

// enter waits until slow work may be done. The wait does not count as time of the render.
func (b *Budget) enter(now time.Time) error {
	leave, err := limit.AcquireBound(b.ctx)
	if errors.Is(err, limit.ErrFull) {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: time.Second,
			Message: "Too many templates of this account that take long are being rendered; try again in a moment"}
	}
	b.leave = leave
	b.deadline = b.deadline.Add(time.Since(now))
	return err
}

// rest ends slow work until the next part.
func (b *Budget) rest() {
	if b.leave != nil {
		b.leave()
		b.leave = nil
	}
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
