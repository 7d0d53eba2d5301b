package automations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/templates/language"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Problem is what speaks against activating a draft, or should be known before.
type Problem struct {
	Path     string
	Severity string // error, warning
	Message  string
}

// The severities of problems.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Check gives the problems of a draft, for the key that would activate it.
func (s *Service) Check(ctx context.Context, caller accounts.Caller, automationID string) ([]Problem, error) {
	a, err := s.Get(ctx, caller.AccountID, automationID)
	if err != nil {
		return nil, err
	}
	return s.problems(ctx, caller, a.Draft)
}

// problemsErr refuses a draft with errors; nil: it has none.
func problemsErr(problems []Problem) error {
	wrong := fault.Fields{}
	for _, p := range problems {
		if p.Severity == SeverityError {
			wrong.Add(p.Path, "%s", p.Message)
		}
	}
	return wrong.Err()
}

func (s *Service) problems(ctx context.Context, caller accounts.Caller, document json.RawMessage) ([]Problem, error) {
	var d definition.Definition
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the draft: %w", err)
	}
	problems := []Problem{}
	for _, i := range unreachable(&d) {
		problems = append(problems, Problem{fmt.Sprintf("steps[%d]", i), SeverityWarning, "is never reached"})
	}
	lookups, cancel := context.WithTimeout(ctx, egress.LookupTimeout) // of all steps together
	defer cancel()
	for i := range d.Steps {
		path := fmt.Sprintf("steps[%d]", i)
		if d.Steps[i].Type == definition.Webhook && s.config.Targets != nil {
			if problem := s.config.Targets.Problem(lookups, d.Steps[i].URL); problem != "" {
				problems = append(problems, Problem{path + ".url", SeverityError, problem})
			}
		}
		var found []Problem
		var err error
		switch d.Steps[i].Type {
		case definition.SendEmail:
			found, err = s.emailProblems(ctx, caller, path, &d.Steps[i])
		case definition.SendSMS:
			found, err = s.textProblems(ctx, caller, path)
		}
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// textProblems says why no text message can be sent.
func (s *Service) textProblems(ctx context.Context, caller accounts.Caller, path string) ([]Problem, error) {
	if s.texts == nil {
		return []Problem{{path + ".type", SeverityError, "sends a text message, and they are switched off on this service"}}, nil
	}
	reason, err := s.texts.Problem(ctx, caller.AccountID)
	if err != nil || reason == "" {
		return nil, err
	}
	return []Problem{{path + ".type", SeverityError, "sends a text message, and " + reason}}, nil
}

// unreachable gives the steps to which no way leads.
func unreachable(d *definition.Definition) (out []int) {
	reached := make([]bool, len(d.Steps)+1)
	reached[0] = true
	for i := range d.Steps {
		if !reached[i] {
			out = append(out, i)
			continue
		}
		step := &d.Steps[i]
		for _, way := range step.Ways() {
			switch way.Target.Kind {
			case definition.Goto:
				reached[d.Step(way.Target.Key)] = true
			case definition.Continue:
				if step.Next.Or(definition.Continue).Kind == definition.Continue {
					reached[i+1] = true
				}
			}
		}
	}
	return out
}

func (s *Service) emailProblems(ctx context.Context, caller accounts.Caller, path string, step *definition.Step) (out []Problem, err error) {
	from := step.From
	if t := step.Template; t != nil {
		ref := t.ID + t.Alias
		found, err := s.templates.Get(ctx, caller.AccountID, ref)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return append(out, Problem{path + ".template", SeverityError, "is not a template of this account"}), nil
		case err != nil:
			return nil, err
		case found.Version == nil:
			return append(out, Problem{path + ".template", SeverityError, "is a template that was never published; publish it first"}), nil
		}
		version, err := s.templates.Version(ctx, caller.AccountID, found.ID, *found.Version)
		if err != nil {
			return nil, err
		}
		for _, v := range version.Variables {
			if _, given := language.LookUp(t.Variables, v.Key); v.Required && !given && !isEventVariable(v.Key) {
				out = append(out, Problem{path + ".template.variables." + v.Key, SeverityError, "is required by the template"})
			}
		}
		if from == "" {
			from = version.From
		}
		if from == "" {
			out = append(out, Problem{path + ".from", SeverityError, "is required: the template names no sender"})
		}
	}
	if from == "" {
		return out, nil
	}
	problem, err := s.senderProblem(ctx, caller, from)
	if problem != "" {
		out = append(out, Problem{path + ".from", SeverityError, problem})
	}
	return out, err
}

// isEventVariable tells whether a variable is filled with the event itself.
func isEventVariable(key string) bool { return key == "event" || len(key) > 6 && key[:6] == "event." }

// senderProblem says why the caller may not send as an address; "": it may.
func (s *Service) senderProblem(ctx context.Context, caller accounts.Caller, from string) (string, error) {
	parsed, err := address.Parse(from)
	if err != nil {
		return err.Error(), nil //nolint:nilerr // what is wrong with the address is the answer
	}
	identity, err := s.domains.Identity(ctx, caller.AccountID, parsed)
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Kind != fault.Away && refused.Kind != fault.Internal:
		return refused.Message, nil
	case err != nil:
		return "", err
	case !caller.MayUseDomain(identity.DomainID):
		return "is on a domain that this API key may not send from", nil
	}
	return "", nil
}
