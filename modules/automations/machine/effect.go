package machine

import (
	"context"

	"github.com/postrider/postrider/modules/automations/expression"
)

// Effect is what a step does outside the run, with its texts filled in. The file of each step type
// that acts outside the run declares its effect, and render returns a pointer to it.
type Effect any

// effect renders what a step does. An error comes from the author's Liquid.
func (p *Program) effect(ctx context.Context, step int, run Run, scope expression.Scope) (Effect, error) {
	s := &p.Definition.Steps[step]
	return typeOf(s).render(p.textsOf(ctx, step, run, scope), s)
}
