package definition

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// validateParts checks the parts of a definition against each other.
func (d *Definition) validateParts(wrong fault.Fields) {
	positions := map[string]int{}
	for i := range d.Steps {
		key := d.Steps[i].Key
		if first, known := positions[key]; known {
			wrong.Add(fmt.Sprintf("steps[%d].key", i), "is already the key of steps[%d]", first)
			continue
		}
		positions[key] = i
	}
	for i := range d.Steps {
		step := &d.Steps[i]
		path := fmt.Sprintf("steps[%d]", i)
		for _, way := range step.Targets() {
			if way.Target.Kind == Goto {
				checkGoto(joinPath(path, way.Path), way.Target.Key, i, positions, wrong)
			}
		}
		step.validateFields(path, wrong)
		if step.OfStep != "" {
			d.judgeOfStep(joinPath(path, "step"), step.OfStep, step.Event, i, wrong)
		}
	}
	for i, c := range d.Trigger.Cancel {
		if c.OfStep != "" {
			d.judgeOfStep(fmt.Sprintf("trigger.cancel_on_events[%d].step", i), c.OfStep, StringList{c.Event},
				len(d.Steps), wrong)
		}
	}
}

// judgeOfStep checks the step named by the field step, whose email the events must be about. It must send email
// and come earlier.
func (d *Definition) judgeOfStep(path, key string, events StringList, before int, wrong fault.Fields) {
	switch at := d.Step(key); {
	case at < 0:
		wrong.Add(path, "must be the key of a step; there is no step %s", key)
	case at >= before:
		wrong.Add(path, "must be the key of an earlier step")
	case Sends(d.Steps[at].Type) != MediumEmail:
		wrong.Add(path, "must be the key of a step that sends email")
	}
	for _, name := range events {
		if name == "$email.received" || !strings.HasPrefix(name, "$") {
			wrong.Add(path, "requires built-in events about an email, and %s is not one", name)
			return
		}
	}
}

func checkGoto(path, key string, from int, positions map[string]int, wrong fault.Fields) {
	switch to, known := positions[key]; {
	case !known:
		wrong.Add(path, "must be the key of a step; there is no step %s", key)
	case to == from:
		wrong.Add(path, "cannot point at its own step, because runs only move forward")
	case to < from:
		wrong.Add(path, "cannot point back at steps[%d], because runs only move forward", to)
	}
}

// StepTarget is one target of a step with its default filled in.
type StepTarget struct {
	Path   string // name of the field within the step
	Target Target
}

// newWay returns the target of a field, or the field's default if it was omitted.
func newWay(field string, t Target, otherwise string) StepTarget {
	if t.Kind == Goto {
		field += ".goto"
	}
	return StepTarget{field, t.OrDefault(otherwise)}
}

// Targets returns all targets that a step can take.
func (s *Step) Targets() []StepTarget {
	t := stepTypes[s.Type]
	if t == nil || t.isLast() {
		return nil
	}
	return append(t.ways(s), newWay("next", s.Next, Continue))
}

// validateFields reports fields of the step that contradict each other.
func (s *Step) validateFields(path string, wrong fault.Fields) {
	if t := stepTypes[s.Type]; t != nil {
		t.validate(s, path, wrong)
	}
}
