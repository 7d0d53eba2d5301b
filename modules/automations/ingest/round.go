package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Outcomes of an event for one automation.
const (
	Started        = "started"
	Resumed        = "resumed"
	Cancelled      = "cancelled"
	ConditionFalse = "condition_false"
	ConditionError = "condition_error"
	RefusedReEntry = "re_entry"
	TooManyRuns    = "too_many_runs"
	LoopGuard      = "loop_guard"
	Paused         = "paused"
)

// Limits on the effects of an event.
const (
	maxDepthOfCause = 10  // length of a chain of runs, each caused by the previous one
	maxLive         = 100 // live runs per automation and person
	maxMatches      = 20  // stored with an event
)

// listener is a version that reacts to events with one name.
type listener struct {
	accountID, event, automationID string
	version                        int
	starts, waits, cancels         bool
	converts                       bool
	paused                         bool
}

const listensSQL = `
SELECT DISTINCT p.account_id, l.event, l.automation_id, l.version, l.starts, l.waits, l.cancels, l.converts, a.status = 'paused' AS paused
FROM unnest($1::text[], $2::text[], $3::text[]) AS p (account_id, home, event)
JOIN automation_listens l ON l.account_id = p.home AND l.event = p.event
JOIN automations a ON a.id = l.automation_id
ORDER BY l.automation_id, l.version`

// eventName is one account's event name.
type eventName struct{ accountID, event string }

// loadListeners returns the listening versions, by account and event name.
func (s *Service) loadListeners(ctx context.Context, tx db.Execer, list []*posting) (map[eventName][]listener, error) {
	var accounts, homes, names []string
	for _, p := range list {
		accounts, names = append(accounts, p.AccountID), append(names, p.Name)
		homes = append(homes, id.HomeAccount(p.AccountID)) // events of test mode start the same automations
	}
	rows, err := db.All(ctx, tx, func(l *listener) []any {
		return []any{&l.accountID, &l.event, &l.automationID, &l.version, &l.starts, &l.waits, &l.cancels, &l.converts, &l.paused}
	}, listensSQL, db.Array(accounts), db.Array(homes), db.Array(names))
	if err != nil {
		return nil, fmt.Errorf("read listening versions: %w", err)
	}
	out := map[eventName][]listener{}
	for _, l := range rows {
		out[eventName{l.accountID, l.event}] = append(out[eventName{l.accountID, l.event}], l)
	}
	return out, nil
}

// round collects the effects of the events in one transaction. apply stores them.
type round struct {
	*Service

	tx      db.Execer
	listens map[eventName][]listener
	now     time.Time // database time after the locks were acquired
	entries entries
	live    []*trackedRun // runs of the persons, ordered by id
	started []*runs.Settlement
}

// trackedRun is a live run with its changes in this round.
type trackedRun struct {
	*runs.LiveRun

	version   *runs.Version
	fresh     bool           // the run started in this round
	resumedBy *machine.Event // the event that ends the run's wait
	cancelled bool
}

