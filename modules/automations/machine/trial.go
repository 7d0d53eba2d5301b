package machine

import (
	"context"
	"time"
)

// AdvanceTrial is Advance for a trial, which never waits: delays take no time, and awaited events count as
// received, with empty data.
func (p *Program) AdvanceTrial(ctx context.Context, run Run, before State, in AdvanceInput) (State, Decision) {
	state, outcome := p.Advance(ctx, run, before, in)
	for outcome.Waiting != nil {
		over, end := SkipWait(state, in.Now)
		next, more := p.Advance(ctx, run, over, end)
		more.Records = append(outcome.Records, more.Records...)
		state, outcome = next, more
	}
	return state, outcome
}

// SkipWait returns an input that ends the wait immediately and the state to apply it to.
func SkipWait(s State, now time.Time) (State, AdvanceInput) {
	if len(s.Waiting.Events) > 0 {
		return s, AdvanceInput{Now: now, Assumed: true, Event: &Event{Name: s.Waiting.Events[0], Data: map[string]any{},
			Source: "dashboard", CreatedAt: now}}
	}
	over := *s.Waiting
	over.Until = now
	s.Waiting = &over
	return s, AdvanceInput{Now: now, Fired: true}
}
