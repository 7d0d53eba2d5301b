package worker_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/worker"
)

// process is a Process whose state the test sets.
type process struct {
	mu             sync.Mutex
	claims, runs   chan struct{} // closed while it may
	doubtfulBefore time.Time
	back           chan struct{}
	before         func(time.Time) int // the function that the worker passed to Watch
	reported       []bool
}

func newProcess() *process {
	p := &process{claims: make(chan struct{}), runs: make(chan struct{}), back: make(chan struct{})}
	close(p.claims)
	close(p.runs)
	return p
}

func (p *process) await(gate *chan struct{}, stop <-chan struct{}) bool {
	p.mu.Lock()
	open := *gate
	p.mu.Unlock()
	select {
	case <-open:
		return true
	case <-stop:
		return false
	}
}

func (p *process) AwaitClaim(stop <-chan struct{}) bool { return p.await(&p.claims, stop) }
func (p *process) AwaitRun(stop <-chan struct{}) bool   { return p.await(&p.runs, stop) }

func (p *process) Holds(since time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !since.Before(p.doubtfulBefore)
}

func (p *process) Watch(before func(time.Time) int) { p.before = before }

func (p *process) Report(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reported = append(p.reported, err == nil)
}

func (p *process) RecoverySignal() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.back
}

// update changes it under its lock.
func (p *process) update(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// While the process may not claim, nothing is claimed. While it may not start jobs, claimed jobs wait.
func TestWorkerObeysItsProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := newBoard(1), newProcess()
		p.claims, p.runs = make(chan struct{}), make(chan struct{})
		_, stop := start(t, b.queue(), worker.Config{Process: p, Lease: time.Hour, Poll: time.Second})
		defer stop()
		<-time.After(time.Minute)
		b.update(func() {
			if len(b.claims) > 0 {
				t.Errorf("%d claims of a process that may not claim", len(b.claims))
			}
		})
		close(p.claims)
		<-time.After(time.Minute)
		b.update(func() {
			if len(b.due) != 0 || len(b.begun) != 0 {
				t.Errorf("%d jobs left and %d started, want the job claimed and not started", len(b.due), len(b.begun))
			}
		})
		close(p.runs)
		synctest.Wait()
		b.update(func() {
			if diff := cmp.Diff(upTo(1), b.settled); diff != "" {
				t.Errorf("settled (-want +got):\n%s", diff)
			}
		})
	})
}

// Results are stored again as soon as any operation of the process succeeds, before their own wait is over.
func TestResultsAreStoredAsSoonAsTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := newBoard(3), newProcess()
		b.settleErr = errAway
		b.work = func(context.Context, int, *worker.Lease) string { // all have begun before the first result
			<-time.After(time.Second)
			return "done"
		}
		_, stop := start(t, b.queue(),
			worker.Config{Process: p, Lease: time.Hour, Retry: worker.Backoff{Min: time.Hour, Max: time.Hour}})
		defer stop()
		<-time.After(time.Minute)
		if n := p.before(time.Now()); n != 3 {
			t.Errorf("%d unsettled jobs were reported to the process, want 3", n)
		}
		b.update(func() { b.settleErr = nil })
		back := p.back
		p.update(func() { p.back = make(chan struct{}) })
		close(back)
		synctest.Wait()
		b.update(func() {
			if diff := cmp.Diff(upTo(3), b.settled); diff != "" {
				t.Errorf("settled once the database was back (-want +got):\n%s", diff)
			}
		})
		if n := p.before(time.Now()); n != 0 {
			t.Errorf("after all jobs were settled, %d unsettled jobs were reported to the process, want none", n)
		}
		p.update(func() {
			if !slices.Contains(p.reported, false) || !p.reported[len(p.reported)-1] {
				t.Errorf("reported %v, want failures and then a success", p.reported)
			}
		})
	})
}

// A lease from before a silence of the process is invalid, however much time is left, until it is extended:
// another process may have the job.
func TestLeaseIsInvalidAfterASilenceUntilItIsExtended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, p := newBoard(1), newProcess()
		var valid []bool
		b.work = func(_ context.Context, _ int, lease *worker.Lease) string {
			ask := func() { valid = append(valid, lease.IsValid()) }
			ask()
			<-time.After(time.Second)
			p.update(func() { p.doubtfulBefore = time.Now() })
			ask()
			back := p.back
			p.update(func() { p.back = make(chan struct{}) })
			close(back)
			synctest.Wait() // extended
			ask()
			return "done"
		}
		q := b.queue()
		q.Extend = b.extend
		_, stop := start(t, q, worker.Config{Process: p, Lease: time.Hour})
		<-time.After(time.Minute)
		stop()
		if diff := cmp.Diff([]bool{true, false, true}, valid); diff != "" {
			t.Errorf("valid at first, after the silence, and once extended (-want +got):\n%s", diff)
		}
	})
}
