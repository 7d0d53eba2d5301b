package machine

import (
	"github.com/postrider/postrider/modules/automations/definition"
)

var _ = registerType(definition.End, endStep{})

type endStep struct{ plainStep }

func (endStep) begin(a *advance, s *definition.Step) {
	r := Record{Status: StatusDone}
	kind := definition.Ends
	if s.Outcome == "failed" {
		kind, r.Error = definition.Fails, "ended_failed: the step "+s.Key+" ends the run as failed"
	}
	a.finish(r, definition.Target{Kind: kind})
}
