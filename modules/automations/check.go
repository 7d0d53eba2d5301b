package automations

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Problem is a reason not to activate a draft, or something that its author should know first.
type Problem struct {
	Path     string
	Severity string // error, warning
	Message  string
}

// Severities of problems.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Check returns the problems of a draft and the key required to activate it.
func (s *Service) Check(ctx context.Context, caller accounts.Caller, automationID string) ([]Problem, error) {
	a, err := s.Get(ctx, caller.AccountID, automationID)
	if err != nil {
		return nil, err
	}
	return s.findProblems(ctx, caller, a.Draft)
}

// problemsErr returns an error if any problem is one.
func problemsErr(problems []Problem) error {
	wrong := fault.Fields{}
	for _, p := range problems {
		if p.Severity == SeverityError {
			wrong.Add(p.Path, "%s", p.Message)
		}
	}
	return wrong.Err()
}

func (s *Service) findProblems(ctx context.Context, caller accounts.Caller,
	document json.RawMessage) ([]Problem, error) {
	var d definition.Definition
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the draft: %w", err)
	}
	problems := []Problem{}
	for _, i := range findUnreachable(&d) {
		problems = append(problems, Problem{fmt.Sprintf("steps[%d]", i), SeverityWarning, "is never reached"})
	}
	lookUntil := time.Now().Add(egress.LookupTimeout) // shared by all steps
	for i := range d.Steps {
		report := func(severity string) func(field, problem string) {
			return func(field, problem string) {
				problems = append(problems, Problem{fmt.Sprintf("steps[%d].%s", i, field), severity, problem})
			}
		}
		err := s.steps.Check(ctx, steps.StepCheck{Caller: caller, Step: &d.Steps[i], LookUntil: lookUntil,
			Report: report(SeverityError), Warn: report(SeverityWarning)})
		if err != nil {
			return nil, err
		}
	}
	return problems, nil
}

// findUnreachable returns the steps that no path reaches.
func findUnreachable(d *definition.Definition) (out []int) {
	reached := make([]bool, len(d.Steps)+1)
	reached[0] = true
	for i := range d.Steps {
		if !reached[i] {
			out = append(out, i)
			continue
		}
		step := &d.Steps[i]
		for _, way := range step.Targets() {
			switch way.Target.Kind {
			case definition.Goto:
				reached[d.Step(way.Target.Key)] = true
			case definition.Continue:
				if step.Next.OrDefault(definition.Continue).Kind == definition.Continue {
					reached[i+1] = true
				}
			}
		}
	}
	return out
}
