package simulation

import (
	"context"
	"maps"
	"time"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/work/event"
)

// NotStarted is the status of a run whose trigger condition is not true.
const NotStarted = "not_started"

// Effects of an event on the simulated run.
const (
	Resumed   = "resumed"   // it ended the wait
	Cancelled = "cancelled" // it cancelled the run
	Kept      = "kept"      // a later wait found it when looking back
	Nothing   = "nothing"
)

// Outcomes that a caller may choose for a step in place of success.
const (
	OutcomeSuppressed = "suppressed"
	OutcomeError      = "error"
)

// Input describes a simulation.
type Input struct {
	Program   *machine.Program
	AccountID string
	Run       machine.Run      // the run starts when this event occurs
	Later     []*machine.Event // events of the same person, ordered by time
	Hurry     bool             // waits take no time, and awaited events count as received
	// Perform returns the result of an effect instead of performing it. An error ends the simulation.
	Perform func(ctx context.Context, step *definition.Step, e machine.Effect) (EffectResult, error)
}

// EffectResult is the simulated result of an effect.
type EffectResult struct {
	Result  machine.Result
	Preview any // the message or request: *sending.Preview, *sms.Preview or *machine.Post; nil if it would be rejected
}

// StepResult is a step that ended.
type StepResult struct {
	machine.Record

	Waited     *machine.StepWait // nil: the step did not wait
	Conditions []expression.Explanation
	Effect     EffectResult
}

// Arrival is an event that arrived after the one that started the run.
type Arrival struct {
	Event     *machine.Event
	Outcome   string
	Key       string // key of the step that waited or would wait
	Condition *expression.Explanation
	Starts    bool // it would also start a separate run, which is not simulated
}

// Result is the result of a simulation.
type Result struct {
	Status    string // completed, failed, cancelled, NotStarted
	Error     string // reason if Status is failed
	Condition *expression.Explanation
	Steps     []StepResult
	Arrivals  []Arrival
	Facts     []event.Fact
	StartedAt time.Time
	EndedAt   time.Time
}

// simulation is the state of one call of Play.
type simulation struct {
	Input

	now     time.Time
	state   machine.State
	outcome machine.Decision
	next    int // index of the first event in Later that has not arrived
	done    EffectResult
	result  Result
}

// Play plays a run to its end. Its errors come from Perform or ctx.
func Play(ctx context.Context, in Input) (Result, error) {
	s := &simulation{Input: in, now: in.Run.StartedAt}
	s.result = Result{Condition: in.Program.ExplainStart(ctx, in.Run.Trigger), StartedAt: s.now, EndedAt: s.now,
		Steps: []StepResult{}, Arrivals: []Arrival{}, Facts: []event.Fact{}}
	if is, _ := in.Program.StartsRun(ctx, in.Run.Trigger); !is { // the explanation contains the error
		s.result.Status = NotStarted
		return s.result, nil
	}
	s.result.Facts = append(s.result.Facts, s.settlement().StartedFact())
	s.advance(ctx, machine.AdvanceInput{})
	for s.result.Status == "" && ctx.Err() == nil {
		switch {
		case s.outcome.Effect != nil:
		case in.Hurry:
			state, end := machine.SkipWait(s.state, s.now)
			s.state = state
			s.advance(ctx, end)
			continue
		default:
			s.wait(ctx)
			continue
		}
		done, err := in.Perform(ctx, &in.Program.Definition.Steps[s.state.Step], s.outcome.Effect)
		if err != nil {
			return Result{}, err
		}
		s.done = done
		s.advance(ctx, machine.AdvanceInput{Result: &done.Result})
	}
	s.arriveAfterTheEnd(ctx)
	return s.result, ctx.Err()
}

