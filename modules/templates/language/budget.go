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
	errTooLarge = errors.New("produces more than 1 MB")
	errTooSlow  = errors.New("takes too long to render")
)

// quick is how long a render may take before it counts as slow work, whose concurrency is limited. Templates
// rarely take a tenth of it.
const quick = 20 * time.Millisecond

// Budget limits the time and the bytes of one render, across all of its parts. The library has no such limits
// and never checks a context. The budget is therefore checked wherever the library calls this package: at every
// output, variable use and loop iteration.
type Budget struct {
	ctx      context.Context //nolint:containedctx // lives only as long as one render
	locale   Locale          // of the recipient
	slow     time.Time       // when the render starts to count as slow work
	deadline time.Time
	steps    int
	broken   error
	leave    func() // ends the slow work; nil if there is none
}

// NewBudget returns the budget of a render for a locale that begins now.
func NewBudget(ctx context.Context, locale Locale) *Budget {
	now := time.Now()
	return &Budget{ctx: ctx, locale: locale, slow: now.Add(quick), deadline: now.Add(RenderTime)}
}

// spend counts a step and returns an error if the render must stop.
func (b *Budget) spend() error {
	if b.steps++; b.steps%16 == 0 {
		return b.check()
	}
	return b.broken
}

// check returns an error if the render must stop.
func (b *Budget) check() error {
	if b.broken != nil {
		return b.broken
	}
	now := time.Now()
	switch {
	case b.ctx.Err() != nil:
		b.broken = b.ctx.Err()
	case now.After(b.deadline):
		b.broken = errTooSlow
	case b.leave == nil && now.After(b.slow):
		b.broken = b.enter(now)
	}
	return b.broken
}

// enter waits until slow work is allowed. The wait does not count toward the render time.
func (b *Budget) enter(now time.Time) error {
	leave, err := limit.AcquireBound(b.ctx)
	if errors.Is(err, limit.ErrFull) {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: time.Second,
			Message: "Too many slow templates of this account are being rendered; retry in a moment"}
	}
	b.leave = leave
	b.deadline = b.deadline.Add(time.Since(now))
	return err
}

// pauseSlowWork ends slow work until the next part.
func (b *Budget) pauseSlowWork() {
	if b.leave != nil {
		b.leave()
		b.leave = nil
	}
}

// meteredValue is a value for which every use counts as a step. The library calls ToLiquid when it looks up a name,
// and converts a panic with its own error type to an error.
type meteredValue struct {
	budget *Budget
	value  any
}

// ToLiquid returns the value.
func (m meteredValue) ToLiquid() any {
	if err := m.budget.spend(); err != nil {
		panic(expressions.InterpreterError(err.Error()))
	}
	return m.value
}

// output collects the rendered text, up to MaxRender bytes.
type output struct {
	bytes.Buffer
	budget *Budget
}

// Write returns an error once the output exceeds MaxRender.
func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > MaxRender {
		o.budget.broken = errTooLarge
	}
	if err := o.budget.spend(); err != nil {
		return 0, err
	}
	return o.Buffer.Write(p)
}

// WriteString is like Write; io.WriteString prefers it.
func (o *output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }
