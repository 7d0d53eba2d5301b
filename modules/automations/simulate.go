package automations

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/runtime/base/fault"
)

// MaxLater is the maximum number of events after the first one.
const MaxLater = 100

// SimulationInput describes a simulation.
type SimulationInput struct {
	Draft    bool // simulate the draft; otherwise the active version, or the draft if none is active
	Version  int  // simulate this version; 0 leaves the choice to Draft
	Event    *ingest.Post
	EventID  string     // id of a stored event, in place of Event
	At       *time.Time // start time; nil: now, or the time of the stored event
	Later    []LaterEvent
	Outcomes map[string]string // chosen outcomes by step key: suppressed or error
}

// LaterEvent is an event of the same person after the first one.
type LaterEvent struct {
	After clock.Duration // time since the start of the run
	Post  ingest.Post
}

// SimulationResult is the result of a simulation.
type SimulationResult struct {
	simulation.Result

	AutomationID string
	Version      *int // nil: the draft
}

// subject is the version or the draft that is simulated or tested.
type subject struct {
	program   *machine.Program
	number    int // 0: the draft
	document  json.RawMessage
	domainIDs []string
}

// subjectOf returns the requested version of an automation, or its draft.
func (s *Service) subjectOf(ctx context.Context, caller accounts.Caller, a *ent.Automation, draft bool,
	number int) (subject, error) {
	if number == 0 && !draft && a.Version != nil {
		number = *a.Version
	}
	if number == 0 {
		program, err := machine.Parse(a.Draft)
		return subject{program, 0, a.Draft, caller.DomainIDs}, err
	}
	v, err := s.versions.Get(ctx, s.db.SQL, a.ID, number)
	if err != nil {
		return subject{}, err
	}
	return subject{v.Program, number, v.Document, v.DomainIDs}, nil
}

// Simulate plays one run on a virtual clock. It stores and sends nothing. It returns NotFound for an
// automation, a version or an event that does not belong to the account, or Invalid with all invalid fields.
func (s *Service) Simulate(ctx context.Context, caller accounts.Caller, automationID string,
	in SimulationInput) (SimulationResult, error) {
	a, err := s.Get(ctx, caller.AccountID, automationID)
	if err != nil {
		return SimulationResult{}, err
	}
	of, err := s.subjectOf(ctx, caller, a, in.Draft, in.Version)
	if err != nil {
		return SimulationResult{}, err
	}
	wrong := fault.Fields{}
	run := machine.Run{ID: "run_simulated", AutomationID: a.ID, Version: of.number}
	if err := s.startOf(ctx, caller.AccountID, of.program, in, &run, wrong); err != nil {
		return SimulationResult{}, err
	}
	later := in.parseLaterEvents(run, wrong)
	in.checkOutcomes(of.program, wrong)
	if err := wrong.Err(); err != nil {
		return SimulationResult{}, err
	}
	as := accounts.Caller{AccountID: caller.AccountID, Scope: rights.ScopeSending, DomainIDs: of.domainIDs}
	result, err := simulation.Play(ctx, simulation.Input{Program: of.program, AccountID: caller.AccountID, Run: run,
		Later: later,
		Perform: func(ctx context.Context, step *definition.Step, e machine.Effect) (simulation.EffectResult, error) {
			return s.steps.Preview(ctx, as, step, e, in.Outcomes[step.Key])
		}})
	if err != nil {
		return SimulationResult{}, fmt.Errorf("simulate: %w", err)
	}
	out := SimulationResult{Result: result, AutomationID: a.ID}
	if of.number > 0 {
		out.Version = &of.number
	}
	return out, nil
}

