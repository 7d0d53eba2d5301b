package automations

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/ent/automationlisten"
	"github.com/postrider/postrider/ent/automationrun"
	"github.com/postrider/postrider/ent/automationstep"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Outcomes of automations that are not among the matches stored with the event.
const (
	ActivatedLater = "activated_later" // the automation began to listen after the event
	// NotKept means that only the first matches are stored with the event, and this one was not among them.
	NotKept = "not_kept"
)

// Kinds of near misses.
const (
	// WaitOfAnotherPerson means that a run waits for this event name and has this address, but another user id.
	WaitOfAnotherPerson = "wait_of_another_person"
	// WaitConditionFalse means that a run of the person waits for this event name, but its condition is not
	// true.
	WaitConditionFalse = "wait_condition_false"
	// EventOfAnotherPerson means that an event with this name has this address, but a different user id.
	EventOfAnotherPerson  = "event_of_another_person"
	NameSpelledOtherwise  = "name_spelled_otherwise" // an automation listens to the name in different capitalization
	maxNearMisses         = 50
	maxMissesOfOneKind    = 10
	maxWaitsOfOnePerson   = 100
	maxListenersExplained = 100
)

// ExplainedMatch is an automation's reaction to an event and the reason for it.
type ExplainedMatch struct {
	shape.EventMatch

	AutomationName string // empty: the automation was deleted
	StepKey        string // key of the wait that the event ended
	Conditions     []expression.Explanation
}

// NearMiss is an effect that the event would have had with a small difference.
type NearMiss struct {
	Kind         string
	AutomationID string
	RunID        string
	StepKey      string
	EventID      string // id of the other event
	Name         string // the name that the automation listens to
	Condition    *expression.Explanation
}

// EventExplanation explains the effects of an event and its near misses.
type EventExplanation struct {
	Event      *ent.CustomEvent
	Matches    []ExplainedMatch
	NearMisses []NearMiss
}

// explainer holds the state of one call of Explain.
type explainer struct {
	*Service

	stored *ent.CustomEvent
	event  *machine.Event
	who    machine.Identity
	out    EventExplanation
}

// Explain returns how automations reacted to an event and why. It evaluates the conditions again, in the
// versions that handled the event. It returns NotFound.
func (s *Service) Explain(ctx context.Context, accountID, eventID string) (EventExplanation, error) {
	stored, err := s.Event(ctx, accountID, eventID)
	if err != nil {
		return EventExplanation{}, err
	}
	e := &explainer{Service: s, stored: stored,
		out: EventExplanation{Event: stored, Matches: []ExplainedMatch{}, NearMisses: []NearMiss{}}}
	if e.event, e.who, err = storedEvent(stored); err != nil {
		return EventExplanation{}, err
	}
	for _, do := range []func(context.Context) error{e.explainMatches, e.addListeners, e.fillNames, e.explainWaits,
		e.explainOthers, e.findSpellings} {
		if err := do(ctx); err != nil {
			return EventExplanation{}, fmt.Errorf("explain an event: %w", err)
		}
	}
	return e.out, nil
}

// explainMatches explains the matches stored with the event.
func (e *explainer) explainMatches(ctx context.Context) error {
	for _, m := range e.stored.Matches {
		out := ExplainedMatch{EventMatch: m}
		v, err := e.versions.Get(ctx, e.db.SQL, m.AutomationID, m.Version)
		switch {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return err
		case m.RunID != "" && m.Outcome != ingest.Started:
			if err := e.explainRun(ctx, v, &out); err != nil {
				return err
			}
		default:
			out.explainStart(ctx, v, e.event)
		}
		e.out.Matches = append(e.out.Matches, out)
	}
	return nil
}

// explainStart explains the condition of a trigger.
func (m *ExplainedMatch) explainStart(ctx context.Context, v *runs.Version, e *machine.Event) {
	if c := v.ExplainStart(ctx, e); c != nil {
		m.Conditions = append(m.Conditions, *c)
	}
}

