package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
)

// maxClaims is how often a run may be claimed without a settlement before it fails.
const maxClaims = 20

// Delays before a step is retried.
const (
	waitAway      = 2 * time.Second // the database is unavailable
	waitDefect    = 10 * time.Second
	waitSuspended = 5 * time.Minute
	maxCapWait    = 24 * time.Hour // a cap has to be reset
)

// result is the result of a claimed run: a settlement, a release, or nothing if the guard has already settled
// it.
type result struct {
	settlement *runs.Settlement
	back       *runs.ReleasedClaim
}

func retryLater(c *runs.ClaimedRun, wait time.Duration, counted bool) result {
	return result{back: &runs.ReleasedClaim{Live: c.LiveRun, Wait: wait, Counted: counted}}
}

// step takes a run up to the next effect and performs it.
func (s *Service) step(ctx context.Context, c *runs.ClaimedRun, _ *worker.Lease) (out result) {
	defer func() {
		if r := recover(); r != nil {
			out = retryLater(c, waitDefect, true)
		}
	}()
	v, err := s.versions.ProgramOf(ctx, s.db.SQL, c.LiveRun)
	if err != nil {
		return retryLater(c, waitAway, false)
	}
	in := machine.AdvanceInput{Now: c.Now()}
	switch {
	case c.Claims > maxClaims:
		return result{settlement: failRun(c, v, in.Now)}
	case c.Input != nil:
		in.Event = c.Input
	case c.Work == runs.TimedOut:
		in.Fired = true
	}
	state, outcome := advanceFunc(c.LiveRun, v)(ctx, c.Run, c.State, in)
	taken := &claimedRun{ClaimedRun: c, version: v, state: state, outcome: outcome, now: in.Now}
	if outcome.Effect == nil {
		return result{settlement: taken.settlement()}
	}
	return s.effects[taken.definition().Type].perform(ctx, taken)
}

// advanceFunc returns the function that advances a run. Trials do not wait.
func advanceFunc(l *runs.LiveRun,
	v *runs.Version) func(context.Context, machine.Run, machine.State,
	machine.AdvanceInput) (machine.State, machine.Decision) {
	if l.Trial != nil {
		return v.AdvanceTrial
	}
	return v.Advance
}

// failRun fails a run that was claimed too often.
func failRun(c *runs.ClaimedRun, v *runs.Version, now time.Time) *runs.Settlement {
	const reason = "internal: the step was tried 20 times and could not be finished"
	step := v.Definition.Steps[c.State.Step]
	return &runs.Settlement{Live: c.LiveRun, Program: v.Program, State: c.State, Now: now,
		Outcome: machine.Decision{Ended: runs.StatusFailed, Error: reason,
			Records: []machine.Record{{Index: c.State.Step, Key: step.Key, Type: step.Type,
				Status: machine.StatusFailed,
				Error:  reason, Failed: true, Started: c.State.Ready, Ended: now,
				Output: map[string]any{"status": machine.StatusFailed}}}}}
}

// claimedRun is a claimed run and its progress.
type claimedRun struct {
	*runs.ClaimedRun

	version *runs.Version
	state   machine.State
	outcome machine.Decision
	now     time.Time
}

func (t *claimedRun) settlement() *runs.Settlement {
	return &runs.Settlement{Live: t.LiveRun, Program: t.version.Program, State: t.state, Outcome: t.outcome, Now: t.now}
}

// settleAfter returns the settlement of a finished effect, including the steps before it.
func (t *claimedRun) settleAfter(ctx context.Context, r machine.Result) *runs.Settlement {
	now := t.Now()
	state, outcome := advanceFunc(t.LiveRun, t.version)(ctx, t.Run, t.state, machine.AdvanceInput{Now: now, Result: &r})
	outcome.Records = append(append([]machine.Record{}, t.outcome.Records...), outcome.Records...)
	return &runs.Settlement{Live: t.LiveRun, Program: t.version.Program, State: state, Outcome: outcome, Now: now}
}

// recordBlocked records why the step could not be finished, and the progress of the run before it. The step is
// retried after a wait.
func (t *claimedRun) recordBlocked(b runs.Blocker, wait time.Duration) result {
	now := t.Now()
	b.Since, b.Until = now, now.Add(wait)
	if before := t.LiveRun.Blocked; before != nil && t.state.Step == t.LiveRun.State.Step {
		b.Since = before.Since
	}
	s := t.settlement()
	s.Now, s.Blocked = now, &b
	return result{settlement: s}
}

// recordDefect reports an internal error, which may be gone at the next try.
func (t *claimedRun) recordDefect() result {
	return t.recordBlocked(runs.Blocker{Code: "internal",
		Message: "The step could not be finished because of an internal error", Counted: true}, waitDefect)
}

// recordRefusal records a rejection that depends on the current state of the account. The step is retried.
func (t *claimedRun) recordRefusal(f *fault.Error, wait time.Duration) result {
	return t.recordBlocked(runs.Blocker{Code: f.Code, Message: f.Error(),
		ByAccount: f.Code == fault.CodeAccountSuspended ||
			f.Code == fault.CodePlanLimit}, wait)
}

func (t *claimedRun) recordFailure(ctx context.Context, code, sentence string) result {
	return result{settlement: t.settleAfter(ctx, machine.Result{Status: machine.StatusFailed, Error: code + ": " +
		sentence})}
}

func (t *claimedRun) definition() *definition.Step { return &t.version.Definition.Steps[t.state.Step] }

// settle stores the results of claims.
func (s *Service) settle(ctx context.Context, results []worker.Result[*runs.ClaimedRun, result]) error {
	var list []*runs.Settlement
	var back []runs.ReleasedClaim
	for _, r := range results {
		switch {
		case r.Value.settlement != nil:
			list = append(list, r.Value.settlement)
		case r.Value.back != nil:
			back = append(back, *r.Value.back)
		}
	}
	if err := runs.Release(ctx, s.db.Hot, back); err != nil {
		return err
	}
	if len(list) > 0 {
		err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
			_, err := runs.Settle(ctx, tx, s.bus, list)
			return err
		})
		if err != nil {
			return fmt.Errorf("settle steps: %w", err)
		}
		s.bus.Wake()
	}
	s.worker.Nudge() // most runs have another step immediately
	return nil
}

// faultOf returns the fault in an error chain, or nil if there is none.
func faultOf(err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return nil
}
