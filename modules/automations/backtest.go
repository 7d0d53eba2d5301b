package automations

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/customevent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// Limits of a backtest.
const (
	MaxBacktest    = 1000 // events
	maxDifferences = 100  // in the result
	backtestPage   = 50   // events in memory at a time
)

// BacktestInput selects the events against which the draft is tested.
type BacktestInput struct {
	Since time.Time
	Limit int // 0: MaxBacktest
}

// TriggerDecision is a trigger's decision about an event.
type TriggerDecision struct {
	Starts bool
	Error  string // why the condition could not be evaluated
}

// BacktestDifference is an event that the draft treats differently.
type BacktestDifference struct {
	Event         *ent.CustomEvent
	Draft, Active TriggerDecision
}

// Backtest compares what the draft's trigger and that of the active version decide about stored events.
type Backtest struct {
	Version      *int // version compared with; nil if none is active
	Events       int  // number of events tested, newest first
	More         bool // older events exist since the given time
	DraftStarts  int
	ActiveStarts int
	Differ       int
	Differences  []BacktestDifference // the newest 100
}

// Backtest applies the triggers of the draft and of the active version to stored events. It checks the event
// name and the condition, but not re-entry. It returns NotFound or Invalid.
func (s *Service) Backtest(ctx context.Context, caller accounts.Caller, automationID string,
	in BacktestInput) (Backtest, error) {
	a, err := s.Get(ctx, caller.AccountID, automationID)
	if err != nil {
		return Backtest{}, err
	}
	wrong := fault.Fields{}
	if in.Since.IsZero() {
		wrong.Add("since", "is required")
	}
	if in.Limit == 0 {
		in.Limit = MaxBacktest
	}
	if in.Limit < 1 || in.Limit > MaxBacktest {
		wrong.Add("limit", "must be between 1 and %d", MaxBacktest)
	}
	if err := wrong.Err(); err != nil {
		return Backtest{}, err
	}
	draft, err := machine.Parse(a.Draft)
	if err != nil {
		return Backtest{}, err
	}
	out := Backtest{Version: a.Version, Differences: []BacktestDifference{}}
	names := []string{draft.Definition.Trigger.Event}
	var active *machine.Program
	if a.Version != nil {
		v, err := s.versions.Get(ctx, s.db.SQL, a.ID, *a.Version)
		if err != nil {
			return Backtest{}, err
		}
		active = v.Program
		names = append(names, v.Definition.Trigger.Event)
	}
	err = s.eachEvent(ctx, caller.AccountID, names, in, &out, func(stored *ent.CustomEvent, e *machine.Event) {
		out.compareVerdicts(stored, verdictOf(ctx, draft, e), verdictOf(ctx, active, e))
	})
	return out, err
}

func (b *Backtest) compareVerdicts(stored *ent.CustomEvent, draft, active TriggerDecision) {
	b.Events++
	if draft.Starts {
		b.DraftStarts++
	}
	if active.Starts {
		b.ActiveStarts++
	}
	if draft.Starts == active.Starts {
		return
	}
	if b.Differ++; len(b.Differences) < maxDifferences {
		b.Differences = append(b.Differences, BacktestDifference{stored, draft, active})
	}
}

// verdictOf applies a trigger to one event. Without a program, the trigger starts nothing.
func verdictOf(ctx context.Context, p *machine.Program, e *machine.Event) TriggerDecision {
	if p == nil || p.Definition.Trigger.Event != e.Name {
		return TriggerDecision{}
	}
	is, err := p.StartsRun(ctx, e)
	if err != nil {
		return TriggerDecision{Error: err.Error()}
	}
	return TriggerDecision{Starts: is}
}

// eachEvent reads stored events with the given names, newest first, one page at a time.
func (s *Service) eachEvent(ctx context.Context, accountID string, names []string, in BacktestInput, out *Backtest,
	judge func(*ent.CustomEvent, *machine.Event)) error {
	before := ""
	for left := in.Limit; ; {
		q := s.db.Ent.CustomEvent.Query().Where(customevent.AccountID(accountID), customevent.NameIn(names...),
			customevent.Trial(false), customevent.CreatedAtGTE(in.Since),
			customevent.IDGTE(id.Since(id.CustomEvent, in.Since)))
		if before != "" {
			q = q.Where(customevent.IDLT(before))
		}
		rows, err := q.Order(ent.Desc(customevent.FieldID)).Limit(min(left, backtestPage) + 1).All(ctx)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		more := len(rows) > min(left, backtestPage)
		for _, row := range rows[:min(len(rows), left, backtestPage)] {
			e, _, err := storedEvent(row)
			if err != nil {
				return err
			}
			judge(row, e)
			before = row.ID
			left--
		}
		if out.More = more; !more || left == 0 {
			return nil
		}
	}
}
