package machine

import (
	"fmt"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

var _ = registerType(definition.Branch, branchStep{})

type branchStep struct{ plainStep }

func (branchStep) compile(c *compiler, path string, s *definition.Step, out *compiledStep) {
	for i, way := range s.Cases {
		out.cases = append(out.cases, c.compileExpression(fmt.Sprintf("%scases[%d].if", path, i), way.If,
			expression.Boolean))
	}
}

func (branchStep) decisions(c *compiledStep) []*expression.Program { return c.cases }

func (branchStep) begin(a *advance, s *definition.Step) {
	output := map[string]any{}
	for i, c := range a.steps[a.state.Step].cases {
		if a.condition(c, output) {
			output["case"] = int64(i)
			a.finish(Record{Status: StatusDone, Output: output},
				definition.Target{Kind: definition.Goto, Key: s.Cases[i].Goto})
			return
		}
	}
	r := Record{Status: StatusDone, Output: output}
	target := s.Otherwise.OrDefault(definition.Continue)
	if target.Kind == definition.Fails {
		r.Error = "no_case: no case of the step " + s.Key + " is true"
	}
	a.finish(r, target)
}
