package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Bus publishes facts inside a transaction and wakes their consumers after it.
type Bus interface {
	runs.Bus
	Wake()
}

// Answers returns the response stored under a used idempotency key.
type Answers interface {
	Replay(ctx context.Context, claim *idempotency.Claim) (*idempotency.Response, error)
}

// Signals wakes the processes that take steps, after a commit.
type Signals interface {
	Wake(channel string)
}

// WorkChannel is woken when runs have something to do.
const WorkChannel = "automations"

// GoalChannel is woken when events may convert runs.
const GoalChannel = "automation_goals"

// Params contains the dependencies of the service.
type Params struct {
	DB       *db.DB
	Bus      Bus
	Answers  Answers
	Signals  Signals
	Versions *runs.Store
	Box      *secret.Box
	Prover   *proof.Prover
}

// Service accepts events. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	bus      Bus
	answers  Answers
	signals  Signals
	versions *runs.Store
	prover   *proof.Prover
	hashes   [][]byte // keys for hashing persons; the first is for new rows
	ways     queues
	dear     slowAccounts
}

// queues are the queues through which events are stored.
type queues struct {
	joint *db.Joiner[*posting] // many events per transaction
	apart *db.Joiner[*posting] // one event per transaction: events whose key another request holds
	slow  *db.Joiner[*posting] // one event per transaction: events of accounts with slow conditions
}

// New creates the service.
func New(p Params) *Service {
	s := &Service{db: p.DB, bus: p.Bus, answers: p.Answers, signals: p.Signals, versions: p.Versions, prover: p.Prover,
		hashes: p.Box.DeriveEach("automation entries")}
	most := p.DB.FlushTime()
	busy := func(err error) bool { return errors.Is(err, idempotency.ErrBusy) }
	s.ways.joint = db.NewJoiner(db.JoinerConfig[*posting]{Timeout: most,
		Size: func(p *posting) int { return len(p.data) }, Final: busy}, s.flush)
	s.ways.slow = db.NewJoiner(db.JoinerConfig[*posting]{Writers: 1, MaxItems: 1, MaxWaiting: slowWaits, Timeout: most,
		Final: busy}, s.flush)
	s.ways.apart = db.NewJoiner(db.JoinerConfig[*posting]{Writers: keyWaits, MaxItems: 1, Timeout: most, Final: busy},
		func(ctx context.Context, list []*posting) []error {
			return s.flushWith(ctx, list, 0)
		})
	return s
}

// Stop stops accepting events and returns when the waiting ones are stored.
func (s *Service) Stop() {
	s.ways.joint.Close()
	s.ways.slow.Close()
	s.ways.apart.Close()
}

// Post stores an event and applies it. It returns Invalid with all invalid fields, Conflict for a concurrent
// request with the same key and another body, or Unavailable if nothing was stored.
func (s *Service) Post(ctx context.Context, in Post) (Result, error) {
	if in.Cause != "" {
		depth, err := s.prover.Depth(in.AccountID, in.Cause)
		if err != nil {
			return Result{}, err
		}
		in.Depth = depth
	}
	p, err := validatePost(in)
	if err != nil {
		return Result{}, err
	}
	way := s.ways.joint
	if s.dear.takeSlow(p.AccountID) {
		way = s.ways.slow
	}
	if err = way.Do(ctx, p); errors.Is(err, idempotency.ErrBusy) {
		err = s.ways.apart.Do(ctx, p)
	}
	switch {
	case errors.Is(err, errTaken):
		replay, err := s.answers.Replay(ctx, in.Claim)
		return Result{Replay: replay}, err
	case errors.Is(err, idempotency.ErrBusy):
		return Result{}, idempotency.InProgress().WithCause(err)
	case err != nil:
		return Result{}, fmt.Errorf("store event: %w", err)
	}
	s.bus.Wake()
	if p.answer.Matched+p.answer.Resumed > 0 {
		s.signals.Wake(WorkChannel)
	}
	if p.isGoal {
		s.signals.Wake(GoalChannel)
	}
	return p.answer, nil
}

