package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/worker"
)

// recordSeconds returns the seconds that have passed at each call of the first function.
func recordSeconds() (mark func(), marks func() []float64) {
	began := time.Now()
	var mu sync.Mutex
	var list []float64
	return func() {
			mu.Lock()
			defer mu.Unlock()
			list = append(list, time.Since(began).Seconds())
		}, func() []float64 {
			mu.Lock()
			defer mu.Unlock()
			return list
		}
}

func TestEveryRunsAfterEachPeriodAndNeverAfterTheStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(logger(t), nil)
		mark, marks := recordSeconds()
		tasks.Start(worker.Every("sweep", 10*time.Second, func(context.Context) error { mark(); return nil }))
		<-time.After(35 * time.Second)
		tasks.Stop(t.Context())
		<-time.After(time.Minute)
		if diff := cmp.Diff([]float64{10, 20, 30}, marks()); diff != "" {
			t.Errorf("a task with a period of 10 s, stopped after 35 s, ran at these seconds (-want +got):\n%s", diff)
		}
	})
}

func TestFailingStepIsNotRepeatedImmediately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(logger(t), nil)
		mark, marks := recordSeconds()
		tasks.Start(worker.Task{Name: "poll",
			Step: func(context.Context) (time.Duration, error) {
				mark()
				return 0,
					errors.New("the database is away")
			}})
		<-time.After(450 * time.Millisecond)
		tasks.Stop(t.Context())
		if diff := cmp.Diff([]float64{0, 0.1, 0.2, 0.3, 0.4}, marks()); diff != "" {
			t.Errorf("a task that fails and returns no wait ran at these seconds (-want +got):\n%s",
				diff)
		}
	})
}

func TestFirstDelayMayBeShorterThanThePeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(logger(t), nil)
		mark, marks := recordSeconds()
		tasks.Start(worker.Every("count", 10*time.Second, func(context.Context) error { mark(); return nil }).
			WithFirstDelay(time.Second))
		<-time.After(25 * time.Second)
		tasks.Stop(t.Context())
		if diff := cmp.Diff([]float64{1, 11, 21}, marks()); diff != "" {
			t.Errorf("a task with a period of 10 s and a first delay of 1 s ran at these seconds (-want +got):\n%s",
				diff)
		}
	})
}

func TestStepReturnsItsNextWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(logger(t), nil)
		mark, marks := recordSeconds()
		waits := []time.Duration{0, 3 * time.Second, 5 * time.Second, worker.UntilWoken}
		tasks.Start(worker.Task{Name: "release", First: 2 * time.Second,
			Step: func(context.Context) (time.Duration, error) {
				mark()
				return waits[len(marks())-1], nil
			}})
		<-time.After(time.Hour)
		tasks.Stop(t.Context())
		if diff := cmp.Diff([]float64{2, 2, 5, 10}, marks()); diff != "" {
			t.Errorf("a task whose steps returned the waits %v ran at these seconds (-want +got):\n%s", waits, diff)
		}
	})
}

// channels is a subscription that returns one channel.
type channels struct {
	woken chan struct{}
	ended atomic.Int32
}

func (c *channels) Subscribe(string) (<-chan struct{}, func()) {
	return c.woken, func() { c.ended.Add(1) }
}

func TestOnWakeRunsOncePerWakeAndUnsubscribesAtTheStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(logger(t), nil)
		signals := &channels{woken: make(chan struct{}, 1)}
		mark, marks := recordSeconds()
		signals.woken <- struct{}{}
		heard := worker.OnWake("revocations", signals, "revoked", func(context.Context) error { mark(); return nil })
		tasks.Start(heard)
		<-time.After(7 * time.Second)
		signals.woken <- struct{}{}
		synctest.Wait()
		if got := signals.ended.Load(); got != 0 {
			t.Errorf("the task unsubscribed %d times before the stop, want never", got)
		}
		tasks.Stop(t.Context())
		signals.woken <- struct{}{}
		synctest.Wait()
		if diff := cmp.Diff([]float64{0, 7}, marks()); diff != "" {
			t.Errorf("a task that was woken before its start, after 7 s and after its stop ran at these seconds (-want +got):\n%s", diff)
		}
		if got := signals.ended.Load(); got != 1 {
			t.Errorf("the stop unsubscribed %d times, want once", got)
		}
	})
}

func TestAWakeEndsAWaitEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(logger(t), nil)
		woken := make(chan struct{}, 1)
		mark, marks := recordSeconds()
		reread := worker.Every("reread", 10*time.Second, func(context.Context) error { mark(); return nil })
		reread.Woken = woken
		tasks.Start(reread)
		<-time.After(4 * time.Second)
		woken <- struct{}{}
		<-time.After(11 * time.Second)
		tasks.Stop(t.Context())
		if diff := cmp.Diff([]float64{4, 14}, marks()); diff != "" {
			t.Errorf("a task with a period of 10 s that was woken after 4 s ran at these seconds (-want +got):\n%s",
				diff)
		}
	})
}

func TestTaskContinuesAfterFailuresAndPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		registry := prometheus.NewRegistry()
		tasks := worker.NewTasks(slog.New(slog.NewTextHandler(&log, nil)), worker.NewMetrics(registry))
		mark, marks := recordSeconds()
		tasks.Start(worker.Every("sweep of keys", 10*time.Second, func(context.Context) error {
			mark()
			switch len(marks()) {
			case 2, 3:
				return errors.New("the database is away")
			case 4:
				panic("a defect")
			default:
				return nil
			}
		}))
		<-time.After(55 * time.Second)
		tasks.Stop(t.Context())
		if diff := cmp.Diff([]float64{10, 20, 30, 40, 50}, marks()); diff != "" {
			t.Errorf("a task that failed twice and then panicked ran at these seconds (-want +got):\n%s", diff)
		}
		for text, want := range map[string]int{"sweep of keys fails, retrying": 1, "sweep of keys works again": 1,
			"a task panicked": 1} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("the log contains %q %d times, want %d:\n%s", text, got, want, log.String())
			}
		}
		want := map[string]float64{"done": 2, "failed": 2, "panicked": 1}
		if diff := cmp.Diff(want, stepsByEnd(t, registry)); diff != "" {
			t.Errorf("a task that failed twice and panicked once has the counts (-want +got):\n%s", diff)
		}
	})
}

// stepsByEnd reads postrider_worker_task_steps_total of a single task.
func stepsByEnd(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "postrider_worker_task_steps_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "end" {
					counts[label.GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
	}
	return counts
}

func TestATaskThatPanicsWithoutAWaitDoesNotSpin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(slog.New(slog.DiscardHandler), nil)
		mark, marks := recordSeconds()
		tasks.Start(worker.Task{Name: "broken",
			Step: func(context.Context) (time.Duration, error) { mark(); panic("a defect") }})
		<-time.After(2500 * time.Millisecond)
		tasks.Stop(t.Context())
		if diff := cmp.Diff([]float64{0, 1, 2}, marks()); diff != "" {
			t.Errorf("a task that only panics ran at these seconds (-want +got):\n%s", diff)
		}
	})
}

func TestRetrySpacesFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tasks := worker.NewTasks(slog.New(slog.DiscardHandler), nil)
		mark, marks := recordSeconds()
		tasks.Start(worker.Task{Name: "read", Retry: worker.Backoff{Min: time.Second, Max: 4 * time.Second},
			Step: func(context.Context) (time.Duration, error) { mark(); return time.Hour, errors.New("away") }})
		<-time.After(time.Minute)
		tasks.Stop(t.Context())
		if got := len(marks()); got < 16 || got > 32 {
			t.Errorf("a task that fails for a minute and waits for 1 to 4 s, of which up to half is left out, ran %d times, want 16 to 32", got)
		}
	})
}

