package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// table is a queue with the columns of every real one: due_at, lease, fencing number.
type table struct{ *db.DB }

type row struct {
	id, fence int64
}

func newTable(t testing.TB, rows int) table {
	t.Helper()
	d := table{dbtest.New(t)}
	for _, query := range []string{
		`CREATE TABLE jobs (id bigint PRIMARY KEY, due_at timestamptz DEFAULT now(), fence bigint NOT NULL DEFAULT 0,
			settlements int NOT NULL DEFAULT 0, outcome text)`,
		`CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL`,
		fmt.Sprintf(`INSERT INTO jobs (id) SELECT generate_series(1, %d)`, rows),
	} {
		if _, err := d.SQL.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d table) claim(ctx context.Context, limit int, lease time.Duration) ([]row, error) {
	rows, err := d.Hot.QueryContext(ctx, `
		UPDATE jobs SET fence = jobs.fence + 1, due_at = now() + $2::bigint * interval '1 microsecond'
		FROM (SELECT id FROM jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
		WHERE jobs.id = due.id RETURNING jobs.id, jobs.fence`, limit, lease.Microseconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var claimed []row
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.id, &r.fence); err != nil {
			return nil, err
		}
		claimed = append(claimed, r)
	}
	return claimed, rows.Err()
}

func keys(jobs []row) (ids, fences any) {
	var i, f []int64
	for _, j := range jobs {
		i, f = append(i, j.id), append(f, j.fence)
	}
	return pq.Array(i), pq.Array(f)
}

// settle increments the fence, so results that are stored a second time match no row.
func (d table) settle(ctx context.Context, results []worker.Result[row, string]) error {
	var jobs []row
	var outcomes []string
	for _, r := range results {
		jobs, outcomes = append(jobs, r.Job), append(outcomes, r.Value)
	}
	ids, fences := keys(jobs)
	_, err := d.Hot.ExecContext(ctx, `
		UPDATE jobs SET fence = jobs.fence + 1, settlements = settlements + (r.outcome <> 'again')::int, outcome = r.outcome,
			due_at = CASE WHEN r.outcome = 'again' THEN now() END
		FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS r (id, fence, outcome)
		WHERE jobs.id = r.id AND jobs.fence = r.fence`, ids, fences, pq.Array(outcomes))
	return err
}

func (d table) extend(ctx context.Context, jobs []row, lease time.Duration) ([]bool, error) {
	ids, fences := keys(jobs)
	rows, err := d.Hot.QueryContext(ctx, `
		UPDATE jobs SET due_at = now() + $3::bigint * interval '1 microsecond' FROM unnest($1::bigint[], $2::bigint[]) AS r (id, fence)
		WHERE jobs.id = r.id AND jobs.fence = r.fence RETURNING jobs.id`, ids, fences, lease.Microseconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	held := map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		held[id] = true
	}
	answer := make([]bool, len(jobs))
	for i, j := range jobs {
		answer[i] = held[j.id]
	}
	return answer, rows.Err()
}

func (d table) release(ctx context.Context, jobs []row) error {
	ids, fences := keys(jobs)
	_, err := d.Hot.ExecContext(ctx, `UPDATE jobs SET due_at = now(), fence = jobs.fence + 1 FROM unnest($1::bigint[], $2::bigint[]) AS r (id, fence)
		WHERE jobs.id = r.id AND jobs.fence = r.fence`, ids, fences)
	return err
}

func (d table) queue(run func(context.Context, row, *worker.Lease) string) worker.Queue[row, string] {
	return worker.Queue[row, string]{Name: "jobs", Claim: d.claim, Run: run, Settle: d.settle, Extend: d.extend,
		Release: d.release}
}

// unreliable fails in the ways a database does: before the statement, or after its commit, when only the
// response is lost.
type unreliable struct{ worker.Queue[row, string] }

var errCut = fmt.Errorf("connection cut: %w", errAway)

