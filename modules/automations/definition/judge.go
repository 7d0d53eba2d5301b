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
	case d.Steps[at].Type != SendEmail:
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

// Ways are all the targets that a step can take.
func (s *Step) Ways() []Way {
	var ways []Way
	add := func(name string, t Target, otherwise string) {
		path := name
		if t.Kind == Goto {
			path += ".goto"
		}
		ways = append(ways, Way{path, t.Or(otherwise)})
	}
	switch s.Type {
	case SendEmail, SendSMS:
		add("on_suppressed", s.OnSuppressed, Continue)
		add("on_error", s.OnError, Fails)
	case WaitUntil:
		add("on_past", s.OnPast, Continue)
	case WaitForEvent:
		add("on_event", s.OnEvent, Continue)
		add("on_timeout", s.OnTimeout, Continue)
	case Condition:
		add("on_true", s.OnTrue, Continue)
		add("on_false", s.OnFalse, Ends)
	case Branch:
		for i, c := range s.Cases {
			ways = append(ways, Way{fmt.Sprintf("cases[%d].goto", i), Target{Goto, c.Goto}})
		}
		add("otherwise", s.Otherwise, Continue)
	case Split:
		for i, v := range s.Variants {
			if v.Goto != "" {
				ways = append(ways, Way{fmt.Sprintf("variants[%d].goto", i), Target{Goto, v.Goto}})
			}
		}
	case Webhook:
		add("on_error", s.OnError, Fails)
	case End:
		return nil
	}
	add("next", s.Next, Continue)
	return ways
}

// judge looks at the fields of one step that belong together.
func (s *Step) judge(path string, wrong fault.Fields) {
	switch s.Type {
	case SendEmail:
		s.judgeEmail(path, wrong)
	case WaitUntil:
		if s.Window == nil && s.At == "" {
			wrong.Add(join(path, "window"), "window or at is required")
		}
		if s.At == "" && s.Offset.Text != "" {
			wrong.Add(join(path, "offset"), "is added to at, which is missing")
		}
		if s.Window != nil && s.Window.From == s.Window.To {
			wrong.Add(join(path, "window.to"), "is the same as from; leave the window out")
		}
	case Split:
		seen := map[string]bool{}
		for i, v := range s.Variants {
			if seen[v.Key] {
				wrong.Add(fmt.Sprintf("%s.variants[%d].key", path, i), "is given twice")
			}
			seen[v.Key] = true
		}
	}
}

func (s *Step) judgeEmail(path string, wrong fault.Fields) {
	if t := s.Template; t != nil {
		if (t.ID == "") == (t.Alias == "") {
			wrong.Add(join(path, "template"), "must have exactly one of id and alias")
		}
		for name, body := range map[string]string{"html": s.HTML, "text": s.Text} {
			if body != "" {
				wrong.Add(join(path, name), "is given by the template; leave it out")
			}
		}
		return
	}
	if s.From == "" {
		wrong.Add(join(path, "from"), "is required without a template")
	}
	if s.Subject == "" {
		wrong.Add(join(path, "subject"), "is required without a template")
	}
	if s.HTML == "" && s.Text == "" {
		wrong.Add(join(path, "html"), "html, text or template is required")
	}
}
