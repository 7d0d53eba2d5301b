package machine

import (
	"context"

	"github.com/postrider/postrider/modules/automations/expression"
)

// Effect is an action of a step outside the run, with its texts rendered. The file of each step type that acts
// outside the run declares its effect; render returns a pointer to it.
type Effect any

// renderEffect renders the action of a step. Its errors come from the author's Liquid.
func (p *Program) renderEffect(ctx context.Context, step int, run Run, scope expression.Scope) (Effect, error) {
	s := &p.Definition.Steps[step]
	return typeOf(s).render(p.textsOf(ctx, step, run, scope), s)
}
