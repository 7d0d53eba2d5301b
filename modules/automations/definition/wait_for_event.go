package definition

import (
	"fmt"
	"strings"
)

// WaitForEvent is the type of steps that wait for an event of the person.
const WaitForEvent = "wait_for_event"

var _ = register(WaitForEvent, eventStep{})

type eventStep struct{ plainStep }

func (eventStep) about() string {
	return "waits for an event of the person, for at most `timeout`. Events since the start of the run count, so an event before the wait is not lost"
}

func (eventStep) members() []member {
	return []member{
		{"event", events, true, "A name, or several of which the first wins."},
		{"timeout", duration, true, ""}, {"conditions", expression, false, "CEL; event is the event that arrives, trigger the one that started the run."},
		{"step", keyText, false, ofStep},
		{"since", text(64, checkSince), false, "From when on events count: run (if left out), step, or a duration before the start of the run."},
		{"on_event", target, false, "continue if left out."}, {"on_timeout", target, false, "continue if left out."},
	}
}

func (eventStep) ways(s *Step) []Way {
	return []Way{way("on_event", s.OnEvent, Continue), way("on_timeout", s.OnTimeout, Continue)}
}

func (eventStep) summary(s *Step) string {
	return fmt.Sprintf("Wait for %s, at most %s", strings.Join(s.Event, " or "), s.Timeout.Text)
}
