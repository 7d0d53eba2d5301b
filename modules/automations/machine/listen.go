package machine

import (
	"context"

	"github.com/postrider/postrider/modules/automations/expression"
)

// StartsRun reports whether an event starts a run. Its errors come from the condition.
func (p *Program) StartsRun(ctx context.Context, e *Event) (bool, error) {
	if p.start == nil {
		return true, nil
	}
	return p.start.IsTrue(ctx, expression.Scope{Trigger: e.values(), Event: e.values(), Now: e.CreatedAt})
}

// CancelsRun reports whether an event of the person cancels a run.
func (p *Program) CancelsRun(ctx context.Context, run Run, s State, e *Event) (bool, error) {
	var first error
	for _, c := range p.cancel[e.Name] {
		switch {
		case !s.isAbout(c.ofStep, e):
			continue
		case c.condition == nil:
			return true, nil
		}
		is, err := c.condition.IsTrue(ctx, p.scope(run, s, e, e.CreatedAt))
		if is {
			return true, nil
		}
		if first == nil {
			first = err
		}
	}
	return false, first
}

// AwaitsEvent reports whether a run waits for this event.
func (p *Program) AwaitsEvent(ctx context.Context, run Run, s State, e *Event) (bool, error) {
	if s.Waiting == nil || !s.Waiting.AwaitsEvent(e.Name) || run.Trigger != nil && e.ID == run.Trigger.ID ||
		p.hasUsed(s, e) ||
		!s.isAbout(p.Definition.Steps[s.Step].OfStep, e) {
		return false, nil
	}
	condition := p.steps[s.Step].condition
	if condition == nil {
		return true, nil
	}
	return condition.IsTrue(ctx, p.scope(run, s, e, e.CreatedAt))
}

// isAbout reports whether an event concerns the email of a step; "" means any email.
func (s State) isAbout(step string, e *Event) bool {
	if step == "" {
		return true
	}
	sent, is := s.Outputs[step]["email_id"].(string)
	return is && sent != "" && e.Data["email_id"] == sent
}

// hasUsed reports whether another wait of the run has already used the event.
func (p *Program) hasUsed(s State, e *Event) bool {
	for _, output := range s.Outputs {
		if had, is := output["event"].(map[string]any); is && had["id"] == e.ID && e.ID != "" {
			return true
		}
	}
	return false
}
