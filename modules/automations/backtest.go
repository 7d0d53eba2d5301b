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

// The bounds of a backtest.
const (
	MaxBacktest    = 1000 // events
	maxDifferences = 100  // that are shown
	backtestPage   = 50   // events that are in memory at once
)

// BacktestInput says over which events the draft is judged.
type BacktestInput struct {
	Since time.Time
	Limit int // 0: MaxBacktest
}

// Verdict is what a trigger says of an event.
type Verdict struct {
	Starts bool
	Error  string // of a condition without a value
}

// BacktestDifference is an event that the draft judges differently.
type BacktestDifference struct {
	Event         *ent.CustomEvent
	Draft, Active Verdict
}

// Backtest is what the draft's trigger says of stored events, beside the active version.
type Backtest struct {
	Version      *int // that it is compared with; nil: there is none
	Events       int  // that were judged, the newest ones
	More         bool // there are more since then
	DraftStarts  int
	ActiveStarts int
	Differ       int
	Differences  []BacktestDifference // the newest hundred
}

// Backtest judges stored events by the trigger of the draft and by the one of the active
// version: the name and the condition, but not re-entry. Errors: NotFound, Invalid.
func (s *Service) Backtest(ctx context.Context, caller accounts.Caller, automationID string, in BacktestInput) (Backtest, error) {
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
		wrong.Add("limit", "must be 1 to %d", MaxBacktest)
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
		out.judge(stored, verdictOf(ctx, draft, e), verdictOf(ctx, active, e))
	})
	return out, err
}

func (b *Backtest) judge(stored *ent.CustomEvent, draft, active Verdict) {
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

// verdictOf judges one event. No program starts nothing.
func verdictOf(ctx context.Context, p *machine.Program, e *machine.Event) Verdict {
	if p == nil || p.Definition.Trigger.Event != e.Name {
		return Verdict{}
	}
	is, err := p.Starts(ctx, e)
	if err != nil {
		return Verdict{Error: err.Error()}
	}
	return Verdict{Starts: is}
}

// eachEvent reads stored events of some names, newest first and a few at a time.
func (s *Service) eachEvent(ctx context.Context, accountID string, names []string, in BacktestInput, out *Backtest, judge func(*ent.CustomEvent, *machine.Event)) error {
	before := ""
	for left := in.Limit; ; {
		q := s.db.Ent.CustomEvent.Query().Where(customevent.AccountID(accountID), customevent.NameIn(names...), customevent.Trial(false), customevent.CreatedAtGTE(in.Since),
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
