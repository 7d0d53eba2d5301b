package definition

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// Split is the type of steps that choose a path by weight.
const Split = "split"

var _ = registerType(Split, splitStep{})

type splitStep struct{ plainStep }

func (splitStep) describe() string {
	return "chooses a variant by weight. A person always gets the same variant"
}

func (splitStep) members() []member {
	return []member{{"variants", listForm(2, 5,
		objectForm(member{"key", keyText, true, "The name of the variant."},
			member{"weight", integerForm(1, 1_000_000), true, "The weight of the variant relative to the others."},
			member{"goto", keyText, false, "The key of a later step. Defaults to the next in the list."}).
			titled("SplitVariant")), true,
		"The variants. A person always gets the same one."}}
}

func (splitStep) ways(s *Step) (ways []StepTarget) {
	for i, v := range s.Variants {
		if v.Goto != "" {
			ways = append(ways, StepTarget{fmt.Sprintf("variants[%d].goto", i), Target{Goto, v.Goto}})
		}
	}
	return ways
}

func (splitStep) validate(s *Step, path string, wrong fault.Fields) {
	seen := map[string]bool{}
	for i, v := range s.Variants {
		if seen[v.Key] {
			wrong.Add(fmt.Sprintf("%s.variants[%d].key", path, i), "must be unique")
		}
		seen[v.Key] = true
	}
}

func (splitStep) summary(s *Step) string {
	return "Split into " + strings.Join(collectNames(s.Variants, func(v Variant) string { return v.Key }), ", ")
}
