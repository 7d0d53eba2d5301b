package machine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

// Run is the part of a run that never changes.
type Run struct {
	ID           string
	AutomationID string
	Version      int
	Trigger      *Event
	Identity     Identity
	StartedAt    time.Time
}

// State is the progress of a run.
type State struct {
	Step    int                       // the next step, or the step that waits
	Ready   time.Time                 // when that step became due
	Waiting *StepWait                 // nil before the step has begun
	Outputs map[string]map[string]any // outputs of the steps that ended, by key
}

// StepWait describes the wait of a step.
type StepWait struct {
	Until  time.Time `json:"until"`
	Events []string  `json:"events,omitempty"` // event names; empty to wait for the time only
	Since  time.Time `json:"since"`            // start of the events that count; zero if events before the wait do not count
	Began  time.Time `json:"began"`
}

// AwaitsEvent reports whether events with a name can end the wait.
func (w *StepWait) AwaitsEvent(name string) bool { return slices.Contains(w.Events, name) }

// AdvanceInput is the input of Advance. At most one of Event, Result and Fired is set; if none is, the next step
// begins.
type AdvanceInput struct {
	Now     time.Time
	Fired   bool    // the time of the wait has passed
	Event   *Event  // event that ends the wait
	Result  *Result // result of the effect
	Assumed bool    // no event arrived, but a trial continues as if one had
}

// Statuses of steps that ended.
const (
	StatusDone       = "completed"
	StatusSent       = "sent"
	StatusSuppressed = "suppressed"
	StatusExpired    = "expired"
	StatusReceived   = "received"
	StatusTimedOut   = "timed_out"
	StatusFailed     = "failed"
)

// Result is the result of an effect.
type Result struct {
	Status string // sent, suppressed, completed or failed
	Output map[string]any
	Error  string // reason of a failure, as code: sentence
}

// Record is a step that ended.
type Record struct {
	Index   int
	Key     string
	Type    string
	Status  string
	Output  map[string]any
	Error   string // why the step failed, even if on_error let the run continue
	Failed  bool   // the run ended because of this step
	Started time.Time
	Ended   time.Time
}

// Decision is the result of Advance.
type Decision struct {
	Records []Record
	Effect  Effect    // to be performed now
	Waiting *StepWait // to be waited for
	Ended   string    // completed or failed; empty while the run is live
	Error   string    // reason if Status is failed
}

func (p *Program) scope(run Run, s State, event *Event, now time.Time) expression.Scope {
	steps := make(map[string]any, len(s.Outputs))
	for key, output := range s.Outputs {
		steps[key] = output
	}
	if event == nil {
		event = run.Trigger
	}
	return expression.Scope{Trigger: run.Trigger.values(), Event: event.values(), Steps: steps, Now: now,
		Run: map[string]any{
			"id": run.ID, "automation_id": run.AutomationID, "version": int64(run.Version), "started_at": run.StartedAt.UTC().Format(timeLayout)}}
}

// Advance takes a run as far as possible without external input. It does not modify the given state.
func (p *Program) Advance(ctx context.Context, run Run, before State, in AdvanceInput) (State, Decision) {
	a := &advance{Program: p, ctx: ctx, run: run, state: before, now: in.Now}
	a.state.Outputs = make(map[string]map[string]any, len(before.Outputs)+1)
	maps.Copy(a.state.Outputs, before.Outputs)
	if a.state.Step >= len(p.steps) {
		a.end("completed", "")
		return a.state, a.outcome
	}
	a.answer(in)
	if in.Fired && before.Waiting != nil && a.outcome.Ended == "" {
		a.state.Ready = before.Waiting.Until // the next step is as late as the timer was
	}
	for a.outcome.Ended == "" && a.outcome.Waiting == nil && a.outcome.Effect == nil {
		a.begin()
	}
	return a.state, a.outcome
}

// advance is the state of one call of Advance.
type advance struct {
	*Program
	ctx     context.Context //nolint:containedctx // lives only as long as the call
	run     Run
	state   State
	now     time.Time
	outcome Decision
}

