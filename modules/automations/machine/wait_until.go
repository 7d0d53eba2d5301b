package machine

import (
	"strings"
	"time"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

var _ = registerType(definition.WaitUntil, untilStep{})

type untilStep struct{ plainStep }

func (untilStep) compile(c *compiler, path string, s *definition.Step, out *compiledStep) {
	out.at = c.compileExpression(path+"at", s.At, expression.Timestamp)
}

func (untilStep) texts(s *definition.Step) []source {
	if !strings.Contains(s.Timezone, "{{") {
		return nil
	}
	return addText(nil, "timezone", s.Timezone)
}

// begin waits for a time, for a part of the day, or for both: the first such part of the day after that time.
func (untilStep) begin(a *advance, s *definition.Step) {
	at, output := a.now, map[string]any{}
	if program := a.steps[a.state.Step].at; program != nil {
		named, err := program.Time(a.ctx, a.scope(a.run, a.state, nil, a.now))
		if err != nil {
			a.finish(Record{Status: StatusFailed, Error: "invalid_time: at " + err.Error()},
				definition.Target{Kind: definition.Fails})
			return
		}
		named = named.Add(s.Offset.Duration)
		switch {
		case named.After(a.now.Add(clock.MaxDuration)):
			a.finish(Record{Status: StatusFailed, Error: "invalid_time: at is more than 366 days ahead"},
				definition.Target{Kind: definition.Fails})
			return
		case named.Before(a.now) && s.OnPast.Kind != "" && s.OnPast.Kind != definition.Continue:
			r := Record{Status: StatusDone,
				Output: map[string]any{"past": true, "until": named.UTC().Format(time.RFC3339)}}
			a.finish(r, s.OnPast)
			return
		case named.After(a.now):
			at = named
		}
	}
	if s.Window != nil {
		zone := a.zone(s, output)
		window := clock.Window{From: s.Window.From, To: s.Window.To, Days: s.Window.Days}
		at, _ = window.Next(at, zone)
	}
	if !at.After(a.now) {
		output["until"] = at.UTC().Format(time.RFC3339)
		a.finish(Record{Status: StatusDone, Output: output}, definition.Target{Kind: definition.Continue})
		return
	}
	a.wait(StepWait{Until: at})
}

// zone returns the time zone of the step, or else of the automation, or else UTC. An unknown rendered name is
// noted in the output and skipped.
func (a *advance) zone(s *definition.Step, output map[string]any) *time.Location {
	name := s.Timezone
	if a.steps[a.state.Step].texts["timezone"] != nil {
		rendered, err := a.textsOf(a.ctx, a.state.Step, a.run, a.scope(a.run, a.state, nil, a.now)).
			renderPath("timezone")
		if name = rendered; err != nil {
			name = ""
		}
	}
	for _, candidate := range []string{name, a.Definition.Timezone} {
		if candidate == "" {
			continue
		}
		zone, err := clock.Zone(candidate)
		if err == nil {
			return zone
		}
		output["timezone_error"] = err.Error()
	}
	return time.UTC
}
