package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
)

var errRefused = errors.New("invalid byte sequence")

func upTo(n int) map[int]int {
	once := map[int]int{}
	for i := range n {
		once[i] = 1
	}
	return once
}

func TestEveryJobRunsAndIsSettledOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(1000)
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 8, Batch: 20})
		defer stop()
		<-time.After(time.Second)
		b.update(func() {
			if diff := cmp.Diff(upTo(1000), b.settled); diff != "" {
				t.Errorf("settled (-want +got):\n%s", diff)
			}
		})
	})
}

func TestNudgeWakesImmediatelyAndPollFindsTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		w, stop := start(t, b.queue(), worker.Config{Poll: time.Hour})
		defer stop()
		synctest.Wait()
		b.add(1)
		synctest.Wait()
		b.update(func() {
			if len(b.begun) != 0 {
				t.Error("a job ran without a nudge or a poll")
			}
		})
		w.Nudge()
		synctest.Wait()
		b.update(func() {
			if !slices.Equal(b.begun, []int{1}) {
				t.Errorf("after the nudge ran %v, want [1]", b.begun)
			}
		})
		<-time.After(time.Second) // let the claim that follows a claim come back empty
		b.add(2)
		<-time.After(70 * time.Minute)
		b.update(func() {
			if !slices.Equal(b.begun, []int{1, 2}) {
				t.Errorf("after the poll ran %v, want [1 2]", b.begun)
			}
		})
	})
}

func TestNudgeDuringAClaimIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		q := b.queue()
		began := make(chan struct{})
		goOn := make(chan struct{})
		first := true
		q.Claim = func(ctx context.Context, limit int, lease time.Duration) ([]int, error) {
			if first {
				first = false
				close(began)
				<-goOn
				return nil, nil
			}
			return b.claim(ctx, limit, lease)
		}
		w, stop := start(t, q, worker.Config{Poll: time.Hour})
		defer stop()
		<-began
		b.add(1)
		w.Nudge()
		close(goOn)
		synctest.Wait()
		b.update(func() {
			if len(b.begun) != 1 {
				t.Error("the nudge got lost")
			}
		})
	})
}

// A claim that was not full is followed by a pause, which NudgeNow ends, even if it is called during the claim.
func TestNudgeNowEndsThePauseBetweenClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, began := newBoard(0), time.Now()
		var w *worker.Worker[int, string]
		var claims []time.Duration
		q := b.queue()
		q.Claim = func(_ context.Context, _ int, _ time.Duration) ([]int, error) {
			b.update(func() { claims = append(claims, time.Since(began)) })
			switch len(claims) {
			case 1, 3:
				w.Nudge()
			case 2:
				w.NudgeNow()
			case 4:
				time.AfterFunc(time.Millisecond, w.NudgeNow)
			default:
				return nil, nil
			}
			return []int{len(claims)}, nil
		}
		w = worker.New(q, worker.Config{Poll: time.Hour}, logger(t), nil)
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		<-time.After(time.Second)
		b.update(func() {
			const pause = 15 * time.Millisecond
			want := []time.Duration{0, pause, pause, 2 * pause, 2*pause + time.Millisecond}
			if diff := cmp.Diff(want, claims[:min(len(want), len(claims))]); diff != "" {
				t.Errorf("times of the claims (-want +got):\n%s", diff)
			}
		})
	})
}

func TestConcurrencyStaysFullWhileSlowJobsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(100)
		b.work = func(_ context.Context, job int, _ *worker.Lease) string {
			if job == 0 {
				<-time.After(20 * time.Second) // one slow job must not hold up the next claims
			} else {
				<-time.After(time.Second)
			}
			return "done"
		}
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 5, Batch: 3, Poll: time.Hour})
		defer stop()
		<-time.After(10*time.Second - time.Millisecond)
		b.update(func() {
			// 4 free runners x 10 started seconds + the slow one, less what the claim spacing costs
			if len(b.begun) < 40 {
				t.Errorf("%d jobs started in 10 s, want at least 40", len(b.begun))
			}
		})
		<-time.After(20 * time.Second)
	})
}

func TestWaitingResultsShareACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(200)
		b.settleTime = 10 * time.Millisecond
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 50, Batch: 100})
		<-time.After(5 * time.Second)
		stop()
		if diff := cmp.Diff(upTo(200), b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
		if len(b.batches) > 20 {
			t.Errorf("200 results took %d settlements %v", len(b.batches), b.batches)
		}
	})
}

