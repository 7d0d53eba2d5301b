package machine

import (
	"context"
	"time"

	"github.com/postrider/postrider/modules/automations/expression"
)

// ExplainStart explains the trigger condition for an event. It returns nil if the trigger has none.
func (p *Program) ExplainStart(ctx context.Context, e *Event) *expression.Explanation {
	return explainProgram(ctx, p.start, expression.Scope{Trigger: e.values(), Event: e.values(), Now: e.CreatedAt})
}

// ExplainCancel explains the conditions by which an event cancels a run. A cancellation without a condition has
// no explanation.
func (p *Program) ExplainCancel(ctx context.Context, run Run, s State, e *Event) (list []expression.Explanation) {
	for _, c := range p.cancel[e.Name] {
		if out := explainProgram(ctx, c.condition, p.scope(run, s, e, e.CreatedAt)); out != nil {
			list = append(list, *out)
		}
	}
	return list
}

// ExplainWait explains the condition of the waiting step for an arriving event. It returns nil if the step has
// none.
func (p *Program) ExplainWait(ctx context.Context, run Run, s State, e *Event) *expression.Explanation {
	return explainProgram(ctx, p.steps[s.Step].condition, p.scope(run, s, e, e.CreatedAt))
}

// ExplainStep explains the decision of a condition or a branch, given the state before the step. For a branch,
// it explains the cases up to the first true one.
func (p *Program) ExplainStep(ctx context.Context, run Run, before State,
	now time.Time) (list []expression.Explanation) {
	programs := typeOf(&p.Definition.Steps[before.Step]).decisions(&p.steps[before.Step])
	for _, program := range programs {
		out := explainProgram(ctx, program, p.scope(run, before, nil, now))
		if out == nil {
			continue
		}
		if list = append(list, *out); out.Result {
			break
		}
	}
	return list
}

func explainProgram(ctx context.Context, program *expression.Program, scope expression.Scope) *expression.Explanation {
	if program == nil {
		return nil
	}
	out := program.Explain(ctx, scope)
	return &out
}
