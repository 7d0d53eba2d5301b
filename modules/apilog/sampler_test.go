package apilog

import (
	"fmt"
	"testing"
	"time"
)

// clock is a clock that the test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func counted(s *sampler, account string, status, times int) map[verdict]int {
	got := map[verdict]int{}
	for range times {
		got[s.judge(account, status)]++
	}
	return got
}

func TestFailuresTakePriority(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	s := newSampler(20, c.now)
	if got := counted(s, "a", 200, 1000); got[keep] != accountBurst || got[full] != 0 {
		t.Errorf("of 1000 concurrent successes of an account, %d were kept, want %d", got[keep], accountBurst)
	}
	if got := counted(s, "b", 200, 1000); got[keep] != 0 {
		t.Errorf("after the process kept its 200, another account got %d", got[keep])
	}
	if got := counted(s, "a", 400, failureBurst); got[keep] != failureBurst {
		t.Errorf("of %d failures, %d were kept", failureBurst, got[keep])
	}
	c.at = c.at.Add(2 * time.Second)
	if got := counted(s, "a", 200, 1000); got[keep] != 2*accountRate {
		t.Errorf("two seconds later, %d were kept, want %d", got[keep], 2*accountRate)
	}
	if got := counted(s, "b", 200, 1000); got[keep] != 40-2*accountRate {
		t.Errorf("of another account, %d were then kept, want %d", got[keep], 40-2*accountRate)
	}
	if got := counted(newSampler(0, c.now), "a", 200, 10); got[keep] != 0 {
		t.Errorf("with a rate of 0, %d successes were kept", got[keep])
	}
}

// Requests that do not fit are dropped immediately, and one account cannot crowd out others.
func TestFullBufferDropsRequests(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	s := newSampler(20, c.now)
	for i := range accountRows {
		if s.judge("a", 500) != keep || !s.add(&Seen{AccountID: "a"}) {
			t.Fatalf("request %d was dropped", i)
		}
	}
	if s.judge("a", 500) != full || s.add(&Seen{AccountID: "a"}) {
		t.Error("an account got more than its share of the buffer")
	}
	if s.judge("b", 500) != keep {
		t.Error("a request of another account was dropped")
	}
	for i := 0; len(s.rows) < bufferRows; i++ {
		s.add(&Seen{AccountID: fmt.Sprint(i)})
	}
	if s.judge("c", 500) != full || s.add(&Seen{AccountID: "c"}) {
		t.Error("a full buffer accepted a request")
	}
	select {
	case <-s.woken:
	default:
		t.Error("the task was not woken to store a half-full buffer")
	}
	if got := len(s.drain()); got != bufferRows {
		t.Errorf("drain returned %d requests, want %d", got, bufferRows)
	}
	if s.judge("a", 500) != keep ||
		!s.add(&Seen{AccountID: "a", Asked: CapturedBody{Raw: make([]byte, bufferBytes)}}) ||
		s.add(&Seen{AccountID: "b", Asked: CapturedBody{Raw: []byte("x")}}) {
		t.Error("the limit on bodies does not match the bytes of the buffer")
	}
}

// Accounts that have stopped sending requests are forgotten.
func TestIdleSharesAreForgotten(t *testing.T) {
	t.Parallel()
	c := &clock{time.Now()}
	s := newSampler(20, c.now)
	for i := range accountsRemembered + 1 {
		s.judge(fmt.Sprint(i), 500)
	}
	c.at = c.at.Add(forgetAfter + time.Second)
	s.judge("new", 500)
	if s.drain(); len(s.accounts) != 1 {
		t.Errorf("%d accounts are remembered, want only the recently active one", len(s.accounts))
	}
}
