package apilog

import (
	"fmt"
	"testing"
	"time"
)

// clock is what the test says it is.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func counted(s *sampler, account string, status, times int) map[verdict]int {
	got := map[verdict]int{}
	for range times {
		got[s.judge(account, status)]++
	}
	return got
}

func TestFailuresGoBeforeSuccesses(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	s := newSampler(20, c.now)
	if got := counted(s, "a", 200, 1000); got[keep] != accountBurst || got[full] != 0 {
		t.Errorf("of 1000 successes of an account at once %d are kept, want %d", got[keep], accountBurst)
	}
	if got := counted(s, "b", 200, 1000); got[keep] != 0 {
		t.Errorf("when the process has had its 200, another account has %d", got[keep])
	}
	if got := counted(s, "a", 400, failureBurst); got[keep] != failureBurst {
		t.Errorf("of %d failures %d are kept", failureBurst, got[keep])
	}
	c.at = c.at.Add(2 * time.Second)
	if got := counted(s, "a", 200, 1000); got[keep] != 2*accountRate {
		t.Errorf("two seconds later %d are kept, want %d", got[keep], 2*accountRate)
	}
	if got := counted(s, "b", 200, 1000); got[keep] != 40-2*accountRate {
		t.Errorf("of another account %d are kept then, want %d", got[keep], 40-2*accountRate)
	}
	if got := counted(newSampler(0, c.now), "a", 200, 10); got[keep] != 0 {
		t.Errorf("with a rate of 0 %d successes are kept", got[keep])
	}
}

// What finds no room is dropped at once, and one account leaves room for others.
func TestAFullBufferDrops(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	s := newSampler(20, c.now)
	for i := range accountRows {
		if s.judge("a", 500) != keep || !s.add(&Seen{AccountID: "a"}) {
			t.Fatalf("request %d finds no room", i)
		}
	}
	if s.judge("a", 500) != full || s.add(&Seen{AccountID: "a"}) {
		t.Error("an account has more than its part of the buffer")
	}
	if s.judge("b", 500) != keep {
		t.Error("another account finds no room")
	}
	for i := 0; len(s.rows) < bufferRows; i++ {
		s.add(&Seen{AccountID: fmt.Sprint(i)})
	}
	if s.judge("c", 500) != full || s.add(&Seen{AccountID: "c"}) {
		t.Error("a full buffer takes more")
	}
	select {
	case <-s.woken:
	default:
		t.Error("no task was woken to store a buffer that is half full")
	}
	if got := len(s.drain()); got != bufferRows {
		t.Errorf("drained %d, want %d", got, bufferRows)
	}
	if s.judge("a", 500) != keep ||
		!s.add(&Seen{AccountID: "a", Asked: CapturedBody{Raw: make([]byte, bufferBytes)}}) ||
		s.add(&Seen{AccountID: "b", Asked: CapturedBody{Raw: []byte("x")}}) {
		t.Error("bodies have another room than the bytes of the buffer")
	}
}

// Accounts that ask no more are forgotten.
func TestSharesAreForgotten(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	s := newSampler(20, c.now)
	for i := range accountsRemembered + 1 {
		s.judge(fmt.Sprint(i), 500)
	}
	c.at = c.at.Add(forgetAfter + time.Second)
	s.judge("new", 500)
	if s.drain(); len(s.accounts) != 1 {
		t.Errorf("%d accounts are remembered, want the one that asked of late", len(s.accounts))
	}
}
