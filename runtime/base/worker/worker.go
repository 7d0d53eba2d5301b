package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// settleGrace is how long a Stop that ran out of time waits for the runs that it cancelled, so that their
// results are stored. It is part of the time given to Stop, at most half of it.
const settleGrace = 3 * time.Second

// Worker claims, runs and settles the jobs of one queue.
type Worker[J, R any] struct {
	queue   Queue[J, R]
	cfg     Config
	log     *slog.Logger
	metrics series

	nudged   chan struct{}
	hurried  chan struct{}      // ends the pause between claims
	waiting  chan *item[J]      // claimed, not started
	outcomes chan outcome[J, R] // run or handed back, not stored
	room     room               // number of jobs that may be claimed
	storing  gate               // closed while results cannot be stored
	claiming gate               // closed while jobs cannot be claimed
	writing  sync.Mutex         // held by Settle, Extend and Release
	held     registry[J]        // started and not settled: their leases are extended
	stopping chan struct{}      // no new claims, no new runs
	settled  chan struct{}      // no results are left to store
	done     chan struct{}      // all goroutines have ended
	runs     context.Context    // parent of every Run; ends with the time of Stop
	cutRuns  context.CancelCauseFunc
	writes   context.Context // parent of Claim, Settle, Extend and Release; ends last
	cutWrite context.CancelFunc

	start, stop sync.Once

	reserving sync.Mutex     // held while Start or Stop changes what Reserve may do
	running   bool           // started
	producers sync.WaitGroup // of jobs and their outcomes: the claim loop, the runners and reservations
}

// item is a claimed job in this process.
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

// New returns a new worker. It panics if the queue lacks a step or the config is invalid, which are defects
// (for values from settings see Config.Validate). metrics may be nil.
func New[J, R any](q Queue[J, R], cfg Config, log *slog.Logger, metrics *Metrics) *Worker[J, R] {
	if q.Name == "" || q.Claim == nil || q.Run == nil || q.Settle == nil {
		panic(fmt.Sprintf("worker: queue %q requires a name, Claim, Run and Settle", q.Name))
	}
	if err := cfg.Validate(); err != nil {
		panic(fmt.Sprintf("worker: queue %q: %v", q.Name, err))
	}
	cfg = cfg.withDefaults()
	w := &Worker[J, R]{
		queue: q, cfg: cfg, log: log.With("queue", q.Name), metrics: metrics.seriesOf(q.Name),
		nudged:   make(chan struct{}, 1),
		hurried:  make(chan struct{}, 1),
		waiting:  make(chan *item[J], cfg.Concurrency+cfg.Batch),
		outcomes: make(chan outcome[J, R], cfg.Batch),
		room:     newRoom(cfg.Concurrency + cfg.prefetchLimit()),
		held:     registry[J]{items: map[*item[J]]struct{}{}},
		stopping: make(chan struct{}), settled: make(chan struct{}), done: make(chan struct{}),
	}
	w.runs, w.cutRuns = context.WithCancelCause(context.Background())
	w.writes, w.cutWrite = context.WithCancel(context.Background())
	cfg.Process.Watch(w.heldBefore)
	return w
}

// Start begins to claim jobs. The work continues until Stop: ctx is ignored, because a start context ends
// with the start.
func (w *Worker[J, R]) Start(context.Context) error {
	started := false
	w.start.Do(func() { started = true })
	if !started {
		return errors.New("worker: " + w.queue.Name + " was already started or stopped")
	}
	w.producers.Go(w.claimLoop)
	for range w.cfg.Concurrency {
		w.producers.Go(w.runLoop)
	}
	w.reserving.Lock()
	w.running = true
	w.reserving.Unlock()
	var store sync.WaitGroup
	store.Go(w.settleLoop)
	if w.queue.Extend != nil {
		store.Go(w.extendLoop)
	}
	go func() {
		defer close(w.done)
		w.producers.Wait()
		w.releaseWaiting()
		close(w.outcomes)
		store.Wait()
		w.cutRuns(ErrStopping)
		w.cutWrite()
	}()
	return nil
}

// Nudge signals that there is work: an idle worker claims immediately. It never blocks.
func (w *Worker[J, R]) Nudge() {
	select {
	case w.nudged <- struct{}{}:
	default:
	}
}

// NudgeNow is like Nudge, and also ends the pause after a claim that was not full. It is for queues whose Claim has
// limits of its own: call it when these admit many jobs again.
func (w *Worker[J, R]) NudgeNow() {
	w.Nudge()
	select {
	case w.hurried <- struct{}{}:
	default:
	}
}

// Stop ends the worker: it claims and starts no more jobs, releases the claimed jobs that have not
// started, and lets running jobs finish until shortly before ctx ends. Then it cancels their contexts and
// stores the results that they return in time. It returns an error if jobs are left until the end of their
// leases.
func (w *Worker[J, R]) Stop(ctx context.Context) error {
	w.stop.Do(func() {
		w.reserving.Lock()
		defer w.reserving.Unlock()
		close(w.stopping)
	})
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
	w.log.Warn("worker: no time left to drain, canceling running jobs", "jobs", w.held.size())
	w.cutRuns(ErrStopping)
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
	}
	w.cutWrite()
	err := fmt.Errorf("stop worker %s: %d jobs left to the end of their leases: %w", w.queue.Name,
		w.held.size(), ctx.Err())
	w.log.Error("worker: stopped", "error", err) // the caller may have stopped waiting
	return err
}

// untilGrace returns a context that ends early enough before ctx to cancel runs and store their results.
func untilGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, has := ctx.Deadline()
	if !has {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(settleGrace, time.Until(deadline)/2)))
}

// waitOrStop waits. It returns false if stop is closed first.
func waitOrStop(wait time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}
