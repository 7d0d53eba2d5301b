package machine

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

// A type that Decode accepts but the machine does not know would end runs with an internal error, and an effect
// that is never rendered would never be performed.
func TestMachineSupportsEveryStepType(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(definition.Types(), slices.Sorted(maps.Keys(stepTypes))); diff != "" {
		t.Fatalf("the step types of package definition and of package machine differ (-definition +machine):\n%s", diff)
	}
	for name, kind := range stepTypes {
		p, wrong := Compile(definition.Definition{Steps: []definition.Step{{Key: "a", Type: name}}})
		if len(wrong) > 0 {
			t.Errorf("%s: a step without fields does not compile: %v", name, wrong)
			continue
		}
		e, err := kind.render(p.textsOf(t.Context(), 0, Run{}, expression.Scope{}), &p.Definition.Steps[0])
		renders := err == nil && e != nil
		if renders != definition.IsEffect(name) {
			t.Errorf("%s: renders an effect: %t (%v); definition.IsEffect returned %t", name, renders, err,
				definition.IsEffect(name))
		}
	}
}
