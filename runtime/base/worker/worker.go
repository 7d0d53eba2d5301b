package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// settleGrace is how long a Stop that ran out of time still waits for the runs
// that it cancelled, so that their results are stored. It is inside the time
// that Stop was given, of which it takes half at most.
const settleGrace = 3 * time.Second

// Worker claims, runs and settles the jobs of one queue.
type Worker[J, R any] struct {
	queue   Queue[J, R]
	cfg     Config
	log     *slog.Logger
	metrics series

	nudged   chan struct{}
	waiting  chan *item[J]      // claimed, not started
	outcomes chan outcome[J, R] // ran or handed back, not stored
	room     room               // how many more may be claimed
	storing  gate               // closed while results cannot be stored
	claiming gate               // closed while nothing can be claimed
	writing  sync.Mutex         // held by Settle, Extend and Release
	held     registry[J]        // started and not settled: whose leases are prolonged
	stopping chan struct{}      // no new claims, no new runs
	settled  chan struct{}      // nothing is left to store
	done     chan struct{}      // every goroutine has ended
	runs     context.Context    // parent of every Run; over when Stop's time is
	cutRuns  context.CancelCauseFunc
	writes   context.Context // of Claim, Settle, Extend and Release; over last
	cutWrite context.CancelFunc

	start, stop sync.Once
}

// item is a claimed job on its way through this process.
type item[J any] struct {
	job   J
	lease *Lease
	sent  time.Time // when the claim was sent
}

type outcome[J, R any] struct {
	item     *item[J]
	value    R
	released bool
}

// New makes a worker; it panics when the queue lacks a step or the config makes
// no sense, which are defects (settings from outside: see Config.Validate).
// metrics may be nil.
func New[J, R any](q Queue[J, R], cfg Config, log *slog.Logger, metrics *Metrics) *Worker[J, R] {
	if q.Name == "" || q.Claim == nil || q.Run == nil || q.Settle == nil {
		panic(fmt.Sprintf("worker: queue %q needs a name, Claim, Run and Settle", q.Name))
	}
	if err := cfg.Validate(); err != nil {
		panic(fmt.Sprintf("worker: queue %q: %v", q.Name, err))
	}
	cfg = cfg.withDefaults()
	w := &Worker[J, R]{
		queue: q, cfg: cfg, log: log.With("queue", q.Name), metrics: metrics.of(q.Name),
		nudged:   make(chan struct{}, 1),
		waiting:  make(chan *item[J], cfg.Concurrency+cfg.Batch),
		outcomes: make(chan outcome[J, R], cfg.Batch),
		room:     newRoom(cfg.Concurrency + cfg.prefetch()),
		held:     registry[J]{items: map[*item[J]]struct{}{}},
		stopping: make(chan struct{}), settled: make(chan struct{}), done: make(chan struct{}),
	}
	w.runs, w.cutRuns = context.WithCancelCause(context.Background())
	w.writes, w.cutWrite = context.WithCancel(context.Background())
	cfg.Process.Watch(w.heldBefore)
	return w
}

// Start begins to claim. Work goes on until Stop: ctx bounds nothing, because a
// start context ends when the start does.
func (w *Worker[J, R]) Start(context.Context) error {
	started := false
	w.start.Do(func() { started = true })
	if !started {
		return errors.New("worker: " + w.queue.Name + " was already started or stopped")
	}
	var producers, store sync.WaitGroup
	producers.Go(w.claimLoop)
	for range w.cfg.Concurrency {
		producers.Go(w.runLoop)
	}
	store.Go(w.settleLoop)
	if w.queue.Extend != nil {
		store.Go(w.extendLoop)
	}
	go func() {
		defer close(w.done)
		producers.Wait()
		w.releaseWaiting()
		close(w.outcomes)
		store.Wait()
		w.cutRuns(ErrStopping)
		w.cutWrite()
	}()
	return nil
}

// Nudge says that there is work: an idle worker claims at once. It never blocks.
func (w *Worker[J, R]) Nudge() {
	select {
	case w.nudged <- struct{}{}:
	default:
	}
}

// Stop ends the worker: nothing more is claimed or started, claimed jobs that
// have not begun are handed back, running ones may finish until shortly before ctx
// ends. Then their contexts are cancelled, and what they return in time is stored.
// It returns an error when jobs were left to the end of their leases.
func (w *Worker[J, R]) Stop(ctx context.Context) error {
	w.stop.Do(func() { close(w.stopping) })
	w.start.Do(func() { // never started: nothing to wait for
		w.cutRuns(ErrStopping)
		w.cutWrite()
		close(w.done)
	})
	finish, cancel := untilGrace(ctx)
	defer cancel()
	select {
	case <-w.done:
		return nil
	case <-finish.Done():
	}
	w.log.Warn("worker: no time left to drain, cutting what runs", "jobs", w.held.size())
	w.cutRuns(ErrStopping)
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	w.cutWrite()
	err := fmt.Errorf("stop worker %s: %d jobs left to the end of their leases: %w", w.queue.Name, w.held.size(), ctx.Err())
	w.log.Error("worker: stopped", "error", err) // the caller may have given up already
	return err
}

// untilGrace ends early enough before ctx to cut and to store.
func untilGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, has := ctx.Deadline()
	if !has {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(settleGrace, time.Until(deadline)/2)))
}

// pause waits, or reports false when the given channel is closed first.
func pause(wait time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}
