package webhooks

import (
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/modules/webhooks/post"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// claimNew queues events for an endpoint and claims all of them.
func (w *world) claimNew(t *testing.T, endpoint *ent.Webhook, events int) []delivery {
	t.Helper()
	w.flights.byID[endpoint.ID] = &endpointState{tried: true, prompt: true, used: time.Now()} // it has room for four
	w.queueEvents(t, events)
	jobs, err := w.claim(t.Context(), events, lease)
	if err != nil || len(jobs) != events {
		t.Fatalf("claimed %d deliveries, %v; want %d", len(jobs), err, events)
	}
	return jobs
}

// settleWith stores the same status as the outcome of all jobs.
func settleWith(t *testing.T, s *Service, status int, jobs ...delivery) {
	t.Helper()
	results := make([]worker.Result[delivery, answer], len(jobs))
	for i, d := range jobs {
		value := answer{Result: post.Result{Status: status, Response: "text"}}
		results[i] = worker.Result[delivery, answer]{Job: d, Value: value}
	}
	if err := s.settle(t.Context(), results); err != nil {
		t.Fatal(err)
	}
}

// A first attempt has no row of its own while it runs, and the log shows it nevertheless.
func TestLogShowsRunningFirstAttempt(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.block = make(chan struct{})
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, r.URL)
	w.run(t)
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the attempt runs", func() bool { return len(r.received()) == 1 })
	if n := w.count(t, `SELECT (SELECT count(*) FROM webhook_attempts) + (SELECT count(*) FROM webhook_works)`); n != 0 {
		t.Errorf("the running attempt has %d rows of its own, want none", n)
	}
	filter := Filter{Request: page.Request{Limit: 10}, State: pending}
	found, err := w.Deliveries(t.Context(), ada, made.ID, filter)
	n, countErr := w.CountDeliveries(t.Context(), ada, made.ID, filter, 10)
	if err != nil || countErr != nil || len(found.Items) != 1 || n != 1 || found.Items[0].Attempts != 1 {
		t.Fatalf("%d pending deliveries are listed and %d counted, %v, %v; want one with an attempt",
			len(found.Items), n, err, countErr)
	}
	d := found.Items[0]
	attempts, err := w.Attempts(t.Context(), ada, d.ID)
	if a := attempts[d.ID]; err != nil || len(a) != 1 || a[0].Number != 1 || a[0].Outcome != nil ||
		time.Since(a[0].StartedAt) > time.Hour {
		t.Errorf("the attempts are %v, %v; want a running one", a, err)
	}
	if foreign, err := w.Attempts(t.Context(), eve, d.ID); err != nil || len(foreign) != 0 {
		t.Errorf("another account reads the attempts %v, %v", foreign, err)
	}
	if _, err := w.Replay(t.Context(), ada, d.ID, nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Replay returned %v, want a conflict", err)
	}
	done, err := w.Recover(t.Context(), ada, made.ID, Recovery{Since: time.Now().Add(-time.Hour)})
	if err != nil || done.Count != 0 {
		t.Errorf("Recover queued %d deliveries, %v; want none", done.Count, err)
	}
	if n := w.count(t, `SELECT (`+waitingCountSQL+`)::int`); n != 1 {
		t.Errorf("the metric counts %d deliveries, want 1", n)
	}
	close(r.block)
	eventually(t, "the attempt is settled", func() bool {
		return w.onlyDelivery(t, made.ID).State == webhookdelivery.StateDelivered
	})
	attempts, err = w.Attempts(t.Context(), ada, d.ID)
	if a := attempts[d.ID]; err != nil || len(a) != 1 || *a[0].Outcome != webhookattempt.OutcomeDelivered ||
		a[0].Response != "thanks" {
		t.Errorf("the attempts are %v, %v; want a delivered one", a, err)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_claims`); n != 0 {
		t.Errorf("%d claims remain, want none", n)
	}
}

// If the process stops before all outcomes of a claim are stored, the other attempts are repeated. An outcome that
// arrives later completes its attempt and does not change the delivery.
func TestEndOfLeaseRepeatsUnfinishedFirstAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	jobs := w.claimNew(t, made, 4)
	settleWith(t, w.Service, http.StatusOK, jobs[0])
	settleWith(t, w.Service, http.StatusInternalServerError, jobs[1]) // waits for its retry
	other := w.newOtherProcess(t, numberedNode{})
	other.flights.byID[made.ID] = &endpointState{tried: true, prompt: true, used: time.Now()}
	if again, err := other.claim(t.Context(), 10, lease); err != nil || len(again) != 0 {
		t.Fatalf("another process claimed %d deliveries during the lease, %v; want none", len(again), err)
	}
	w.exec(t, `UPDATE webhook_claims SET due_at = now()`)
	other.expired = time.Time{}
	again, err := other.claim(t.Context(), 10, lease)
	if err != nil || len(again) != 2 || again[0].attempt != 2 || again[0].round != 2 || again[0].first != nil {
		t.Fatalf("another process claimed %+v, %v; want the second attempts of two deliveries", again, err)
	}
	settleWith(t, w.Service, http.StatusOK, jobs[2:]...)
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`); n != 1 {
		t.Errorf("%d deliveries are delivered after a late outcome, want 1", n)
	}
	settleWith(t, other, http.StatusBadGateway, again...)
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id WHERE d.id = ANY(ARRAY[$1, $2])
		AND (a.number = 1 AND a.fence = 1 AND a.outcome = 'delivered' OR a.number = 2 AND a.outcome = 'failed') AND d.state = 'pending' AND d.attempts = 2`,
		jobs[2].id, jobs[3].id); n != 4 {
		t.Errorf("%d attempts are complete, want two of both deliveries", n)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_works`); n != 3 {
		t.Errorf("%d deliveries wait for a retry, want 3", n)
	}
}

