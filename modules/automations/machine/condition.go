package machine

import (
	"fmt"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

var _ = registerType(definition.Condition, conditionStep{})

type conditionStep struct{ plainStep }

func (conditionStep) compile(c *compiler, path string, s *definition.Step, out *compiledStep) {
	out.condition = c.compileExpression(path+"if", s.If, expression.Boolean)
}

func (conditionStep) decisions(c *compiledStep) []*expression.Program {
	return []*expression.Program{c.condition}
}

func (conditionStep) begin(a *advance, s *definition.Step) {
	output := map[string]any{}
	is := a.condition(a.steps[a.state.Step].condition, output)
	output["result"] = is
	target := s.OnFalse.OrDefault(definition.Ends)
	if is {
		target = s.OnTrue.OrDefault(definition.Continue)
	}
	r := Record{Status: StatusDone, Output: output}
	if target.Kind == definition.Fails {
		r.Error = fmt.Sprintf("condition_%t: the condition of the step %s is %t", is, s.Key, is)
	}
	a.finish(r, target)
}
