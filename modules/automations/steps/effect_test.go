package steps

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/definition"
)

// A type without an effect would crash the process that takes its first step.
func TestRegistersEveryEffect(t *testing.T) {
	t.Parallel()
	want := slices.DeleteFunc(definition.Types(), func(name string) bool { return !definition.IsEffect(name) })
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(newEffects(&services{})))); diff != "" {
		t.Errorf("step types that act outside the run and registered effects differ (-definition +steps):\n%s", diff)
	}
}
