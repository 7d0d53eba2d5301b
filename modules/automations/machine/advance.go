package machine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
)

// Run is what a run is, apart from how far it has come.
type Run struct {
	ID           string
	AutomationID string
	Version      int
	Trigger      *Event
	Identity     Identity
	StartedAt    time.Time
}

// State is how far a run has come.
type State struct {
	Step    int                       // the step that is taken next, or that waits
	Ready   time.Time                 // when that step became due
	Waiting *Waiting                  // nil: the step has not begun
	Outputs map[string]map[string]any // of the steps that ended, by key
}

// Waiting is what a step waits for.
type Waiting struct {
	Until  time.Time `json:"until"`
	Events []string  `json:"events,omitempty"` // names; none: for the time alone
	Since  time.Time `json:"since"`            // events count from here on; zero: none before the wait
	Began  time.Time `json:"began"`
}

// Awaits tells whether events of a name can end the wait.
func (w *Waiting) Awaits(name string) bool { return slices.Contains(w.Events, name) }

// Input is what Advance goes on from. At most one of Event, Result and Fired is set; none: the
// step is begun.
type Input struct {
	Now     time.Time
	Fired   bool    // the wait is over
	Event   *Event  // arrived for a wait
	Result  *Result // of the effect
	Assumed bool    // the event did not arrive: a trial goes on as if it had
}

// The statuses with which a step ends.
const (
	StatusDone       = "completed"
	StatusSent       = "sent"
	StatusSuppressed = "suppressed"
	StatusExpired    = "expired"
	StatusReceived   = "received"
	StatusTimedOut   = "timed_out"
	StatusFailed     = "failed"
)

// Result is what came of an effect.
type Result struct {
	Status string // sent, suppressed, completed or failed
	Output map[string]any
	Error  string // of failed: code: sentence
}

// Record is one step that ended.
type Record struct {
	Index   int
	Key     string
	Type    string
	Status  string
	Output  map[string]any
	Error   string // why it failed, also where on_error went on
	Failed  bool   // the run ended here, because of this step
	Started time.Time
	Ended   time.Time
}

// Outcome is what Advance decided.
type Outcome struct {
	Records []Record
	Effect  *Effect  // to be performed now
	Waiting *Waiting // to be waited for
	Ended   string   // completed, failed; "": the run lives
	Error   string   // of failed
}

func (p *Program) scope(run Run, s State, event *Event, now time.Time) expression.Scope {
	steps := make(map[string]any, len(s.Outputs))
	for key, output := range s.Outputs {
		steps[key] = output
	}
	if event == nil {
		event = run.Trigger
	}
	return expression.Scope{Trigger: run.Trigger.values(), Event: event.values(), Steps: steps, Now: now, Run: map[string]any{
		"id": run.ID, "automation_id": run.AutomationID, "version": int64(run.Version), "started_at": run.StartedAt.UTC().Format(time.RFC3339Nano)}}
}

// Advance takes a run as far as it comes without anybody's help. It changes nothing of the
// state that it is given.
func (p *Program) Advance(ctx context.Context, run Run, before State, in Input) (State, Outcome) {
	a := &advance{Program: p, ctx: ctx, run: run, state: before, now: in.Now}
	a.state.Outputs = make(map[string]map[string]any, len(before.Outputs)+1)
	maps.Copy(a.state.Outputs, before.Outputs)
	if a.state.Step >= len(p.steps) {
		a.end("completed", "")
		return a.state, a.outcome
	}
	a.answer(in)
	if in.Fired && before.Waiting != nil && a.outcome.Ended == "" {
		a.state.Ready = before.Waiting.Until // the next step is late by as much as the timer was
	}
	for a.outcome.Ended == "" && a.outcome.Waiting == nil && a.outcome.Effect == nil {
		a.begin()
	}
	return a.state, a.outcome
}

// advance is one call of Advance.
type advance struct {
	*Program
	ctx     context.Context //nolint:containedctx // lives as long as the call
	run     Run
	state   State
	now     time.Time
	outcome Outcome
}

func (a *advance) step() *definition.Step { return &a.Definition.Steps[a.state.Step] }

// answer ends the step that waited, or whose effect is done.
func (a *advance) answer(in Input) {
	s := a.step()
	switch {
	case in.Result != nil:
		a.effectDone(s, *in.Result)
	case in.Event != nil && a.state.Waiting != nil:
		output := map[string]any{"event": in.Event.values()}
		if in.Assumed {
			output["received"] = "assumed"
		}
		a.finish(Record{Status: StatusReceived, Output: output}, s.OnEvent.Or(definition.Continue))
	case in.Fired && a.state.Waiting != nil && s.Type == definition.WaitForEvent:
		a.timedOut(s)
	case in.Fired && a.state.Waiting != nil:
		a.finish(Record{Status: StatusDone, Output: map[string]any{"until": a.state.Waiting.Until.UTC().Format(time.RFC3339)}}, definition.Target{Kind: definition.Continue})
	}
}

func (a *advance) timedOut(s *definition.Step) {
	target := s.OnTimeout.Or(definition.Continue)
	r := Record{Status: StatusTimedOut}
	if target.Kind == definition.Fails {
		r.Error = "wait_timed_out: no event " + s.Event[0] + " arrived within " + s.Timeout.Text
	}
	a.finish(r, target)
}

