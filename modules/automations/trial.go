package automations

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Trial tests one automation with an event, whether it is active or not. It uses the draft if the draft is
// newer than the active version.
type Trial struct {
	ingest.Post

	AutomationID string
	Send         bool // send messages; otherwise only report the messages that would be sent
	Render       func(TrialResult) idempotency.Response
}

// TrialResult is the result of a trial.
type TrialResult struct {
	ingest.Result

	Played *SimulationResult // set if Send is false
	RunID  string            // set if Send is true; empty if the trigger or its condition did not match
}

// RunTrial tests an automation. Waits take no time, and awaited events count as received, with empty data. Without
// Send, nothing is sent, and the response reports the simulated run; with Send, a run starts that sends its
// messages. A trial does not appear in figures, publishes no facts, and is invisible to other events. It
// returns NotFound, Conflict for an archived automation, and the errors of Post.
func (s *Service) RunTrial(ctx context.Context, caller accounts.Caller, in Trial) (TrialResult, error) {
	a, err := s.Get(ctx, caller.AccountID, in.AutomationID)
	if err != nil {
		return TrialResult{}, err
	}
	if a.Status == automation.StatusArchived {
		return TrialResult{}, fault.Conflictf(fault.CodeConflict, "This automation is archived; duplicate it")
	}
	of, err := s.subjectOf(ctx, caller, a, a.VersionHash != a.DraftHash, 0)
	if err != nil {
		return TrialResult{}, err
	}
	t := &trial{Service: s, asked: in, caller: caller, automation: a, of: of}
	if !in.Send {
		if err := t.simulateRun(ctx); err != nil {
			return TrialResult{}, err
		}
	}
	post := in.Post
	post.Render = func(answer ingest.Result) idempotency.Response { return in.Render(t.result(answer)) }
	answer, err := s.events.StartTrial(ctx,
		ingest.Trial{Post: post, Run: func(e *machine.Event,
			who machine.Identity) (*runs.Settlement, shape.EventMatch) {
			return t.beginRun(ctx, e, who)
		}})
	return t.result(answer), err
}

// trial is the state of one call of Try.
type trial struct {
	*Service

	asked      Trial
	caller     accounts.Caller
	automation *ent.Automation
	of         subject
	played     *SimulationResult
	runID      string
}

func (t *trial) result(a ingest.Result) TrialResult { return TrialResult{a, t.played, t.runID} }

// simulateRun simulates the run.
func (t *trial) simulateRun(ctx context.Context) error {
	e, who, err := ingest.EventOf(t.asked.Post)
	if err != nil {
		return err
	}
	run := machine.Run{ID: "run_simulated", AutomationID: t.automation.ID, Version: t.of.number, Trigger: e,
		Identity: who, StartedAt: e.CreatedAt}
	t.played = &SimulationResult{AutomationID: t.automation.ID, Result: simulation.Result{Status: simulation.NotStarted,
		Steps: []simulation.StepResult{}, StartedAt: run.StartedAt, EndedAt: run.StartedAt}}
	if t.of.number > 0 {
		t.played.Version = &t.of.number
	}
	if e.Name != t.of.program.Definition.Trigger.Event {
		return nil
	}
	as := accounts.Caller{AccountID: t.caller.AccountID, Scope: rights.ScopeSending, DomainIDs: t.of.domainIDs}
	t.played.Result, err = simulation.Play(ctx, simulation.Input{Program: t.of.program, AccountID: t.caller.AccountID,
		Run: run, Hurry: true,
		Perform: func(ctx context.Context, step *definition.Step, e machine.Effect) (simulation.EffectResult, error) {
			return t.steps.Preview(ctx, as, step, e, "")
		}})
	if err != nil {
		return fmt.Errorf("try an automation: %w", err)
	}
	return nil
}

// beginRun starts the run of a trial that sends, and returns it with the automation's reaction to the event.
func (t *trial) beginRun(ctx context.Context, e *machine.Event,
	who machine.Identity) (*runs.Settlement, shape.EventMatch) {
	match := shape.EventMatch{AutomationID: t.automation.ID, Version: t.of.number, Outcome: ingest.ConditionFalse}
	if e.Name != t.of.program.Definition.Trigger.Event {
		return nil, match
	}
	is, err := t.of.program.StartsRun(ctx, e)
	switch {
	case err != nil:
		match.Outcome, match.Error = ingest.ConditionError, err.Error()
		return nil, match
	case !is:
		return nil, match
	}
	if match.Outcome = ingest.Started; !t.asked.Send {
		return nil, match
	}
	run := machine.Run{ID: id.New(id.Run), AutomationID: t.automation.ID, Trigger: e, Identity: who,
		StartedAt: e.CreatedAt}
	state, outcome := t.of.program.AdvanceTrial(ctx, run, machine.State{}, machine.AdvanceInput{Now: e.CreatedAt})
	t.runID, match.RunID = run.ID, run.ID
	return &runs.Settlement{Live: &runs.LiveRun{Run: run, AccountID: t.caller.AccountID, State: state, Work: runs.Ready,
		Trial: t.of.document}, Program: t.of.program, State: state,
		Outcome: outcome, Now: e.CreatedAt}, match
}
