package machine

import (
	"context"

	"github.com/postrider/postrider/modules/automations/expression"
)

// Effect is what has to happen outside of the machine. Exactly one of the parts is set.
type Effect struct {
	Step  int
	Email *Email
	SMS   *SMS
	Post  *Post
}

// effect renders what a step does. The error is that of the author's Liquid.
func (p *Program) effect(ctx context.Context, step int, run Run, scope expression.Scope) (*Effect, error) {
	s := &p.Definition.Steps[step]
	t := p.textsOf(ctx, step, run, scope)
	e := &Effect{Step: step}
	return e, typeOf(s).render(t, s, e)
}
