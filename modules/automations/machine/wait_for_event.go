package machine

import (
	"time"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

var _ = registerType(definition.WaitForEvent, eventStep{})

type eventStep struct{ plainStep }

func (eventStep) compile(c *compiler, path string, s *definition.Step, out *compiledStep) {
	out.condition = c.compileExpression(path+"conditions", s.Conditions, expression.Boolean)
}

func (eventStep) begin(a *advance, s *definition.Step) {
	a.wait(StepWait{Until: a.now.Add(s.Timeout.Duration), Events: s.Event, Since: a.since(s)})
}

// since returns the time from which events count for a wait.
func (a *advance) since(s *definition.Step) time.Time {
	switch s.Since {
	case definition.SinceStep:
		return a.now
	case "", definition.SinceRun:
		return a.run.StartedAt
	}
	back, err := clock.ParseDuration(s.Since)
	if err != nil {
		return a.run.StartedAt
	}
	return a.run.StartedAt.Add(-back.Duration)
}

func (eventStep) timeOut(a *advance, s *definition.Step) {
	target := s.OnTimeout.OrDefault(definition.Continue)
	r := Record{Status: StatusTimedOut}
	if target.Kind == definition.Fails {
		r.Error = "wait_timed_out: no event " + s.Event[0] + " arrived within " + s.Timeout.Text
	}
	a.finish(r, target)
}
