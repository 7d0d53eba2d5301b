package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Trial is an event that tests one automation. Other automations do not see it.
type Trial struct {
	Post

	// Run returns the run that the event starts, or nil if it starts none, and the automation's reaction.
	Run func(e *machine.Event, who machine.Identity) (*runs.Settlement, shape.EventMatch)
}

// StartTrial stores the event of a trial and starts its run. It returns the same errors as Post.
func (s *Service) StartTrial(ctx context.Context, t Trial) (Result, error) {
	p, err := judgeAs(t.Post, definition.CheckListened)
	if err != nil {
		return Result{}, err
	}
	p.trial = true
	var taken error
	err = s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		errs := make([]error, 1)
		fresh, err := s.takeKeys(ctx, tx, []*posting{p}, errs, keyPatience)
		if taken = errs[0]; err != nil || len(fresh) == 0 {
			return err
		}
		return s.storeTrial(ctx, tx, t, p)
	})
	switch {
	case errors.Is(taken, errTaken):
		replay, err := s.answers.Replay(ctx, t.Claim)
		return Result{Replay: replay}, err
	case errors.Is(err, idempotency.ErrBusy):
		return Result{}, idempotency.InProgress().WithCause(err)
	case err != nil:
		return Result{}, fmt.Errorf("store the event of a trial: %w", err)
	}
	if p.answer.Matched > 0 {
		s.signals.Wake(WorkChannel)
	}
	return p.answer, nil
}

func (s *Service) storeTrial(ctx context.Context, tx *db.PreparedTx, t Trial, p *posting) (err error) {
	p.matches, p.answer, p.event.ID = nil, Result{}, id.New(id.CustomEvent)
	if p.at, err = db.One(ctx, tx, db.Value[time.Time], `SELECT clock_timestamp()`); err != nil {
		return err
	}
	p.event.CreatedAt = p.at
	run, match := t.Run(p.event, p.identity())
	if p.matches = []shape.EventMatch{match}; match.Outcome == Started {
		p.answer.Matched = 1
	}
	if err := insertEvents(ctx, tx, []*posting{p}); err != nil {
		return err
	}
	if run != nil {
		if err := runs.Begin(ctx, tx, s.bus, []*runs.Settlement{run}); err != nil {
			return err
		}
	}
	p.answer.Event = p.toEvent()
	return idempotency.Complete(ctx, tx,
		listResponses([]*posting{p}, func(p *posting) idempotency.Response { return p.Render(p.answer) }))
}
