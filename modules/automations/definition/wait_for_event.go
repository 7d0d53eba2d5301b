package definition

import (
	"fmt"
	"strings"
)

// WaitForEvent is the type of steps that wait for an event of the person.
const WaitForEvent = "wait_for_event"

var _ = registerType(WaitForEvent, eventStep{})

type eventStep struct{ plainStep }

func (eventStep) describe() string {
	return "waits for an event of the person, for at most `timeout`. Events since the start of the run count, so an event before the wait is not lost"
}

func (eventStep) members() []member {
	return []member{
		{"event", events, true, "An event name, or several; the first that arrives ends the wait."},
		{"timeout", duration, true, "How long to wait at most."},
		{"conditions", expression, false, "A CEL expression. event is the incoming event, trigger the event that started the run."},
		{"step", keyText, false, ofStep},
		{"since", textForm(64, checkSince), false,
			"The start of the period in which events count: run (the default), step, or a duration before the start of the run."},
		{"on_event", target, false, "What happens once the event arrives. Defaults to continue."},
		{"on_timeout", target, false, "What happens if no event arrives in time. Defaults to continue."},
	}
}

func (eventStep) ways(s *Step) []StepTarget {
	return []StepTarget{newWay("on_event", s.OnEvent, Continue), newWay("on_timeout", s.OnTimeout, Continue)}
}

func (eventStep) summary(s *Step) string {
	return fmt.Sprintf("Wait for %s, at most %s", strings.Join(s.Event, " or "), s.Timeout.Text)
}
