package tracking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/fault"
)

// fakeStore is a fake database that can be unavailable or slow.
type fakeStore struct {
	mutex sync.Mutex
	hits  []hit
	away  bool
	bad   string // an IP address that it rejects
	block chan struct{}
}

func (s *fakeStore) store(ctx context.Context, hits []hit) error {
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.away {
		return &net.OpError{Op: "dial", Err: errors.New("refused")}
	}
	for _, h := range hits {
		if h.ip == s.bad && s.bad != "" {
			return errors.New("invalid byte sequence")
		}
	}
	s.hits = append(s.hits, hits...)
	return nil
}

func (s *fakeStore) countHits() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.hits)
}

func (s *fakeStore) listMachines() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var text strings.Builder
	for _, h := range s.hits {
		fmt.Fprintf(&text, "%s %s %q\n", h.mark.Kind, h.mark.Target, h.machine)
	}
	return text.String()
}

func countDropped(t *testing.T, r *recorder, reason string) (count float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.dropped)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() == reason {
				count = m.GetCounter().GetValue()
			}
		}
	}
	return count
}

func startRecorder(t *testing.T, s *fakeStore) *recorder {
	t.Helper()
	r, err := newRecorder(s.store, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	return r
}

func clickOn(target, ip string) hit {
	return hit{mark: LinkToken{Kind: Click, EmailID: testEmail, Target: target}, ip: ip, at: time.Now()}
}

func openBy(ip string) hit {
	return hit{mark: LinkToken{Kind: Open, EmailID: testEmail}, ip: ip, at: time.Now()}
}

// A scanner's first click looks like a person's until the third click.
func TestClassifiesBurstOfClicksAsScanner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		r := startRecorder(t, s)
		for _, target := range []string{"a", "b", "c"} {
			r.offer(clickOn(target, "192.0.2.1"))
			time.Sleep(300 * time.Millisecond) // synctest clock: returns immediately
		}
		r.offer(clickOn("a", "192.0.2.2"))
		r.offer(clickOn("a", "192.0.2.2"))
		r.offer(clickOn("a", "192.0.2.2"))
		time.Sleep(2 * burstWindow)
		want := `click a "scanner"` + "\n" + `click b "scanner"` + "\n" + `click c "scanner"` + "\n" +
			`click a ""` + "\n" + `click a ""` + "\n" + `click a ""` + "\n"
		if got := s.listMachines(); got != want {
			t.Errorf("recorded hits:\n%s", got)
		}
		// Later, the same visitor counts as a person again, and earlier clicks are forgotten.
		r.offer(clickOn("d", "192.0.2.1"))
		time.Sleep(2 * burstWindow)
		if got := s.listMachines(); got != want+`click d ""`+"\n" {
			t.Errorf("recorded hits:\n%s", got)
		}
		if err := r.stop(t.Context()); err != nil {
			t.Error(err)
		}
		if len(r.bursts.order) > 1 || len(r.bursts.byVisitor) > 1 {
			t.Errorf("%d clicks are remembered, want at most 1", len(r.bursts.order))
		}
	})
}

func TestStopRecordsQueuedHits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		r := startRecorder(t, s)
		for range 700 {
			r.offer(clickOn("a", "192.0.2.1"))
			r.offer(openBy("192.0.2.1"))
		}
		if err := r.stop(t.Context()); err != nil {
			t.Error(err)
		}
		if len(s.hits) != 1400 {
			t.Errorf("%d of 1400 hits were recorded", len(s.hits))
		}
		r.offer(openBy("192.0.2.1"))
		if got := countDropped(t, r, "stopping"); got != 1 {
			t.Errorf("%v hits were counted as dropped after stop, want 1", got)
		}
	})
}

func TestQueuesVisitsWhileDatabaseIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{away: true}
		r := startRecorder(t, s)
		r.offer(openBy("192.0.2.1"))
		synctest.Wait() // the recorder is retrying
		if !fault.IsDatabaseUnavailable(s.store(t.Context(), nil)) {
			t.Fatal("the fake's error does not count as an unavailable database")
		}
		for range queueSize + 5 {
			r.offer(openBy("192.0.2.2"))
		}
		if got := countDropped(t, r, "queue_full"); got != 5 {
			t.Errorf("%v hits were dropped, want 5", got)
		}
		s.mutex.Lock()
		s.away = false
		s.mutex.Unlock()
		time.Sleep(2 * retryMax)
		if got := s.countHits(); got != queueSize+1 {
			t.Errorf("%d hits were recorded after recovery, want %d", got, queueSize+1)
		}
		if err := r.stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestStopReturnsAtDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{block: make(chan struct{})}
		r := startRecorder(t, s)
		r.offer(openBy("192.0.2.1"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.stop(ctx); err == nil {
			t.Error("stop returned no error for hits that were not recorded")
		}
		if got := countDropped(t, r, "stopping"); got != 1 {
			t.Errorf("%v hits were counted as dropped, want 1", got)
		}
	})
}

func TestRejectedVisitDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{bad: "192.0.2.9"}
		r := startRecorder(t, s)
		for _, ip := range []string{"192.0.2.1", "192.0.2.9", "192.0.2.2"} {
			r.offer(openBy(ip))
		}
		if err := r.stop(t.Context()); err != nil {
			t.Error(err)
		}
		if got := countDropped(t, r, "refused"); got != 1 || len(s.hits) != 2 {
			t.Errorf("%d hits recorded, %v rejected, want 2 and 1", len(s.hits), got)
		}
	})
}