// prepareRound prepares for the effects of events: it reads the listening versions and acquires the locks.
func (s *Service) prepareRound(ctx context.Context, tx db.Execer, list []*posting) (*round, error) {
	listens, err := s.loadListeners(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	r := &round{Service: s, tx: tx, listens: listens}
	return r, r.prepare(ctx, list)
}

// takeAll applies events one after another.
func (r *round) takeAll(ctx context.Context, list []*posting) error {
	for i, p := range list {
		p.at = r.now.Add(time.Duration(i) * time.Microsecond)
		p.event.CreatedAt = p.at
		if err := r.applyEvent(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// listenersTo reports whether a version reacts to the event now, and whether it is the goal of a version, which
// package goals evaluates later.
func (r *round) listenersTo(p *posting) (react, goal bool) {
	for _, l := range r.listens[eventName{p.AccountID, p.Name}] {
		react = react || l.starts || l.waits || l.cancels
		goal = goal || l.converts
	}
	return react, goal
}

// prepare locks the persons whose events have listeners, then reads the runs that the events may change. The
// snapshot of a statement after the locks contains every change made under them.
func (r *round) prepare(ctx context.Context, list []*posting) error {
	var persons, locked []runs.Person
	for _, p := range list {
		react, goal := r.listenersTo(p)
		if p.identity().IsZero() || !react && !goal {
			continue
		}
		p.isGoal = goal
		if locked = append(locked, p.person()); react && !slices.Contains(persons, p.person()) {
			persons = append(persons, p.person())
		}
	}
	if err := runs.LockPerson(ctx, r.tx, locked...); err != nil {
		return err
	}
	now, err := db.One(ctx, r.tx, db.Value[time.Time], `SELECT clock_timestamp()`)
	if err != nil {
		return fmt.Errorf("read the time: %w", err)
	}
	r.now = now
	if len(persons) == 0 {
		return nil
	}
	found, err := runs.Lock(ctx, r.tx, persons)
	if err != nil {
		return err
	}
	for _, l := range found {
		v, err := r.versions.ProgramOf(ctx, r.tx, l)
		if err != nil {
			return err
		}
		r.live = append(r.live, &trackedRun{LiveRun: l, version: v})
	}
	return r.readEntries(ctx, persons)
}

// applyEvent applies one event: it cancels runs, ends waits and starts runs, in this order. Other events wait for the
// round, so all conditions share the cost limit of a few.
func (r *round) applyEvent(ctx context.Context, p *posting) error {
	ctx = expression.WithSharedBudget(ctx)
	defer func() {
		if expression.IsExpensive(ctx) {
			r.dear.addAccount(p.AccountID)
		}
	}()
	for _, t := range r.live {
		if t.cancelled || t.AccountID != p.AccountID || !t.Run.Identity.Matches(p.identity()) {
			continue
		}
		r.applyToRun(ctx, t, p)
	}
	for _, l := range r.listens[eventName{p.AccountID, p.Name}] {
		if l.starts {
			if err := r.start(ctx, l, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyToRun lets an event cancel a run of its person or end the run's wait.
func (r *round) applyToRun(ctx context.Context, t *trackedRun, p *posting) {
	l := listener{automationID: t.Run.AutomationID, version: t.Run.Version}
	is, err := t.version.CancelsRun(ctx, t.Run, t.State, p.event)
	switch {
	case is:
		t.cancelled = true
		p.answer.Cancelled++
		p.addMatch(l, Cancelled, t.Run.ID, nil)
		return
	case err != nil:
		p.addMatch(l, ConditionError, t.Run.ID, err)
	}
	if t.Work != runs.Waiting || t.resumedBy != nil {
		return
	}
	is, err = t.version.AwaitsEvent(ctx, t.Run, t.State, p.event)
	switch {
	case is:
		t.resumedBy = p.event
		p.answer.Resumed++
		p.addMatch(l, Resumed, t.Run.ID, nil)
	case err != nil:
		p.addMatch(l, ConditionError, t.Run.ID, err)
	}
}

// addMatch records an automation's reaction to an event.
func (p *posting) addMatch(l listener, outcome, runID string, err error) {
	if len(p.matches) == maxMatches {
		return
	}
	m := shape.EventMatch{AutomationID: l.automationID, Version: l.version, Outcome: outcome, RunID: runID}
	if err != nil {
		m.Error = err.Error()
	}
	p.matches = append(p.matches, m)
}

// start starts a run unless a rule prevents it.
func (r *round) start(ctx context.Context, l listener, p *posting) error {
	if l.paused {
		p.addMatch(l, Paused, "", nil)
		return nil
	}
	v, err := r.versions.Get(ctx, r.tx, l.automationID, l.version)
	if err != nil {
		return err
	}
	is, err := v.StartsRun(ctx, p.event)
	switch {
	case err != nil:
		p.addMatch(l, ConditionError, "", err)
		return nil
	case !is:
		p.addMatch(l, ConditionFalse, "", nil)
		return nil
	}
	if p.Depth > maxDepthOfCause {
		p.addMatch(l, LoopGuard, "", nil)
		return nil
	}
	if refusal := r.refusesEntry(v, l, p); refusal != "" {
		p.addMatch(l, refusal, "", nil)
		return nil
	}
	r.begin(ctx, v, l, p)
	return nil
}

// refusesEntry returns why a person may not have another run, or "" if it may.
func (r *round) refusesEntry(v *runs.Version, l listener, p *posting) string {
	live := 0
	for _, t := range r.live {
		if !t.cancelled && t.Run.AutomationID == l.automationID && t.Run.Identity.Matches(p.identity()) {
			live++
		}
	}
	last, had := r.entries.lastEntry(l.automationID, p)
	re := v.Definition.Trigger.ReEntry
	switch {
	case live >= maxLive:
		return TooManyRuns
	case re.Mode == definition.Once && had,
		re.Mode == definition.AfterCompletion && live > 0,
		re.Mode == definition.AtMostEvery && had && p.at.Before(last.Add(re.Every.Duration)):
		return RefusedReEntry
	}
	return ""
}

// begin starts a run and takes its first steps as long as they need nothing external.
func (r *round) begin(ctx context.Context, v *runs.Version, l listener, p *posting) {
	run := machine.Run{ID: id.New(id.Run), AutomationID: l.automationID, Version: l.version, Trigger: p.event,
		Identity: p.identity(), StartedAt: p.at}
	state, outcome := v.Advance(ctx, run, machine.State{}, machine.AdvanceInput{Now: p.at})
	t := &trackedRun{LiveRun: &runs.LiveRun{Run: run, AccountID: p.AccountID, State: state, Work: runs.Ready,
		Depth: p.Depth},
		version: v, fresh: true}
	if outcome.Waiting != nil {
		t.Work = runs.Waiting
	}
	r.started = append(r.started, &runs.Settlement{Live: t.LiveRun, Program: v.Program, State: state, Outcome: outcome,
		Now: p.at})
	if outcome.Ended == "" && !run.Identity.IsZero() {
		r.live = append(r.live, t)
	}
	r.entries.addEntry(l.automationID, p)
	p.answer.Matched++
	p.addMatch(l, Started, run.ID, nil)
}

// apply stores the decisions of the round.
func (r *round) apply(ctx context.Context) error {
	if err := runs.Begin(ctx, r.tx, r.bus, r.started); err != nil {
		return err
	}
	var cancelled []runs.Cancelled
	for _, t := range r.live {
		switch {
		case t.cancelled:
			cancelled = append(cancelled, runs.Cancelled{Live: t.LiveRun, Program: t.version.Program})
		case t.resumedBy != nil:
			if err := runs.Resume(ctx, r.tx, t.LiveRun, t.resumedBy); err != nil {
				return err
			}
		}
	}
	if _, err := runs.Cancel(ctx, r.tx, r.bus, cancelled, r.now); err != nil {
		return err
	}
	return r.storeEntries(ctx)
}
