package definition

import (
	"strings"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/runtime/base/fault"
)

// WaitUntil is the type of steps that wait until a time or a part of the day.
const WaitUntil = "wait_until"

var _ = registerType(WaitUntil, untilStep{})

type untilStep struct{ plainStep }

func (untilStep) describe() string {
	return "waits in a time zone until a time (`at`), until a part of the day (`window`), or until the first such window after that time"
}

func (untilStep) members() []member {
	return []member{
		{"window", objectForm(
			member{"from", timeOfDay, true, "Start of the window, such as 09:00."},
			member{"to", timeOfDay, true,
				"End of the window, such as 20:00. If it is before from, the window ends on the next day."},
			member{"days", listForm(1, 7, oneOf(clock.Days...)), false,
				"The days of the week on which a window starts. Defaults to every day."},
		).titled("StepWindow"), false, "The part of the day in which the run continues."},
		{"at", expression, false, "A CEL expression that returns a timestamp, for example timestamp(event.data.ends_at)."},
		{"offset", textForm(65, checkOffset).withSchema(map[string]any{"pattern": "^-?" + clock.DurationPattern[1:]}),
			false, "An offset that is added to at. It can be negative, for example -P3D."},
		{"timezone", textForm(MaxString, checkStepZone), false, "An IANA time zone, or Liquid."},
		{"on_past", target, false, "What happens if at is in the past. Defaults to continue."},
	}
}

func (untilStep) jointSchema() map[string]any {
	return map[string]any{"anyOf": []any{requireField("window"), requireField("at")},
		"dependentRequired": map[string][]string{"offset": {"at"}}}
}

func (untilStep) ways(s *Step) []StepTarget {
	return []StepTarget{newWay("on_past", s.OnPast, Continue)}
}

func (untilStep) validate(s *Step, path string, wrong fault.Fields) {
	if s.Window == nil && s.At == "" {
		wrong.Add(joinPath(path, "window"), "window or at is required")
	}
	if s.At == "" && s.Offset.Text != "" {
		wrong.Add(joinPath(path, "offset"), "requires at")
	}
	if s.Window != nil && s.Window.From == s.Window.To {
		wrong.Add(joinPath(path, "window.to"), "cannot be the same as from; omit the window")
	}
}

func (untilStep) summary(s *Step) string {
	var parts []string
	if s.At != "" {
		parts = append(parts, strings.TrimSpace(s.At+" "+s.Offset.Text))
	}
	if w := s.Window; w != nil {
		parts = append(parts, strings.TrimSpace(w.From+"-"+w.To+" "+strings.Join(w.Days, ", ")))
	}
	return "Wait until " + strings.Join(parts, ", then ")
}
