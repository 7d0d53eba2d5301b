package worker

import (
	"context"
	"math"
	"time"
)

// UntilWoken is the wait of a task that has nothing to do before it is woken.
const UntilWoken time.Duration = math.MaxInt64

// Task is work that one goroutine of the process repeats: a sweep, a cache that is read
// again, a wake that is passed on.
type Task struct {
	Name string // for the log and the metrics: "sweep of rate limits"

	// Step does the work once and returns how long to wait before the next time, also
	// beside an error, then a tenth of a second at least. A panic counts as an error.
	Step func(ctx context.Context) (wait time.Duration, err error)

	First time.Duration   // wait before the first step; 0: none
	Woken <-chan struct{} // ends a wait early; nil: nothing does
	Retry Backoff         // waits after steps that failed; zero: the wait that the step returned

	// Drain lets a step that runs at the stop finish while the stop has time. Without it
	// the context of the step is cancelled at once.
	Drain bool

	After func() // is called when the task has ended, to unsubscribe from Woken; nil: nothing is
}

// Signals gives a channel that receives after each wake of a channel, and the function to
// end that, as *db.Signals does.
type Signals interface {
	Subscribe(channel string) (woken <-chan struct{}, unsubscribe func())
}

// Every is a task that runs after each period, for the first time when one is over.
func Every(name string, period time.Duration, run func(ctx context.Context) error) Task {
	return Task{Name: name, First: period, Step: func(ctx context.Context) (time.Duration, error) { return period, run(ctx) }}
}

// Soon has the first step come after a wait, whatever the period: what must get done even by
// processes that do not live for a period.
func (t Task) Soon(wait time.Duration) Task {
	t.First = wait
	return t
}

// OnWake is a task that runs after each wake of a channel. Wakes that come while it runs
// are one. It is subscribed at once, so that no wake between OnWake and the start is lost.
func OnWake(name string, signals Signals, channel string, run func(ctx context.Context) error) Task {
	woken, unsubscribe := signals.Subscribe(channel)
	return Task{Name: name, First: UntilWoken, Woken: woken, After: unsubscribe,
		Step: func(ctx context.Context) (time.Duration, error) { return UntilWoken, run(ctx) }}
}
