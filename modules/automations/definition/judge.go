package definition

import (
	"fmt"
	"strings"

	"github.com/postrider/postrider/runtime/base/fault"
)

// judge holds the parts of a definition against each other.
func (d *Definition) judge(wrong fault.Fields) {
	positions := map[string]int{}
	for i := range d.Steps {
		key := d.Steps[i].Key
		if first, known := positions[key]; known {
			wrong.Add(fmt.Sprintf("steps[%d].key", i), "is the key of steps[%d] already", first)
			continue
		}
		positions[key] = i
	}
	for i := range d.Steps {
		step := &d.Steps[i]
		path := fmt.Sprintf("steps[%d]", i)
		for _, way := range step.Ways() {
			if way.Target.Kind == Goto {
				checkGoto(join(path, way.Path), way.Target.Key, i, positions, wrong)
			}
		}
		step.judge(path, wrong)
		if step.OfStep != "" {
			d.judgeOfStep(join(path, "step"), step.OfStep, step.Event, i, wrong)
		}
	}
	for i, c := range d.Trigger.Cancel {
		if c.OfStep != "" {
			d.judgeOfStep(fmt.Sprintf("trigger.cancel_on_events[%d].step", i), c.OfStep, Texts{c.Event}, len(d.Steps), wrong)
		}
	}
}

// judgeOfStep judges the step to whose mail events are limited: one that sends, before another.
func (d *Definition) judgeOfStep(path, key string, events Texts, before int, wrong fault.Fields) {
	switch at := d.Step(key); {
	case at < 0:
		wrong.Add(path, "names the step %s, and there is none", key)
	case at >= before:
		wrong.Add(path, "names a step that is not before this one")
	case Sends(d.Steps[at].Type) != MediumEmail:
		wrong.Add(path, "names a step that sends no email")
	}
	for _, name := range events {
		if name == "$email.received" || !strings.HasPrefix(name, "$") {
			wrong.Add(path, "is for the service's own events about a mail, and %s is none", name)
			return
		}
	}
}

func checkGoto(path, key string, from int, positions map[string]int, wrong fault.Fields) {
	switch to, known := positions[key]; {
	case !known:
		wrong.Add(path, "names the step %s, and there is none", key)
	case to == from:
		wrong.Add(path, "points at its own step; a run only goes forward")
	case to < from:
		wrong.Add(path, "points back at steps[%d]; a run only goes forward", to)
	}
}

// Way is one target of a step, with what it is where it was left out.
type Way struct {
	Path   string // of the field within the step
	Target Target
}

// way is the target in a field, with its meaning where the field was left out.
func way(field string, t Target, otherwise string) Way {
	if t.Kind == Goto {
		field += ".goto"
	}
	return Way{field, t.Or(otherwise)}
}

// Ways returns all targets that a step can take.
func (s *Step) Ways() []Way {
	t := stepTypes[s.Type]
	if t == nil || t.isLast() {
		return nil
	}
	return append(t.ways(s), way("next", s.Next, Continue))
}

// judge reports fields of the step that contradict each other.
func (s *Step) judge(path string, wrong fault.Fields) {
	if t := stepTypes[s.Type]; t != nil {
		t.judge(s, path, wrong)
	}
}