func TestStopCancelsAStepOrLetsItDrain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		drain   bool
		lasts   time.Duration // the step, unless it is canceled
		patient time.Duration // the stop
		want    time.Duration // until Stop returns
	}{
		"canceled immediately":            {false, time.Minute, 5 * time.Second, 0},
		"finished while there was time":   {true, 3 * time.Second, 5 * time.Second, 3 * time.Second},
		"canceled when the time was over": {true, time.Minute, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				tasks := worker.NewTasks(slog.New(slog.NewTextHandler(&log, nil)), nil)
				tasks.Start(worker.Task{Name: "release", Drain: test.drain,
					Step: func(ctx context.Context) (time.Duration, error) {
						select {
						case <-ctx.Done():
							return 0, ctx.Err()
						case <-time.After(test.lasts):
							return 0, nil
						}
					}})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), test.patient)
				defer cancel()
				began := time.Now()
				tasks.Stop(ctx)
				if got := time.Since(began); got != test.want {
					t.Errorf("Stop(%s) of a step of %s took %s, want %s", test.patient, test.lasts, got, test.want)
				}
				if log.Len() > 0 {
					t.Errorf("a stop was logged as a failure:\n%s", log.String())
				}
			})
		})
	}
}

func TestNothingStartsAfterTheStop(t *testing.T) {
	t.Parallel()
	tasks := worker.NewTasks(logger(t), nil)
	tasks.Stop(t.Context())
	tasks.Stop(t.Context())
	signals := &channels{woken: make(chan struct{}, 1)}
	signals.woken <- struct{}{}
	tasks.Start(worker.OnWake("late", signals, "late", func(context.Context) error {
		t.Error("a task that was started after the stop ran")
		return nil
	}))
	if got := signals.ended.Load(); got != 1 {
		t.Errorf("the task that was not started unsubscribed %d times, want once", got)
	}
}

// TestTasksUnderStress starts, wakes and stops tasks from many goroutines, for the race detector.
func TestTasksUnderStress(t *testing.T) {
	t.Parallel()
	for range 50 {
		tasks := worker.NewTasks(slog.New(slog.DiscardHandler), nil)
		var stopped atomic.Bool
		var steps, unsubscribed, running atomic.Int64
		const many = 20
		var starters sync.WaitGroup
		for i := range many {
			woken := make(chan struct{}, 1)
			var alone atomic.Int32
			starters.Go(func() {
				tasks.Start(worker.Task{
					Name: "stress", Woken: woken, Drain: i%2 == 0, Retry: worker.Backoff{Min: 1, Max: time.Microsecond},
					After: func() { unsubscribed.Add(1) },
					Step: func(context.Context) (time.Duration, error) {
						running.Add(1)
						defer running.Add(-1)
						if alone.Add(1) != 1 {
							t.Error("two steps of one task ran at the same time")
						}
						defer alone.Add(-1)
						if stopped.Load() {
							t.Error("a step ran after Stop had returned")
						}
						steps.Add(1)
						switch rand.N(20) {
						case 0:
							return 0, errors.New("sometimes it fails")
						default:
							return rand.N(100 * time.Microsecond), nil
						}
					},
				})
				for range 100 {
					select {
					case woken <- struct{}{}:
					default:
					}
				}
			})
		}
		var stoppers sync.WaitGroup
		for range 3 {
			stoppers.Go(func() {
				for steps.Load() < 10*many {
					runtime.Gosched()
				}
				tasks.Stop(t.Context())
				if n := running.Load(); n != 0 {
					t.Errorf("Stop returned while %d steps ran", n)
				}
				stopped.Store(true)
			})
		}
		starters.Wait()
		stoppers.Wait()
		if got := unsubscribed.Load(); got != many {
			t.Errorf("%d tasks were started, %d reported their end", many, got)
		}
	}
}
