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

// panicPause is the least wait after a step that panicked: the task may otherwise do
// nothing but panic.
const panicPause = time.Second

// failPause is the least wait after a step that failed and has no Retry: a step that says "again at
// once" would else do nothing but fail.
const failPause = 100 * time.Millisecond

// Tasks are the background tasks of one owner, which it starts one by one and stops
// together. Safe for concurrent use.
type Tasks struct {
	log     *slog.Logger
	metrics *Metrics

	mu       sync.Mutex
	names    []string
	stopped  bool
	running  sync.WaitGroup
	stopping chan struct{} // closed by Stop: no step begins after it
	steps    context.Context
	cutSteps context.CancelFunc // at the start of Stop
	drains   context.Context    // of tasks with Drain
	cutDrain context.CancelFunc // when the time of Stop is over
}

// NewTasks makes an empty set of tasks. metrics may be nil.
func NewTasks(log *slog.Logger, metrics *Metrics) *Tasks {
	t := &Tasks{log: log, metrics: metrics, stopping: make(chan struct{})}
	t.steps, t.cutSteps = context.WithCancel(context.Background()) // a start's context ends with the start
	t.drains, t.cutDrain = context.WithCancel(context.Background())
	return t
}

// Start runs tasks until Stop. After Stop it only calls their After. It panics when a task
// has no name or no step, which is a defect.
func (t *Tasks) Start(tasks ...Task) {
	for _, task := range tasks {
		if task.Name == "" || task.Step == nil {
			panic(fmt.Sprintf("worker: task %q needs a name and a step", task.Name))
		}
		if !t.start(task) && task.After != nil {
			task.After()
		}
	}
}

func (t *Tasks) start(task Task) bool {
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

// Names gives the names of the tasks that were started, in the order of their starts.
func (t *Tasks) Names() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.names)
}

// Stop ends the tasks and waits for their steps: those with Drain may finish while ctx
// lasts, the contexts of all others are cancelled at once. No step runs after it. It may
// be called several times, and without a Start.
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
	last     time.Duration // the wait that the latest step returned
}

func (r *repeater) run(ctx context.Context) {
	if r.task.After != nil {
		defer r.task.After()
	}
	for wait := r.task.First; r.pause(wait); wait = r.step(ctx) {
	}
}

// pause waits until the time is over or the task is woken. It reports false at the stop,
// which goes before everything else.
func (r *repeater) pause(wait time.Duration) bool {
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

// step does the work once and returns the wait before the next time.
func (r *repeater) step(ctx context.Context) (wait time.Duration) {
	defer func() {
		if cause := recover(); cause != nil {
			r.metrics.panicked.Inc()
			r.log.Error("worker: a task panicked", "panic", cause, "stack", string(debug.Stack()))
			wait = max(r.failed(fmt.Errorf("panic: %v", cause)), panicPause)
		}
	}()
	wait, err := r.task.Step(ctx)
	r.last = wait
	switch {
	case err == nil:
		r.metrics.done.Inc()
		r.working.worked()
		return wait
	case ctx.Err() != nil: // the stop has cut it
		return wait
	}
	r.metrics.failed.Inc()
	return r.failed(err)
}

func (r *repeater) failed(err error) (wait time.Duration) {
	r.working.failed(err)
	if r.task.Retry != (Backoff{}) {
		return r.task.Retry.Delay(r.working.failures)
	}
	return max(r.last, failPause)
}