// explainRun explains the event's effect on a run, in the state that the run had then.
func (e *explainer) explainRun(ctx context.Context, v *runs.Version, out *ExplainedMatch) error {
	r, err := e.db.Ent.AutomationRun.Query().
		Where(automationrun.AccountID(e.stored.AccountID), automationrun.ID(out.RunID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	run, state, err := e.stateThen(ctx, r)
	if err != nil {
		return err
	}
	if out.Outcome != ingest.Resumed {
		out.Conditions = v.ExplainCancel(ctx, run, state, e.event)
	}
	if out.Outcome != ingest.Cancelled && state.Step < len(v.Definition.Steps) {
		out.StepKey = v.Definition.Steps[state.Step].Key
		if c := v.ExplainWait(ctx, run, state, e.event); c != nil {
			out.Conditions = append(out.Conditions, *c)
		}
	}
	return nil
}

// stateThen returns a run in its state when the event arrived, with the outputs that its steps had by then.
func (e *explainer) stateThen(ctx context.Context, r *ent.AutomationRun) (machine.Run, machine.State, error) {
	trigger, err := runs.ReadEvent(string(r.Event))
	if err != nil {
		return machine.Run{}, machine.State{}, err
	}
	run := machine.Run{ID: r.ID, AutomationID: r.AutomationID, Version: r.Version, Trigger: trigger,
		StartedAt: r.StartedAt}
	state := machine.State{Step: r.StepIndex, Outputs: map[string]map[string]any{}}
	steps, err := e.db.Ent.AutomationStep.Query().Where(automationstep.RunID(r.ID)).
		Order(ent.Asc(automationstep.FieldID)).All(ctx)
	if err != nil {
		return run, state, err
	}
	for _, s := range steps {
		if eventOf(s.Output) == e.stored.ID || s.EndedAt.After(e.stored.CreatedAt) {
			state.Step = s.StepIndex
			break
		}
		if state.Outputs[s.Key], err = expression.Decode(s.Output); err != nil {
			return run, state, err
		}
	}
	return run, state, nil
}

// eventOf returns the id of the event that ended a wait, or "" if none did.
func eventOf(output json.RawMessage) string {
	var read struct {
		Event struct {
			ID string `json:"id"`
		} `json:"event"`
	}
	if err := json.Unmarshal(output, &read); err != nil {
		return ""
	}
	return read.Event.ID
}

// addListeners adds the automations that this event name starts now but that are not among the event's matches.
func (e *explainer) addListeners(ctx context.Context) error {
	list, err := e.db.Ent.AutomationListen.Query().
		Where(automationlisten.AccountID(e.stored.AccountID), automationlisten.Event(e.stored.Name),
			automationlisten.Starts(true)).
		Order(ent.Asc(automationlisten.FieldAutomationID)).Limit(maxListenersExplained).All(ctx)
	if err != nil {
		return err
	}
	for _, l := range list {
		if slices.ContainsFunc(e.stored.Matches,
			func(m shape.EventMatch) bool { return m.AutomationID == l.AutomationID }) {
			continue
		}
		out := ExplainedMatch{EventMatch: shape.EventMatch{AutomationID: l.AutomationID, Version: l.Version,
			Outcome: NotKept}}
		if a, err := e.Get(ctx, e.stored.AccountID, l.AutomationID); err == nil && a.ActivatedAt != nil &&
			a.ActivatedAt.After(e.stored.CreatedAt) {
			out.Outcome = ActivatedLater
		}
		v, err := e.versions.Get(ctx, e.db.SQL, l.AutomationID, l.Version)
		if err != nil {
			return err
		}
		out.explainStart(ctx, v, e.event)
		e.out.Matches = append(e.out.Matches, out)
	}
	return nil
}

// fillNames fills in the names of the automations.
func (e *explainer) fillNames(ctx context.Context) error {
	ids := make([]string, 0, len(e.out.Matches))
	for _, m := range e.out.Matches {
		ids = append(ids, m.AutomationID)
	}
	list, err := e.db.Ent.Automation.Query().Where(automation.AccountID(e.stored.AccountID), automation.IDIn(ids...)).
		Select(automation.FieldID, automation.FieldName).All(ctx)
	if err != nil {
		return err
	}
	for i := range e.out.Matches {
		for _, a := range list {
			if a.ID == e.out.Matches[i].AutomationID {
				e.out.Matches[i].AutomationName = a.Name
			}
		}
	}
	return nil
}

func (e *explainer) addMiss(m NearMiss) {
	if len(e.out.NearMisses) < maxNearMisses {
		e.out.NearMisses = append(e.out.NearMisses, m)
	}
}
