package worker

import (
	"context"
	"math"
	"time"
)

// UntilWoken is the wait of a task that has nothing to do until it is woken.
const UntilWoken time.Duration = math.MaxInt64

// Task is work that one goroutine of the process repeats: deleting old rows, refreshing a cache, forwarding
// a notification.
type Task struct {
	Name string // for logs and metrics: "sweep of rate limits"

	// Step does the work once and returns the wait before the next time, even with an error; after an error
	// the wait is at least a tenth of a second. A panic counts as an error.
	Step func(ctx context.Context) (wait time.Duration, err error)

	First time.Duration   // wait before the first step
	Woken <-chan struct{} // ends a wait early; may be nil
	Retry Backoff         // pauses after failed steps; if zero, the wait that the step returned

	// Drain lets a step that is running at the stop finish, as long as the stop has time. Without it, the
	// step's context is cancelled immediately.
	Drain bool

	After func() // called when the task has ended, to unsubscribe from Woken; may be nil
}

// Signals subscribes to wakes as *db.Signals does: it returns a channel that receives after each wake of a
// channel, and the function that unsubscribes.
type Signals interface {
	Subscribe(channel string) (woken <-chan struct{}, unsubscribe func())
}

// Every returns a task that runs after each period, for the first time after one period.
func Every(name string, period time.Duration, run func(ctx context.Context) error) Task {
	return Task{Name: name, First: period,
		Step: func(ctx context.Context) (time.Duration, error) { return period, run(ctx) }}
}

// WithFirstDelay returns the task with its first step after wait, whatever its period. It is for work that even
// short-lived processes must do.
func (t Task) WithFirstDelay(wait time.Duration) Task {
	t.First = wait
	return t
}

// OnWake returns a task that runs after each wake of a channel. Wakes during a run are merged into one. The
// subscription starts immediately, so that no wake between OnWake and the start is lost.
func OnWake(name string, signals Signals, channel string, run func(ctx context.Context) error) Task {
	woken, unsubscribe := signals.Subscribe(channel)
	return Task{Name: name, First: UntilWoken, Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return UntilWoken, run(ctx) }}
}
