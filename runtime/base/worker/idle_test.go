package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/base/worker"
)

// An idle worker polls up to five times less often. A job or a nudge resets the interval.
func TestIdleWorkerPollsLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard(0)
		w, stop := start(t, b.queue(), worker.Config{Poll: time.Second})
		defer stop()
		claims := func(within time.Duration) (n int) {
			b.update(func() { n = len(b.claims) })
			<-time.After(within)
			b.update(func() { n = len(b.claims) - n })
			return n
		}
		<-time.After(10 * time.Second)
		if n := claims(100 * time.Second); n < 17 || n > 24 {
			t.Errorf("an idle worker polled %d times in 100 seconds, want about 20", n)
		}
		w.Nudge()
		<-time.After(time.Millisecond) // the claim after the nudge
		if n := claims(1500 * time.Millisecond); n != 1 {
			t.Errorf("within one and a half seconds after a nudge, it polled %d more times, want once", n)
		}
		<-time.After(10 * time.Second)
		b.add(1)
		<-time.After(5600 * time.Millisecond)
		b.update(func() {
			if b.settled[1] != 1 {
				t.Error("work without a notification was not found within the longest wait")
			}
		})
	})
}
