package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/diff"
)

func TestOfComparesStepsByKey(t *testing.T) {
	t.Parallel()
	delay := func(key, duration string) string {
		return fmt.Sprintf(`{"key": %q, "type": "delay", "duration": %q}`, key, duration)
	}
	a, b, c := delay("a", "P1D"), delay("b", "P2D"), delay("c", "P3D")
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing":            {a + "," + b, a + "," + b, ""},
		"one step more":      {a + "," + c, a + "," + b + "," + c, "b added -1 1"},
		"one step less":      {a + "," + b + "," + c, b + "," + c, "a removed 0 -1"},
		"different duration": {a + "," + b, a + "," + delay("b", "P4D"), `b changed 1 1 duration "P2D" "P4D"`},
		"different order":    {a + "," + b + "," + c, b + "," + a + "," + c, "b moved 1 0; a moved 0 1"},
		"different type":     {a, `{"key": "a", "type": "end"}`, `a changed 0 0 duration "P1D" <nil> type "delay" "end"`},
	} {
		old, wrong := definition.Decode([]byte(withSteps(test.before)))
		young, more := definition.Decode([]byte(withSteps(test.after)))
		if len(wrong)+len(more) > 0 {
			t.Fatalf("%s: %v %v", name, wrong, more)
		}
		var got []string
		for _, s := range diff.Compare(&old, &young).Steps {
			line := []string{fmt.Sprintf("%s %s %d %d", s.Key, s.Change, s.Before, s.After)}
			for _, f := range s.Fields {
				line = append(line, fmt.Sprintf("%s %#v %#v", f.Path, f.Before, f.After))
			}
			got = append(got, strings.Join(line, " "))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOfComparesOtherFields(t *testing.T) {
	t.Parallel()
	old, _ := definition.Decode([]byte(`{"name": "A", "timezone": "UTC", "trigger": {"event": "e", "re_entry": "once"}, "steps": [{"type": "end"}]}`))
	young, _ := definition.Decode([]byte(`{"name": "B", "trigger": {"event": "e", "re_entry": {"at_most_every": "P1D"}, "conditions": "true"}, "steps": [{"type": "end"}]}`))
	want := []diff.FieldChange{{Path: "name", Before: "A", After: "B"}, {Path: "timezone", Before: "UTC"},
		{Path: "trigger.conditions", After: "true"},
		{Path: "trigger.re_entry", Before: "once", After: map[string]any{"at_most_every": "P1D"}}}
	if diff := cmp.Diff(want, diff.Compare(&old, &young).Fields); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func withSteps(steps string) string {
	return `{"name": "N", "trigger": {"event": "e"}, "steps": [` + steps + `]}`
}