// A settlement whose commit was not confirmed is repeated.
func TestRepeatedSettlementOfFirstAttemptsChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	jobs := w.claimNew(t, made, 3)
	for _, done := range []int{0, 2} { // while the claim exists, and after its end
		for range 2 {
			settleWith(t, w.Service, http.StatusOK, jobs[0])
			settleWith(t, w.Service, http.StatusInternalServerError, jobs[1])
			jobs[0].first.left.Store(int64(3 - done)) // the process has no confirmation
		}
		settleWith(t, w.Service, http.StatusOK, jobs[2])
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM webhook_claims`:                                                                     0,
		`SELECT count(*) FROM webhook_attempts WHERE number = 1`:                                                  3,
		`SELECT count(*) FROM webhook_works WHERE attempts = 1 AND due_at > now()`:                                1,
		`SELECT count(*) FROM webhook_deliveries WHERE attempts = 1 AND state = 'delivered' AND due_at IS NULL`:   2,
		`SELECT count(*) FROM webhook_deliveries d JOIN webhook_works q USING (id) WHERE d.status_code = 500`:     1,
		`SELECT count(*) FROM webhook_deliveries d JOIN webhook_works q USING (id) WHERE d.due_at IS NULL`:        0,
		`SELECT count(*) FROM webhook_attempts WHERE response = 'text' AND finished_at IS NOT NULL AND fence = 1`: 3,
	} {
		if n := w.count(t, query); n != want {
			t.Errorf("%s = %d, want %d", query, n, want)
		}
	}
}

// Deliveries whose first attempt runs fail with their endpoint, and the outcome is still stored.
func TestDeletedEndpointEndsRunningFirstAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	jobs := w.claimNew(t, made, 2)
	if err := w.Delete(t.Context(), ada, made.ID); err != nil {
		t.Fatal(err)
	}
	settleWith(t, w.Service, http.StatusOK, jobs[0])
	settleWith(t, w.Service, http.StatusInternalServerError, jobs[1])
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'failed' AND error = $1`, endpointDeleted); n != 2 {
		t.Errorf("%d deliveries have failed with their endpoint, want 2", n)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_attempts WHERE outcome IS NOT NULL`); n != 2 {
		t.Errorf("%d outcomes are stored, want 2", n)
	}
	if n := w.count(t, `SELECT (SELECT count(*) FROM webhook_claims) + (SELECT count(*) FROM webhook_works)`); n != 0 {
		t.Errorf("%d claims and work rows remain, want none", n)
	}
}

// First attempts that ran when a backup was taken count as due before it, and can be dropped.
func TestDropsRunningFirstAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	jobs := w.claimNew(t, made, 2)
	settleWith(t, w.Service, http.StatusOK, jobs[0])
	after := time.Now().Add(time.Second)
	if n, err := w.CountDue(t.Context(), after); err != nil || n != 1 {
		t.Errorf("%d deliveries are due, %v; want 1", n, err)
	}
	if n, err := w.CountDue(t.Context(), time.Now().Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("%d deliveries were due an hour ago, %v; want none", n, err)
	}
	if n, err := w.DropDue(t.Context(), after, "restored"); err != nil || n != 1 {
		t.Errorf("dropped %d deliveries, %v; want 1", n, err)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
		WHERE d.id = $1 AND d.state = 'failed' AND d.error = 'restored' AND a.outcome = 'unknown'`, jobs[1].id); n != 1 {
		t.Error("the delivery that was dropped has not failed with an unknown attempt")
	}
}

// Released deliveries are due again, and the end of the claim's lease does not concern them.
func TestReleasedFirstAttemptsLeaveTheirClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.addEndpoint(t, ada, newReceiver(t).URL)
	jobs := w.claimNew(t, made, 3)
	if err := w.releaseClaims(t.Context(), jobs[:1]); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, `SELECT cardinality(delivery_ids) FROM webhook_claims`); n != 2 {
		t.Errorf("the claim has %d deliveries, want 2", n)
	}
	again, err := w.claim(t.Context(), 10, lease)
	if err != nil || len(again) != 1 || again[0].id != jobs[0].id || again[0].attempt != 1 {
		t.Fatalf("claimed %+v, %v; want the first attempt of the released delivery", again, err)
	}
	w.exec(t, `UPDATE webhook_claims SET due_at = now() WHERE id = $1`, jobs[1].first.id)
	w.expired = time.Time{}
	if err := w.expireClaims(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_works WHERE id <> $1`, jobs[0].id); n != 2 {
		t.Errorf("%d deliveries are due after the end of the lease, want the other 2", n)
	}
	settleWith(t, w.Service, http.StatusOK, again...)
	if n := w.count(t, `SELECT count(*) FROM webhook_claims`); n != 0 {
		t.Errorf("%d claims remain, want none", n)
	}
}
