package devinbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/base/worker"
)

const (
	// reportAfter delays reports until the delivery has been stored, like real reports.
	reportAfter = 2 * time.Second
	reportTries = 8
	maxReports  = 1000 // maximum number of waiting reports; an email that needs another one is deferred
)

// reports queues reports until they are due. They are held in memory, so a stop loses them.
type reports struct {
	mu      sync.Mutex
	server  string // host:port of the server for return paths; empty for none
	waiting []report
	woken   chan struct{}
}

func newReports() *reports { return &reports{woken: make(chan struct{}, 1)} }

// ReportTo sets the server that accepts mail to our return paths, as host:port; empty if there is none.
func (s *Service) ReportTo(server string) {
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	s.reports.server = server
}

func (q *reports) reportServer() (server string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.server
}

// addReports queues reports and reports whether there was room.
func (q *reports) addReports(list ...report) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting)+len(list) > maxReports {
		return false
	}
	q.waiting = append(q.waiting, list...)
	select {
	case q.woken <- struct{}{}:
	default: // a wake-up is scheduled
	}
	return true
}

// takeDue removes and returns the due reports.
func (q *reports) takeDue(now time.Time) (due []report) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(r report) bool {
		over := !r.due.After(now)
		if over {
			due = append(due, r)
		}
		return over
	})
	return due
}

// untilNextDue returns the time until the next report is due.
func (q *reports) untilNextDue(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	wait := worker.UntilWoken
	for _, r := range q.waiting {
		wait = min(wait, max(r.due.Sub(now), 0))
	}
	return wait
}

// reportTask returns the task that submits due reports.
func (s *Service) reportTask() worker.Task {
	return worker.Task{Name: "reports of development mode", First: worker.UntilWoken, Woken: s.reports.woken,
		Step: func(ctx context.Context) (time.Duration, error) {
			var failed error
			for _, r := range s.reports.takeDue(time.Now()) {
				failed = errors.Join(failed, s.handIn(ctx, r))
			}
			return s.reports.untilNextDue(time.Now()), failed
		}}
}

// handIn submits one report to the server. A deferred report is retried after 4, 8, 16 … seconds, sooner than by
// real systems.
func (s *Service) handIn(ctx context.Context, r report) error {
	err := r.submit(ctx, s.reports.reportServer())
	if err == nil {
		return nil
	}
	r.tries++
	r.due = time.Now().Add(reportAfter << r.tries)
	if _, final := errors.AsType[permanentError](err); final || r.tries == reportTries || !s.reports.addReports(r) {
		s.log.WarnContext(ctx, "cannot submit a simulated report", "part", string(r.part),
			telemetry.KeyError, err)
		return nil
	}
	return fmt.Errorf("report of %s: %w", r.part, err)
}