// startOf fills in the event and the time that start the run.
func (s *Service) startOf(ctx context.Context, accountID string, p *machine.Program, in SimulationInput,
	run *machine.Run, wrong fault.Fields) error {
	path := "event.name"
	switch {
	case in.EventID != "":
		path = "event_id"
		stored, err := s.Event(ctx, accountID, in.EventID)
		if err != nil {
			return err
		}
		if run.Trigger, run.Identity, err = storedEvent(stored); err != nil {
			return err
		}
	case in.Event != nil:
		post := *in.Event
		if post.Name == "" {
			post.Name = p.Definition.Trigger.Event
		}
		run.Trigger, run.Identity = postedEvent(post, "ae_simulated", "event.", wrong)
		if run.Trigger == nil {
			return nil
		}
		run.Trigger.CreatedAt = time.Now()
	default:
		wrong.Add("event", "event or event_id is required")
		return nil
	}
	if want := p.Definition.Trigger.Event; run.Trigger.Name != want {
		wrong.Add(path, "is the event %s, but the automation starts with %s", run.Trigger.Name, want)
	}
	if in.At != nil {
		run.Trigger.CreatedAt = *in.At
	}
	run.StartedAt = run.Trigger.CreatedAt.UTC().Truncate(time.Microsecond)
	run.Trigger.CreatedAt = run.StartedAt
	return nil
}

// storedEvent converts a stored event to the form that runs use and returns its person.
func storedEvent(e *ent.CustomEvent) (*machine.Event, machine.Identity, error) {
	data, err := expression.Decode(e.Data)
	if err != nil {
		return nil, machine.Identity{}, fmt.Errorf("read the event %s: %w", e.ID, err)
	}
	out := &machine.Event{ID: e.ID, Name: e.Name, Data: data, Source: e.Source, CreatedAt: e.CreatedAt}
	var who machine.Identity
	if e.UserID != nil {
		out.UserID, who.UserID = *e.UserID, *e.UserID
	}
	if e.Email != nil {
		out.Email = *e.Email
	}
	if e.EmailKey != nil {
		who.EmailKey = *e.EmailKey
	}
	return out, who, nil
}

// postedEvent validates an event of a simulation and reports errors under the prefix. It returns nil if the
// event is invalid.
func postedEvent(p ingest.Post, id, prefix string, wrong fault.Fields) (*machine.Event, machine.Identity) {
	e, who, err := ingest.EventOf(p)
	if err != nil {
		for field, reason := range fault.Classify(err).Fields {
			wrong.Add(prefix+field, "%s", reason)
		}
		return nil, who
	}
	e.ID = id
	return e, who
}

// parseLaterEvents returns the events after the first one, ordered by time. They belong to the same person.
func (in SimulationInput) parseLaterEvents(run machine.Run, wrong fault.Fields) (events []*machine.Event) {
	list := in.Later
	if len(list) > MaxLater {
		wrong.Add("then", "has %d events; the limit is %d", len(list), MaxLater)
		return nil
	}
	for i, l := range list {
		if l.Post.Source = "api"; strings.HasPrefix(l.Post.Name, "$") {
			l.Post.Source = "system"
		}
		if run.Trigger != nil {
			l.Post.UserID, l.Post.Email = run.Trigger.UserID, run.Trigger.Email
		}
		e, _ := postedEvent(l.Post, fmt.Sprintf("ae_simulated_%d", i+1), fmt.Sprintf("then[%d].", i), wrong)
		if e == nil {
			continue
		}
		e.CreatedAt = run.StartedAt.Add(l.After.Duration)
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(x, y *machine.Event) int { return x.CreatedAt.Compare(y.CreatedAt) })
	return events
}

// checkOutcomes rejects outcomes that their step cannot have.
func (in SimulationInput) checkOutcomes(p *machine.Program, wrong fault.Fields) {
	for key, outcome := range in.Outcomes {
		path := "outcomes." + key
		i := p.Definition.Step(key)
		switch {
		case i < 0:
			wrong.Add(path, "must be the key of a step")
		case outcome == simulation.OutcomeError && definition.IsEffect(p.Definition.Steps[i].Type):
		case outcome == simulation.OutcomeSuppressed && definition.Sends(p.Definition.Steps[i].Type) != "":
		case outcome == simulation.OutcomeError, outcome == simulation.OutcomeSuppressed:
			wrong.Add(path, "is a %s step, which cannot have this outcome", p.Definition.Steps[i].Type)
		default:
			wrong.Add(path, "must be %s or %s", simulation.OutcomeSuppressed, simulation.OutcomeError)
		}
	}
}