func TestNoRunStartsWhileResultsCannotBeStored(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*board){
		"the database is away":   func(b *board) { b.settleErr = errAway },
		"the database is frozen": func(b *board) { b.settleTime = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBoard(0)
				b.work = func(context.Context, int, *worker.Lease) string {
					<-time.After(10 * time.Millisecond)
					return "done"
				}
				w, stop := start(t, b.queue(), worker.Config{Concurrency: 4, Batch: 10, Stall: time.Second,
					Lease: 24 * time.Hour})
				defer stop()
				b.update(func() { fail(b) })
				b.add(0)
				w.Nudge()
				<-time.After(3 * time.Second)
				var begun, claims int
				b.update(func() { begun, claims = len(b.begun), len(b.claims) })
				for i := range 100 {
					b.add(i + 1)
				}
				w.Nudge()
				<-time.After(30 * time.Minute)
				b.update(func() {
					if len(b.begun) != begun {
						t.Errorf("%d runs started while results could not be stored", len(b.begun)-begun)
					}
					if len(b.claims) > claims+1 { // one may have been in progress
						t.Errorf("%d claims while results could not be stored", len(b.claims)-claims)
					}
					b.settleErr, b.settleTime = nil, 0
				})
				<-time.After(2 * time.Hour) // the frozen call returns
				b.update(func() {
					if diff := cmp.Diff(upTo(101), b.settled); diff != "" {
						t.Errorf("settled after recovery (-want +got):\n%s", diff)
					}
				})
			})
		})
	}
}

func TestNoRunStartsWhileClaimsFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(5) // 4 run, 1 waits in the process, and there is room to look for more
		b.work = func(context.Context, int, *worker.Lease) string {
			<-time.After(10 * time.Second)
			return "done"
		}
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 4, Batch: 4, Lease: time.Hour, Poll: time.Second})
		<-time.After(time.Second)
		b.update(func() { b.claimErr = errAway })
		<-time.After(5 * time.Minute)
		b.update(func() {
			if len(b.begun) != 4 {
				t.Errorf("%d runs started, want the 4 before the outage", len(b.begun))
			}
			b.claimErr = nil
		})
		<-time.After(time.Minute)
		stop()
		if diff := cmp.Diff(upTo(5), b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
	})
}

func TestAnOutageIsLoggedOnceAndLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := newBoard(6) // 4 run, 2 wait in the process
		b.work = func(context.Context, int, *worker.Lease) string {
			<-time.After(10 * time.Second)
			return "done"
		}
		w := worker.New(b.queue(), worker.Config{Concurrency: 4, Batch: 4, Lease: time.Hour, Poll: time.Second},
			slog.New(slog.NewTextHandler(&log, nil)), nil)
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		b.update(func() { b.due = nil; b.claimErr, b.settleErr = errAway, errAway })
		<-time.After(5 * time.Minute)
		b.update(func() {
			if len(b.begun) > 6 {
				t.Errorf("%d runs, want at most 6", len(b.begun))
			}
			b.claimErr, b.settleErr = nil, nil
		})
		<-time.After(time.Minute)
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(upTo(6), b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
		if got := strings.Count(log.String(), "settle fails"); got != 1 {
			t.Errorf("%d lines about the outage, want 1:\n%s", got, &log)
		}
		if got := strings.Count(log.String(), "settle works again"); got != 1 {
			t.Errorf("%d lines about its end, want 1:\n%s", got, &log)
		}
	})
}

func TestClaimErrorsAreLoggedOncePerOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := newBoard(3)
		b.claimErr = errAway
		w := worker.New(b.queue(), worker.Config{}, slog.New(slog.NewTextHandler(&log, nil)), nil)
		if err := w.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		b.update(func() { b.claimErr = nil })
		<-time.After(10 * time.Second) // Retry.Max is 5 s
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(upTo(3), b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
		if got := strings.Count(log.String(), "\n"); got != 2 {
			t.Errorf("%d log lines, want 2:\n%s", got, &log)
		}
	})
}

func TestBadResultIsAbandonedWithoutDelayingOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(50)
		b.refuse = 7
		b.settleTime = time.Millisecond
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 10})
		<-time.After(time.Minute)
		stop()
		want := upTo(50)
		delete(want, 7)
		if diff := cmp.Diff(want, b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
	})
}

func TestPanicAffectsOnlyItsJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(10)
		b.work = func(_ context.Context, job int, _ *worker.Lease) string {
			if job == 3 {
				panic("a hostile message")
			}
			return "done"
		}
		_, stop := start(t, b.queue(), worker.Config{Concurrency: 2})
		<-time.After(time.Second)
		stop()
		want := upTo(10)
		delete(want, 3)
		if diff := cmp.Diff(want, b.settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
	})
}

func TestConfigNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	err := worker.Config{Concurrency: -1, Batch: -1, Lease: time.Second, Margin: time.Second,
		Retry: worker.Backoff{Min: time.Second, Max: time.Millisecond}}.Validate()
	var got *fault.Error
	if !errors.As(err, &got) {
		t.Fatalf("Validate() = %v", err)
	}
	for _, field := range []string{"concurrency", "batch", "margin", "retry.max"} {
		if got.Fields[field] == "" {
			t.Errorf("no reason for %s in %v", field, err)
		}
	}
	if err := (worker.Config{}).Validate(); err != nil {
		t.Errorf("the defaults are rejected: %v", err)
	}
}