// advance advances the machine and records the outcome.
func (s *simulation) advance(ctx context.Context, in machine.AdvanceInput) {
	waited, before := s.state.Waiting, s.state
	in.Now = s.now
	s.state, s.outcome = s.Program.Advance(ctx, s.Run, s.state, in)
	before.Outputs = maps.Clone(before.Outputs)
	if before.Outputs == nil {
		before.Outputs = map[string]map[string]any{}
	}
	for i, r := range s.outcome.Records {
		before.Step = r.Index
		step := StepResult{Record: r, Conditions: s.Program.ExplainStep(ctx, s.Run, before, s.now)}
		if i == 0 {
			step.Waited, step.Effect, s.done = waited, s.done, EffectResult{}
		}
		before.Outputs[r.Key] = r.Output
		s.result.Steps = append(s.result.Steps, step)
	}
	s.result.Facts = append(s.result.Facts, s.settlement().Facts()...)
	if s.outcome.Ended != "" {
		s.end(s.outcome.Ended, s.outcome.Error)
	}
}

func (s *simulation) end(status, reason string) {
	s.result.Status, s.result.Error, s.result.EndedAt = status, reason, s.now
}

func (s *simulation) settlement() *runs.Settlement {
	return &runs.Settlement{Live: &runs.LiveRun{Run: s.Run, AccountID: s.AccountID, State: s.state}, Program: s.Program,
		State: s.state, Outcome: s.outcome, Now: s.now}
}

// wait advances the clock to the end of the wait. The wait ends with an earlier event, an arriving event, or
// its timeout.
func (s *simulation) wait(ctx context.Context) {
	w := s.outcome.Waiting
	for i, e := range s.Later[:s.next] {
		if e.CreatedAt.Before(w.Since) {
			continue
		}
		if is, _ := s.Program.AwaitsEvent(ctx, s.Run, s.state, e); is { // an error counts as false, as in a live run
			s.result.Arrivals[i].Outcome, s.result.Arrivals[i].Key = Kept, s.key()
			s.advance(ctx, machine.AdvanceInput{Event: e})
			return
		}
	}
	for s.next < len(s.Later) && !s.Later[s.next].CreatedAt.After(w.Until) {
		if e := s.Later[s.next]; s.arrive(ctx, e) {
			return
		}
	}
	s.now = w.Until
	s.advance(ctx, machine.AdvanceInput{Fired: true})
}

func (s *simulation) key() string { return s.Program.Definition.Steps[s.state.Step].Key }

// arrive delivers an event to a waiting run. It reports whether the wait is over.
func (s *simulation) arrive(ctx context.Context, e *machine.Event) bool {
	s.next++
	s.now = e.CreatedAt
	a := Arrival{Event: e, Outcome: Nothing, Starts: s.startsRun(ctx, e)}
	if is, _ := s.Program.CancelsRun(ctx, s.Run, s.state, e); is {
		a.Outcome = Cancelled
		s.result.Arrivals = append(s.result.Arrivals, a)
		s.result.Facts = append(s.result.Facts, s.settlement().Cancelled())
		s.end(runs.StatusCancelled, "")
		return true
	}
	is, err := s.Program.AwaitsEvent(ctx, s.Run, s.state, e)
	if named := s.state.Waiting.AwaitsEvent(e.Name); named {
		a.Key, a.Condition = s.key(), s.Program.ExplainWait(ctx, s.Run, s.state, e)
	}
	if is && err == nil {
		a.Outcome = Resumed
	}
	s.result.Arrivals = append(s.result.Arrivals, a)
	if a.Outcome == Resumed {
		s.advance(ctx, machine.AdvanceInput{Event: e})
	}
	return a.Outcome == Resumed
}

// arriveAfterTheEnd records the events that arrive after the run has ended.
func (s *simulation) arriveAfterTheEnd(ctx context.Context) {
	for ; s.next < len(s.Later); s.next++ {
		e := s.Later[s.next]
		s.result.Arrivals = append(s.result.Arrivals, Arrival{Event: e, Outcome: Nothing, Starts: s.startsRun(ctx, e)})
	}
}

// startsRun reports whether an event would start a separate run.
func (s *simulation) startsRun(ctx context.Context, e *machine.Event) bool {
	if e.Name != s.Program.Definition.Trigger.Event {
		return false
	}
	is, err := s.Program.StartsRun(ctx, e)
	return is && err == nil
}
