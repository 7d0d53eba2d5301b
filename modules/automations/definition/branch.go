package definition

import (
	"fmt"
	"strings"
)

// Branch is the type of steps that take the first case whose expression is true.
const Branch = "branch"

var _ = registerType(Branch, branchStep{})

type branchStep struct{ plainStep }

func (branchStep) describe() string {
	return "continues with the first of its `cases` whose CEL expression is true, and with `otherwise` if none is"
}

func (branchStep) members() []member {
	return []member{
		{"cases", listForm(1, MaxCases, objectForm(
			member{"if", expression, true, "The condition, a CEL expression."},
			member{"goto", keyText, true, "The key of a later step."}).titled("BranchCase")), true,
			"The first case whose condition is true decides."},
		{"otherwise", target, false, "What happens if no condition is true. Defaults to continue."},
	}
}

func (branchStep) ways(s *Step) (ways []StepTarget) {
	for i, c := range s.Cases {
		ways = append(ways, StepTarget{fmt.Sprintf("cases[%d].goto", i), Target{Goto, c.Goto}})
	}
	return append(ways, newWay("otherwise", s.Otherwise, Continue))
}

func (branchStep) summary(s *Step) string {
	return "Branch by " + strings.Join(collectNames(s.Cases, func(c Case) string { return c.If }), "; ")
}