func (u unreliable) queue() worker.Queue[row, string] {
	real := u.Queue
	u.Claim = func(ctx context.Context, limit int, lease time.Duration) ([]row, error) {
		jobs, err := real.Claim(ctx, limit, lease)
		if rand.IntN(20) == 0 {
			return nil, errCut // claimed, but the caller gets an error
		}
		return jobs, err
	}
	u.Settle = func(ctx context.Context, results []worker.Result[row, string]) error {
		dice := rand.IntN(20)
		if dice == 0 {
			return errCut
		}
		err := real.Settle(ctx, results)
		if dice == 1 {
			return errCut // stored, but the caller gets an error
		}
		return err
	}
	return u.Queue
}

// Many workers share one table, with failing statements, lost responses, panics, retries, and owners that are
// suspended past their lease. Every job is settled exactly once, and no irreversible step is taken after the
// end of a lease.
func TestStressEveryJobIsSettledExactlyOnce(t *testing.T) {
	t.Parallel()
	const jobs, workers = 3000, 6
	const lease = time.Second
	const concurrency, batch = 16, 50
	d := newTable(t, jobs)
	stalls := d.countStalls(t, lease/4)
	var steps sync.Map // id → *atomic.Int32, the irreversible ones
	var late, again, panics atomic.Int32
	run := func(ctx context.Context, job row, held *worker.Lease) string {
		switch dice := rand.IntN(300); {
		case dice < 3: // as if by SIGSTOP: ignores its context, and resumes after the end of its lease
			late.Add(1)
			<-time.After(lease * 3 / 2)
		case dice < 5:
			panics.Add(1)
			panic("a hostile row")
		case dice < 20:
			again.Add(1)
			return "again"
		case dice < 150:
			select {
			case <-time.After(rand.N(20 * time.Millisecond)):
			case <-ctx.Done():
			}
		}
		if !held.IsValid() {
			return "again"
		}
		count, _ := steps.LoadOrStore(job.id, &atomic.Int32{})
		count.(*atomic.Int32).Add(1)
		return "done"
	}
	var group []*worker.Worker[row, string]
	for range workers {
		q := d.queue(run)
		q.Extend = nil // the suspended owner's process would not extend either
		w := worker.New(unreliable{q}.queue(), worker.Config{Concurrency: concurrency, Batch: batch, Lease: lease,
			Poll:  50 * time.Millisecond,
			Retry: worker.Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond}}, discard(), nil)
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		group = append(group, w)
	}
	open := func() (n int) {
		if err := d.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM jobs WHERE outcome IS DISTINCT FROM 'done'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	expect.EventuallyWithin(t, 5*time.Minute, "all jobs are done", func() bool { return open() == 0 })
	for _, w := range group {
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var wrong int
	if err := d.SQL.QueryRowContext(t.Context(),
		"SELECT count(*) FROM jobs WHERE settlements <> 1 OR outcome <> 'done' OR due_at IS NOT NULL").Scan(&wrong); err != nil {
		t.Fatal(err)
	}
	if wrong != 0 {
		t.Errorf("%d jobs were not settled exactly once", wrong)
	}
	doubles := 0
	steps.Range(func(_, count any) bool {
		doubles += int(count.(*atomic.Int32).Load()) - 1
		return true
	})
	// Steps are repeated only if the result of the first was not stored within the lease, which only the
	// injected faults or a stalled machine can cause here.
	if n := stalls(); doubles > jobs/100+n*workers*(concurrency+batch) {
		t.Errorf("%d irreversible steps were repeated, while the machine stalled %d times", doubles, n)
	}
	if late.Load() == 0 || again.Load() == 0 || panics.Load() == 0 {
		t.Errorf("the faults did not happen: late %d, again %d, panics %d", late.Load(), again.Load(), panics.Load())
	}
	t.Logf("late %d, again %d, panics %d, repeated steps %d", late.Load(), again.Load(), panics.Load(), doubles)
}

// The case that the fencing number is for, step by step: an owner is suspended past its lease, another one does
// the job, and the first one resumes.
func TestAStoppedOwnerNeitherRepeatsTheStepNorStoresItsResult(t *testing.T) {
	t.Parallel()
	d := newTable(t, 1)
	const lease = 300 * time.Millisecond
	stopped, goOn := make(chan struct{}), make(chan struct{})
	own := func(poll time.Duration, run func(context.Context, row, *worker.Lease) string) *worker.Worker[row, string] {
		q := d.queue(run)
		q.Extend = nil // a suspended process extends nothing
		return worker.New(q, worker.Config{Lease: lease, Poll: poll}, discard(), nil)
	}
	var taken atomic.Bool
	first := own(20*time.Millisecond, func(_ context.Context, _ row, held *worker.Lease) string {
		if taken.Swap(true) { // the machine stalled, and the job was claimed twice
			return "again"
		}
		close(stopped)
		<-goOn
		if held.IsValid() {
			return "the first owner took the step"
		}
		return "the first owner saw that it was late"
	})
	second := own(20*time.Millisecond, func(context.Context, row, *worker.Lease) string { return "the second owner" })
	for _, w := range []*worker.Worker[row, string]{first, second} {
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w == first {
			<-stopped
		}
	}
	var outcome string
	expect.Eventually(t, "the second owner has done the job", func() bool {
		if err := d.SQL.QueryRowContext(t.Context(), "SELECT coalesce(outcome, 'again') FROM jobs").Scan(&outcome); err != nil {
			t.Fatal(err)
		}
		return outcome != "again"
	})
	close(goOn)
	for _, w := range []*worker.Worker[row, string]{first, second} {
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var settlements int
	if err := d.SQL.QueryRowContext(t.Context(), "SELECT outcome, settlements FROM jobs").Scan(&outcome, &settlements); err != nil {
		t.Fatal(err)
	}
	if outcome != "the second owner" || settlements != 1 {
		t.Errorf("outcome %q after %d settlements", outcome, settlements)
	}
}

// A long run on a real table keeps its job: no other worker claims it.
func TestExtendedLeasesHoldOnTheTable(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	for range 10 {
		d := newTable(t, 4)
		stalls := d.countStalls(t, lease/4)
		var runs atomic.Int32
		run := func(ctx context.Context, _ row, _ *worker.Lease) string {
			runs.Add(1)
			select {
			case <-time.After(5 * lease / 2):
			case <-ctx.Done():
				return "again"
			}
			return "done"
		}
		var stops []func()
		for range 2 {
			_, stop := start(t, d.queue(run), worker.Config{Lease: lease, Poll: 20 * time.Millisecond})
			stops = append(stops, stop)
		}
		var open int
		expect.Eventually(t, "all jobs are done", func() bool {
			if err := d.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM jobs WHERE outcome IS DISTINCT FROM 'done'").Scan(&open); err != nil {
				t.Fatal(err)
			}
			return open == 0
		})
		for _, stop := range stops {
			stop()
		}
		if runs.Load() == 4 {
			return
		}
		if n := stalls(); n == 0 {
			t.Fatalf("%d runs of 4 jobs", runs.Load())
		}
		t.Logf("%d runs of 4 jobs while the machine stalled, retrying", runs.Load())
	}
	t.Fatal("in each of ten tries a stalled machine let leases expire")
}

// BenchmarkJobs counts jobs per second through claim, run and settle; the jobs do nothing. (The server of
// dbtest does not flush to disk.)
func BenchmarkJobs(b *testing.B) {
	d := newTable(b, b.N)
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan struct{})
	q := d.queue(func(context.Context, row, *worker.Lease) string { return "done" })
	settle := q.Settle
	q.Settle = func(ctx context.Context, results []worker.Result[row, string]) error {
		err := settle(ctx, results)
		if err == nil && left.Add(-int64(len(results))) == 0 {
			close(done)
		}
		return err
	}
	w := worker.New(q, worker.Config{Concurrency: 64, Batch: 100}, discard(), nil)
	b.ResetTimer()
	if err := w.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		b.Fatalf("%d jobs left", left.Load())
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	if err := w.Stop(b.Context()); err != nil && !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
}
