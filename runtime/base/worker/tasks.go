package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// panicPause is the minimum wait after a step that panicked, because the task might do nothing but panic.
const panicPause = time.Second

// failPause is the minimum wait after a failed step without Retry, because a step that asks for no wait
// might do nothing but fail.
const failPause = 100 * time.Millisecond

// Tasks are the background tasks of one owner, which starts them individually and stops them together. It
// is safe for concurrent use.
type Tasks struct {
	log     *slog.Logger
	metrics *Metrics

	mu       sync.Mutex
	names    []string
	stopped  bool
	running  sync.WaitGroup
	stopping chan struct{} // closed by Stop: no step starts afterwards
	steps    context.Context
	cutSteps context.CancelFunc // called at the start of Stop
	drains   context.Context    // parent of tasks with Drain
	cutDrain context.CancelFunc // called when the time of Stop is over
}

// NewTasks returns an empty set of tasks. metrics may be nil.
func NewTasks(log *slog.Logger, metrics *Metrics) *Tasks {
	t := &Tasks{log: log, metrics: metrics, stopping: make(chan struct{})}
	// not derived from a start context, which ends with the start
	t.steps, t.cutSteps = context.WithCancel(context.Background())
	t.drains, t.cutDrain = context.WithCancel(context.Background())
	return t
}

// Start runs tasks until Stop. After Stop, it only calls their After. It panics if a task has no name or no
// step.
func (t *Tasks) Start(tasks ...Task) {
	for _, task := range tasks {
		if task.Name == "" || task.Step == nil {
			panic(fmt.Sprintf("worker: task %q requires a name and a step", task.Name))
		}
		if !t.startTask(task) && task.After != nil {
			task.After()
		}
	}
}

func (t *Tasks) startTask(task Task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return false
	}
	ctx := t.steps
	if task.Drain {
		ctx = t.drains
	}
	log := t.log.With("task", task.Name)
	r := repeater{task: task, log: log, metrics: t.metrics.ofTask(task.Name), stopping: t.stopping, last: task.First,
		working: condition{log: log, step: task.Name}}
	t.names = append(t.names, task.Name)
	t.running.Go(func() { r.run(ctx) })
	return true
}

// Names returns the names of the started tasks, in the order of their starts.
func (t *Tasks) Names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.names)
}

// Stop ends the tasks and waits for their steps: those with Drain may finish while ctx lasts, the contexts
// of all others are cancelled immediately. No step runs afterwards. Stop may be called several times, and
// without Start.
func (t *Tasks) Stop(ctx context.Context) {
	t.mu.Lock()
	if !t.stopped {
		t.stopped = true
		close(t.stopping)
		t.cutSteps()
	}
	t.mu.Unlock()
	late := context.AfterFunc(ctx, t.cutDrain)
	t.running.Wait()
	late()
	t.cutDrain()
}

// repeater runs one task in one goroutine.
type repeater struct {
	task     Task
	log      *slog.Logger
	metrics  taskSeries
	stopping <-chan struct{}
	working  condition
	last     time.Duration // the wait returned by the latest step
}

func (r *repeater) run(ctx context.Context) {
	if r.task.After != nil {
		defer r.task.After()
	}
	for wait := r.task.First; r.waitForNextStep(wait); wait = r.runStep(ctx) {
	}
}

// waitForNextStep waits until the time is over or the task is woken. It returns false after the stop, which takes
// precedence.
func (r *repeater) waitForNextStep(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.task.Woken:
	case <-r.stopping:
	}
	select {
	case <-r.stopping:
		return false
	default:
		return true
	}
}

// runStep does the work once and returns the wait before the next time.
func (r *repeater) runStep(ctx context.Context) (wait time.Duration) {
	defer func() {
		if cause := recover(); cause != nil {
			r.metrics.panicked.Inc()
			r.log.Error("worker: a task panicked", "panic", cause, "stack", string(debug.Stack()))
			wait = max(r.recordFailure(fmt.Errorf("panic: %v", cause)), panicPause)
		}
	}()
	wait, err := r.task.Step(ctx)
	r.last = wait
	switch {
	case err == nil:
		r.metrics.done.Inc()
		r.metrics.failing.Set(0)
		r.working.recordSuccess()
		return wait
	case ctx.Err() != nil: // cancelled by the stop
		return wait
	}
	r.metrics.failed.Inc()
	return r.recordFailure(err)
}

func (r *repeater) recordFailure(err error) (wait time.Duration) {
	r.metrics.failing.Inc()
	if r.task.Retry == (Backoff{}) {
		r.working.recordFailure(err)
		return max(r.last, failPause)
	}
	wait = r.task.Retry.Delay(r.working.failures + 1)
	r.working.recordFailure(err, "retry_in", wait.Round(time.Millisecond))
	return wait
}
