package webhooks

import (
	"database/sql"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postrider/postrider/runtime/work/event"
)

// The fan-out of a burst waits for room in memory, but not for endpoints that hang.
func TestFanOutWaitsForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFlights(8)
		jobs := []delivery{{webhookID: "wh_1"}, {webhookID: "wh_2"}, {webhookID: "wh_3"}, {webhookID: "wh_4"}}
		f.begin(f.claimLimits(time.Now()), jobs, time.Now())
		waited := func() time.Duration {
			began := time.Now()
			f.awaitRoom(roomLimit)
			return time.Since(began)
		}
		if w := waited(); w != roomLimit {
			t.Errorf("waited %s for endpoints that hang, want %s", w, roomLimit)
		}
		time.AfterFunc(roomLimit/4, func() { f.end(jobs[0], &answer{}) })
		time.AfterFunc(roomLimit/2, func() { f.end(jobs[1], &answer{}) })
		if w := waited(); w != roomLimit/2 {
			t.Errorf("waited %s, want %s, until most of the capacity was free", w, roomLimit/2)
		}
		if w := waited(); w != 0 {
			t.Errorf("waited %s with most of the capacity free, want no wait", w)
		}
		f.end(jobs[2], nil)
		f.end(jobs[3], nil)
		if f.count != 0 {
			t.Errorf("%d POSTs are in flight, want 0", f.count)
		}
	})
}

// After a claim that left due deliveries, the next one begins once half of its POSTs have ended, at least a few. After
// other claims, the worker pauses.
func TestClaimIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		jobs  int
		fresh bool // claimed by the fan-out
		full  bool // as many as the endpoints have room for
		total bool // as many as the process has room for
		want  int  // POSTs that have ended at the early claim; 0: never
	}{
		"large":            {jobs: 32, full: true, want: 16},
		"one endpoint":     {jobs: maxPerEndpoint, full: true, want: maxPerEndpoint},
		"small":            {jobs: maxPerEndpoint - 1, full: true},
		"nothing is left":  {jobs: 32},
		"total":            {jobs: 32, total: true, want: 16},
		"from the fan-out": {jobs: 32, full: true, fresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, early := newFlights(128), 0
			f.nudgeNow = func() { early++ }
			l := limits{most: 128, fresh: test.fresh}
			if test.total {
				l.most = test.jobs
			}
			jobs := make([]delivery, test.jobs)
			for i := range jobs {
				jobs[i].webhookID = fmt.Sprint("wh_", i/maxPerEndpoint)
				f.byID[jobs[i].webhookID] = &endpointState{tried: true, prompt: true}
			}
			for id := range f.byID {
				more := maxPerEndpoint
				if !test.full {
					more++
				} else if test.jobs < more {
					more = test.jobs
				}
				l.rooms = append(l.rooms, allowance{webhookID: id, more: more})
			}
			f.begin(l, jobs, time.Now())
			at := 0
			for i, j := range jobs {
				if f.end(j, &answer{}); early > 0 && at == 0 {
					at = i + 1
				}
			}
			if at != test.want || early > 1 {
				t.Errorf("%d early claims, the first after %d POSTs, want it after %d", early, at, test.want)
			}
		})
	}
}

// Only a full batch lets the next one wait.
func TestOnlyBurstsWaitForRoom(t *testing.T) {
	t.Parallel()
	w := newFreshWorld(t, "http://127.0.0.1:9/hooks")
	for _, events := range []int{1, handOverMost - 1, handOverMost} {
		facts := make([]event.Fact, events)
		for i := range facts {
			facts[i] = w.factOfAge(t, 0)
		}
		if err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
			return w.handleFacts(t.Context(), tx, facts)
		}); err != nil {
			t.Fatal(err)
		}
		if want := events == handOverMost; w.handed.burst != want {
			t.Errorf("after a batch of %d events, the next one waits: %t, want %t", events, w.handed.burst, want)
		}
		if w.beginBatch(); w.handed.burst {
			t.Error("a batch leaves a burst to the one after the next")
		}
	}
}

// A fan-out that meets a claim waits for it, so that its deliveries are handed over. A claim that hangs delays it only
// briefly.
func TestFanOutWaitsForClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newClaimLock()
		l.lock()
		began := time.Now()
		if l.lockWithin(takingLimit) || time.Since(began) != takingLimit {
			t.Errorf("the lock of another claim was taken, or given up after %s, want %s", time.Since(began), takingLimit)
		}
		time.AfterFunc(takingLimit/2, l.unlock)
		if !l.lockWithin(takingLimit) {
			t.Error("the lock was not taken when the other claim ended")
		}
	})
}