func (a *advance) step() *definition.Step { return &a.Definition.Steps[a.state.Step] }

// answer ends the step whose wait or effect is done.
func (a *advance) answer(in AdvanceInput) {
	s := a.step()
	switch {
	case in.Result != nil:
		a.effectDone(s, *in.Result)
	case in.Event != nil && a.state.Waiting != nil:
		output := map[string]any{"event": in.Event.values()}
		if in.Assumed {
			output["received"] = "assumed"
		}
		a.finish(Record{Status: StatusReceived, Output: output}, s.OnEvent.OrDefault(definition.Continue))
	case in.Fired && a.state.Waiting != nil:
		typeOf(s).timeOut(a, s)
	}
}

func (a *advance) effectDone(s *definition.Step, result Result) {
	r := Record{Status: result.Status, Output: result.Output, Error: result.Error}
	target := definition.Target{Kind: definition.Continue}
	switch result.Status {
	case StatusFailed:
		target = s.OnError.OrDefault(definition.Fails)
	case StatusSuppressed:
		target = s.OnSuppressed.OrDefault(definition.Continue)
		if target.Kind == definition.Fails {
			r.Error = "recipient_suppressed: a recipient is suppressed"
		}
	}
	a.finish(r, target)
}

// begin begins the next step.
func (a *advance) begin() {
	s := a.step()
	if a.state.Ready.IsZero() {
		a.state.Ready = a.now
	}
	typeOf(s).begin(a, s)
}

func (a *advance) wait(w StepWait) {
	w.Began = a.now
	a.state.Waiting, a.outcome.Waiting = &w, &w
}

func (a *advance) beginEffect(s *definition.Step) {
	if d := s.ExpiresAfter.Duration; d > 0 && a.now.After(a.state.Ready.Add(d)) {
		a.finish(Record{Status: StatusExpired}, definition.Target{Kind: definition.Continue})
		return
	}
	effect, err := a.renderEffect(a.ctx, a.state.Step, a.run, a.scope(a.run, a.state, nil, a.now))
	if err != nil {
		a.finish(Record{Status: StatusFailed, Error: "render_failed: " + err.Error()},
			s.OnError.OrDefault(definition.Fails))
		return
	}
	a.outcome.Effect = effect
}

// condition evaluates a condition. An error counts as false and is stored in the output.
func (a *advance) condition(c *expression.Program, output map[string]any) bool {
	is, err := c.IsTrue(a.ctx, a.scope(a.run, a.state, nil, a.now))
	if err != nil {
		output["error"] = err.Error()
	}
	return is
}

// finish ends the step and follows the target. For the target continue, it follows next.
func (a *advance) finish(r Record, target definition.Target) {
	s := a.step()
	if target.Kind == definition.Continue {
		target = s.Next.OrDefault(definition.Continue)
	}
	if r.Output == nil {
		r.Output = map[string]any{}
	}
	r.Output["status"] = r.Status
	r.Index, r.Key, r.Type, r.Ended, r.Started = a.state.Step, s.Key, s.Type, a.now, a.state.Ready
	if r.Started.IsZero() {
		r.Started = a.now
	}
	if r.Failed = target.Kind == definition.Fails; r.Failed && r.Error == "" {
		r.Error = "ended_failed: the step " + s.Key + " ends the run as failed"
	}
	a.state.Outputs[s.Key] = r.Output
	a.outcome.Records = append(a.outcome.Records, r)
	a.state.Waiting, a.state.Ready = nil, a.now
	next := a.state.Step + 1
	switch target.Kind {
	case definition.Fails:
		a.end("failed", r.Error)
		return
	case definition.Ends:
		a.end("completed", "")
		return
	case definition.Goto:
		next = a.Definition.Step(target.Key)
	}
	if next >= len(a.steps) {
		a.end("completed", "")
		return
	}
	a.state.Step = next
}

func (a *advance) end(status, err string) {
	a.outcome.Ended, a.outcome.Error = status, err
}
