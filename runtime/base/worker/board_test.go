package worker_test

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/postrider/postrider/runtime/base/worker"
)

func TestMain(m *testing.M) {
	// shared, ends with the test binary
	const server = "github.com/postrider/postrider/runtime/storage/postgres.(*Server)"
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(server+".superviseProcess"),
		goleak.IgnoreAnyFunction(server+".launchProcess.func1"),
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).writerDescriptor.func1"),
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// board is a queue in memory with the semantics of the table, for tests that
// run on the fake clock of testing/synctest.
type board struct {
	mu       sync.Mutex
	due      []int
	claims   []int // sizes
	begun    []int
	settled  map[int]int // job to number of settlements
	batches  []int       // sizes
	released []int
	extended int

	claimErr, settleErr error
	refuse              int           // a job whose result cannot be stored
	settleTime          time.Duration // how long Settle takes
	work                func(context.Context, int, *worker.Lease) string
	lost                bool // Extend reports that the job is not ours
	results             map[int]string
}

func newBoard(jobs int) *board {
	b := &board{settled: map[int]int{}, results: map[int]string{}, refuse: -1}
	for i := range jobs {
		b.due = append(b.due, i)
	}
	return b
}

func (b *board) add(jobs ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due = append(b.due, jobs...)
}

// update reads or changes the board under its lock.
func (b *board) update(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *board) queue() worker.Queue[int, string] {
	return worker.Queue[int, string]{Name: "board", Claim: b.claim, Run: b.run, Settle: b.settle, Release: b.release}
}

func (b *board) claim(_ context.Context, limit int, _ time.Duration) ([]int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claimErr != nil {
		return nil, b.claimErr
	}
	n := min(limit, len(b.due))
	jobs := b.due[:n:n]
	b.due = b.due[n:]
	b.claims = append(b.claims, n)
	return jobs, nil
}

func (b *board) run(ctx context.Context, job int, lease *worker.Lease) string {
	b.mu.Lock()
	b.begun = append(b.begun, job)
	work := b.work
	b.mu.Unlock()
	if work == nil {
		return "done"
	}
	return work(ctx, job, lease)
}

func (b *board) settle(ctx context.Context, results []worker.Result[int, string]) error {
	b.mu.Lock()
	wait, err := b.settleTime, b.settleErr
	b.mu.Unlock()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range results {
		if r.Job == b.refuse {
			return errRefused
		}
	}
	if err != nil {
		return err
	}
	b.batches = append(b.batches, len(results))
	for _, r := range results {
		b.settled[r.Job]++
		b.results[r.Job] = r.Value
	}
	return nil
}

func (b *board) release(_ context.Context, jobs []int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = append(b.released, jobs...)
	return nil
}

func (b *board) extend(_ context.Context, jobs []int, _ time.Duration) ([]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.extended += len(jobs)
	held := make([]bool, len(jobs))
	for i := range held {
		held[i] = !b.lost
	}
	return held, nil
}

func logger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// start runs a worker and returns the function that stops it.
func start[J, R any](t *testing.T, q worker.Queue[J, R], cfg worker.Config) (*worker.Worker[J, R], func()) {
	t.Helper()
	w := worker.New(q, cfg, logger(t), nil)
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := w.Stop(ctx); err != nil {
			t.Error(err)
		}
	}
}

var errAway = os.ErrDeadlineExceeded // as from a connection with deadlines
