package machine

import (
	"github.com/postrider/postrider/modules/automations/definition"
)

var _ = registerType(definition.Delay, delayStep{})

type delayStep struct{ plainStep }

func (delayStep) begin(a *advance, s *definition.Step) {
	a.wait(StepWait{Until: a.now.Add(s.Duration.Duration)})
}