// errTaken marks a posting whose idempotency key is used by another request.
var errTaken = errors.New("idempotency key was used by another request")

const (
	// keyPatience is how long a batch waits for a key held by another request.
	keyPatience = 50 * time.Millisecond
	// keyWaits is the maximum number of keys that this process waits for, each on its own database connection.
	keyWaits = 4
	// slowWaits is the maximum number of waiting events of accounts with slow conditions.
	slowWaits = 64
)

// flush stores events in one transaction. If another request holds the key of one of them, only the events
// without a key are stored, and the others fail with ErrBusy.
func (s *Service) flush(ctx context.Context, list []*posting) []error {
	errs := s.flushWith(ctx, list, keyPatience)
	if !errors.Is(errs[0], idempotency.ErrBusy) {
		return errs
	}
	var free []*posting
	var places []int
	for i, p := range list {
		if p.Claim == nil {
			free, places = append(free, p), append(places, i)
		}
	}
	if len(free) > 0 {
		for i, err := range s.flushWith(ctx, free, keyPatience) {
			errs[places[i]] = err
		}
	}
	return errs
}

// flushWith stores events in one transaction. It waits for at most the given time for a key held by another request; 0
// means as long as the database allows.
func (s *Service) flushWith(ctx context.Context, list []*posting, patience time.Duration) []error {
	errs := make([]error, len(list))
	err := s.db.InPreparedTx(ctx, func(tx *db.PreparedTx) error {
		clear(errs)
		fresh, err := s.takeKeys(ctx, tx, list, errs, patience)
		if err != nil || len(fresh) == 0 {
			return err
		}
		if err := s.store(ctx, tx, fresh); err != nil {
			return err
		}
		return idempotency.Complete(ctx, tx,
			listResponses(fresh, func(p *posting) idempotency.Response { return p.Render(p.answer) }))
	})
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// takeKeys claims idempotency keys before anything is locked and returns the postings that got theirs. Their
// responses are stored once the counters are known.
func (s *Service) takeKeys(ctx context.Context, tx db.Execer, list []*posting, errs []error,
	patience time.Duration) ([]*posting, error) {
	empty := idempotency.Response{Status: 202, Body: []byte("{}")}
	store := idempotency.StoreMany
	if patience > 0 {
		store = func(ctx context.Context, tx db.Execer, answers []idempotency.ClaimedResponse) ([]bool, error) {
			return idempotency.TryStoreMany(ctx, tx, answers, patience)
		}
	}
	taken, err := store(ctx, tx, listResponses(list, func(*posting) idempotency.Response { return empty }))
	if err != nil {
		return nil, fmt.Errorf("take idempotency keys: %w", err)
	}
	fresh := make([]*posting, 0, len(list))
	for i, p := range list {
		if taken[i] {
			errs[i] = errTaken
			continue
		}
		fresh = append(fresh, p)
	}
	return fresh, nil
}

func listResponses(list []*posting, answer func(*posting) idempotency.Response) []idempotency.ClaimedResponse {
	out := make([]idempotency.ClaimedResponse, len(list))
	for i, p := range list {
		if p.Claim != nil {
			out[i] = idempotency.ClaimedResponse{Claim: p.Claim, Answer: answer(p)}
		}
	}
	return out
}

// store stores events and applies them.
func (s *Service) store(ctx context.Context, tx db.Execer, list []*posting) error {
	for _, p := range list {
		p.matches, p.answer = nil, Result{}
		p.event.ID = id.New(id.CustomEvent)
	}
	r, err := s.prepareRound(ctx, tx, list)
	if err != nil {
		return err
	}
	if err := r.takeAll(ctx, list); err != nil {
		return err
	}
	if err := insertEvents(ctx, tx, list); err != nil {
		return err
	}
	if err := r.apply(ctx); err != nil {
		return err
	}
	for _, p := range list {
		p.answer.Event = p.toEvent()
	}
	return nil
}
