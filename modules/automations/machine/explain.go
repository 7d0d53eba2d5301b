package machine

import (
	"context"
	"time"

	"github.com/postrider/postrider/modules/automations/expression"
)

// ExplainStart explains the condition of the trigger for an event; nil: the trigger has none.
func (p *Program) ExplainStart(ctx context.Context, e *Event) *expression.Explanation {
	return explain(ctx, p.start, expression.Scope{Trigger: e.values(), Event: e.values(), Now: e.CreatedAt})
}

// ExplainCancel explains the conditions under which an event cancels a run. Cancelling without
// a condition has no explanation.
func (p *Program) ExplainCancel(ctx context.Context, run Run, s State, e *Event) (list []expression.Explanation) {
	for _, c := range p.cancel[e.Name] {
		if out := explain(ctx, c.condition, p.scope(run, s, e, e.CreatedAt)); out != nil {
			list = append(list, *out)
		}
	}
	return list
}

// ExplainWait explains the condition of the step at which a run waits, for an event that
// arrives; nil: the wait has none.
func (p *Program) ExplainWait(ctx context.Context, run Run, s State, e *Event) *expression.Explanation {
	return explain(ctx, p.steps[s.Step].condition, p.scope(run, s, e, e.CreatedAt))
}

// ExplainStep explains what a condition or a branch has decided. The state is the one from
// before the step. Of a branch it explains the cases up to the first one that was true.
func (p *Program) ExplainStep(ctx context.Context, run Run, before State, now time.Time) (list []expression.Explanation) {
	programs := typeOf(&p.Definition.Steps[before.Step]).decisions(&p.steps[before.Step])
	for _, program := range programs {
		out := explain(ctx, program, p.scope(run, before, nil, now))
		if out == nil {
			continue
		}
		if list = append(list, *out); out.Result {
			break
		}
	}
	return list
}

func explain(ctx context.Context, program *expression.Program, scope expression.Scope) *expression.Explanation {
	if program == nil {
		return nil
	}
	out := program.Explain(ctx, scope)
	return &out
}