func (a *advance) effectDone(s *definition.Step, result Result) {
	r := Record{Status: result.Status, Output: result.Output, Error: result.Error}
	target := definition.Target{Kind: definition.Continue}
	switch result.Status {
	case StatusFailed:
		target = s.OnError.Or(definition.Fails)
	case StatusSuppressed:
		target = s.OnSuppressed.Or(definition.Continue)
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
	switch s.Type {
	case definition.SendEmail, definition.SendSMS, definition.Webhook:
		a.beginEffect(s)
	case definition.Delay:
		a.wait(Waiting{Until: a.now.Add(s.Duration.Duration)})
	case definition.WaitUntil:
		a.beginUntil(s)
	case definition.WaitForEvent:
		a.wait(Waiting{Until: a.now.Add(s.Timeout.Duration), Events: s.Event, Since: a.since(s)})
	case definition.Condition:
		a.decide(s)
	case definition.Branch:
		a.branch(s)
	case definition.Split:
		a.split(s)
	case definition.End:
		r := Record{Status: StatusDone}
		kind := definition.Ends
		if s.Outcome == "failed" {
			kind, r.Error = definition.Fails, "ended_failed: the step "+s.Key+" ends the run as failed"
		}
		a.finish(r, definition.Target{Kind: kind})
	default:
		a.finish(Record{Status: StatusFailed, Error: "internal: there is no step of the type " + s.Type}, definition.Target{Kind: definition.Fails})
	}
}

// since gives from when on events count for a wait.
func (a *advance) since(s *definition.Step) time.Time {
	switch s.Since {
	case definition.SinceStep:
		return a.now
	case "", definition.SinceRun:
		return a.run.StartedAt
	}
	back, err := clock.ParseDuration(s.Since)
	if err != nil {
		return a.run.StartedAt
	}
	return a.run.StartedAt.Add(-back.Duration)
}

func (a *advance) wait(w Waiting) {
	w.Began = a.now
	a.state.Waiting, a.outcome.Waiting = &w, &w
}

func (a *advance) beginEffect(s *definition.Step) {
	if d := s.ExpiresAfter.Duration; d > 0 && a.now.After(a.state.Ready.Add(d)) {
		a.finish(Record{Status: StatusExpired}, definition.Target{Kind: definition.Continue})
		return
	}
	effect, err := a.effect(a.ctx, a.state.Step, a.run, a.scope(a.run, a.state, nil, a.now))
	if err != nil {
		a.finish(Record{Status: StatusFailed, Error: "render_failed: " + err.Error()}, s.OnError.Or(definition.Fails))
		return
	}
	a.outcome.Effect = effect
}

// condition evaluates; an error counts as false and is kept in the output.
func (a *advance) condition(c *expression.Program, output map[string]any) bool {
	is, err := c.True(a.ctx, a.scope(a.run, a.state, nil, a.now))
	if err != nil {
		output["error"] = err.Error()
	}
	return is
}

func (a *advance) decide(s *definition.Step) {
	output := map[string]any{}
	is := a.condition(a.steps[a.state.Step].condition, output)
	output["result"] = is
	target := s.OnFalse.Or(definition.Ends)
	if is {
		target = s.OnTrue.Or(definition.Continue)
	}
	r := Record{Status: StatusDone, Output: output}
	if target.Kind == definition.Fails {
		r.Error = fmt.Sprintf("condition_%t: the condition of the step %s is %t", is, s.Key, is)
	}
	a.finish(r, target)
}

func (a *advance) branch(s *definition.Step) {
	output := map[string]any{}
	for i, c := range a.steps[a.state.Step].cases {
		if a.condition(c, output) {
			output["case"] = int64(i)
			a.finish(Record{Status: StatusDone, Output: output}, definition.Target{Kind: definition.Goto, Key: s.Cases[i].Goto})
			return
		}
	}
	r := Record{Status: StatusDone, Output: output}
	target := s.Otherwise.Or(definition.Continue)
	if target.Kind == definition.Fails {
		r.Error = "no_case: no case of the step " + s.Key + " is true"
	}
	a.finish(r, target)
}

// split chooses by a hash, so that a person always gets the same variant.
func (a *advance) split(s *definition.Step) {
	total := 0
	for _, v := range s.Variants {
		total += v.Weight
	}
	sum := sha256.Sum256([]byte(a.run.AutomationID + "\x00" + s.Key + "\x00" + a.run.Identity.splitSeed(a.run.ID)))
	place := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, v := range s.Variants {
		if place -= v.Weight; place >= 0 {
			continue
		}
		target := definition.Target{Kind: definition.Continue}
		if v.Goto != "" {
			target = definition.Target{Kind: definition.Goto, Key: v.Goto}
		}
		a.finish(Record{Status: StatusDone, Output: map[string]any{"variant": v.Key}}, target)
		return
	}
}

// finish ends the step and goes where the target says. A target that continues goes where
// next says.
func (a *advance) finish(r Record, target definition.Target) {
	s := a.step()
	if target.Kind == definition.Continue {
		target = s.Next.Or(definition.Continue)
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
