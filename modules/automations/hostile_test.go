package automations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/web/egress"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// runError returns the error of the only run.
func (w *world) runError(t *testing.T) string {
	t.Helper()
	r, err := w.DB.Ent.AutomationRun.Query().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r.Error
}

// Many events for one person are all accepted, at most 100 runs are live, and no other person is delayed.
func TestLimitsLiveRunsPerPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	const events = 2_000
	var matched, next atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for next.Add(1) <= events {
				answer, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: "start",
					UserID: "one", Data: json.RawMessage(`{}`), Source: "api"})
				if err != nil {
					t.Errorf("post: %v", err)
					return
				}
				matched.Add(int64(answer.Matched))
			}
		})
	}
	all.Wait()
	if n := w.Count(t, "custom_events"); n != events {
		t.Errorf("%d of %d events are stored", n, events)
	}
	if n := w.Count(t, "automation_works"); n != 100 || matched.Load() != 100 {
		t.Errorf("%d runs are live and %d were counted, want 100", n, matched.Load())
	}
	if n := w.Count(t, `custom_events WHERE matches @> '[{"outcome": "too_many_runs"}]'`); n != events-100 {
		t.Errorf("%d events report too many runs, want %d", n, events-100)
	}
	if got := formatCounters(w.postAs(t, "start", "another", "", `{}`)); got != "1 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an event of another person returned %s", got)
	}
}

// Only a few expensive conditions are evaluated per event, and the events of their account do not delay those
// of other accounts.
func TestExpensiveConditionsDoNotDelayOtherAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 40 {
		w.activate(t, `{"event": "dear", "conditions": "event.data.s.matches('(a?){9}(b|c|aa?)*a{20}b')"}`,
			`{"key": "d", "type": "delay", "duration": "P1D"}`)
	}
	data := `{"s": "` + strings.Repeat("a", 40_000) + `"}`
	left := 0
	for _, m := range w.postAs(t, "dear", "one", "", data).Event.Matches {
		if strings.Contains(m.Error, "took too much") {
			left++
		}
	}
	if left < 10 {
		t.Errorf("%d of 40 expensive conditions were skipped, want at least 10", left)
	}
	const events, other = 12, "acc_01kf0m4w7he6x8q2v5b3n9c1tb"
	n := int64(0)
	for tries := 0; n < events/2 && tries < 5; tries++ { // a machine may stall, but not in every attempt
		var pending atomic.Int64
		var all sync.WaitGroup
		for range events {
			pending.Add(1)
			all.Go(func() {
				defer pending.Add(-1)
				if _, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: "dear",
					UserID: "one", Data: json.RawMessage(data), Source: "api"}); err != nil {
					t.Errorf("post an expensive event: %v", err)
				}
			})
		}
		if _, err := w.Post(t.Context(), ingest.Post{AccountID: other, Name: "light", UserID: "two",
			Data: json.RawMessage(`{}`), Source: "api"}); err != nil {
			t.Errorf("post an event of another account: %v", err)
		}
		n = pending.Load()
		all.Wait()
	}
	if n < events/2 {
		t.Errorf("when the event of another account was stored, %d of %d expensive events were left; want most left, because it must not wait for them", n, events)
	}
}

// A division by zero makes an expression false, and the event reports the reason.
func TestDivisionByZeroIsFalse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start", "conditions": "1 / int(event.data.n) > 0"}`,
		`{"key": "c", "type": "condition", "if": "1 % int(event.data.m) == 0", "on_false": "end"}, `+mail)
	answer := w.post(t, "start", `{"n": 0, "m": 0}`)
	if answer.Matched != 0 || len(answer.Event.Matches) != 1 ||
		answer.Event.Matches[0].Outcome != ingest.ConditionError || answer.Event.Matches[0].Error == "" {
		t.Errorf("the trigger that divides by zero is %+v", answer.Event.Matches)
	}
	w.post(t, "start", `{"n": 1, "m": 0}`)
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 1 || w.Count(t, "emails") != 0 {
		t.Errorf("with a condition that divides by zero the runs are %v with %d mails, want it false", got, w.Count(t, "emails"))
	}
	if n := w.Count(t, "automation_steps WHERE output->>'error' LIKE '%zero%'"); n != 1 {
		t.Errorf("%d steps report a division by zero, want 1", n)
	}
}

// A webhook step sends no request to a private address, no matter which name resolves to it.
func TestWebhookStepCannotReachPrivateAddresses(t *testing.T) {
	t.Parallel()
	hits := atomic.Int64{}
	private := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer private.Close()
	here := netip.MustParseAddrPort(private.Listener.Addr().String())
	w := newWorld(t)
	guard := egress.NewGuard(nil)
	var rebound atomic.Bool
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "rebound.example" && !rebound.Load() {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		}
		return []netip.Addr{here.Addr()}, nil
	}
	w.Service = w.newConfigured(t,
		Config{steps.Config{Targets: egress.NewTargetChecker(guard, lookup, false),
			Client: egress.NewClient(egress.ClientConfig{Guard: guard, Lookup: lookup})}})
	w.activate(t, `{"event": "start"}`,
		fmt.Sprintf(`{"key": "call", "type": "webhook", "url": "https://rebound.example:%d/"}`, here.Port()))
	rebound.Store(true)
	w.post(t, "start", `{}`)
	w.drain(t)
	if got := w.runError(t); hits.Load() != 0 || len(got) < 15 || got[:15] != "webhook_refused" {
		t.Errorf("%d requests reached a private address, and the run failed with %q", hits.Load(), got)
	}
	for _, target := range []string{"https://10.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest",
		"https://private.example/", "https://localhost/", "http://localhost/"} {
		a, err := w.Create(t.Context(), sendingtest.Account,
			fmt.Appendf(nil, `{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "webhook", "url": %q}]}`,
				target), nil)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); codeOf(err) != "validation_error" {
			t.Errorf("activating an automation that calls %s returned %v, want an error", target, err)
		}
	}
	for _, target := range []string{"http://example.com/", "https://user:word@example.com/", "ftp://example.com/",
		"https://example.com/#a"} {
		if _, err := w.Create(t.Context(), sendingtest.Account,
			fmt.Appendf(nil, `{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "webhook", "url": %q}]}`,
				target), nil); codeOf(err) != "validation_error" {
			t.Errorf("URL %s returned %v, want an error", target, err)
		}
	}
}

// After a receiver responds 500, the step is retried after 30 s, 2 m, 10 m, 1 h and 3 h, with the same key.
func TestRetriesWebhookStep(t *testing.T) {
	t.Parallel()
	var keys []string
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		rw.WriteHeader(http.StatusBadGateway)
	}))
	defer receiver.Close()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, fmt.Sprintf(`{"key": "call", "type": "webhook", "url": %q}`, receiver.URL))
	w.post(t, "start", `{}`)
	for _, want := range []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour,
		3 * time.Hour} {
		w.drain(t)
		work, err := w.DB.Ent.AutomationWork.Query().Only(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if wait := time.Until(work.DueAt); wait > want || wait < want-20*time.Second {
			t.Errorf("after %d tries the step waits %s, want %s", len(keys), wait, want)
		}
		w.Exec(t, `UPDATE automation_works SET due_at = now()`)
	}
	w.drain(t)
	if len(keys) != 6 || keys[0] != keys[5] || w.countStatuses(t)["failed"] != 1 {
		t.Errorf("the step was tried %d times with keys %q, and the runs are %v", len(keys), keys,
			w.countStatuses(t))
	}
}

// While a step executes, its run is erased or old runs of its account are purged. An erased run sends nothing,
// and a live run is never purged.
func TestErasureAndRetentionDuringStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, mail)
	for i := range raceRounds() {
		user := fmt.Sprint("u", i)
		address := user + "@example.net"
		w.postAs(t, "start", user, address, `{}`)
		runConcurrently(func() { w.drain(t) }, func() {
			var err error
			if i%2 == 0 {
				_, err = w.Erase(t.Context(), sendingtest.Account, address)
			} else {
				_, err = w.EraseUser(t.Context(), sendingtest.Account, user)
			}
			if err != nil {
				t.Errorf("erase: %v", err)
			}
		}, func() {
			if _, err := w.Purge(t.Context(), sendingtest.Account, time.Now().Add(-time.Minute)); err != nil {
				t.Errorf("purge: %v", err)
			}
		})
		if n := w.Count(t, "automation_runs") + w.Count(t, "automation_works") + w.Count(t,
			"custom_events") + w.Count(t, "facts WHERE type LIKE 'automation.%'"); n != 0 {
			t.Fatalf("round %d: %d rows of an erased person are left", i, n)
		}
		w.drain(t)
	}
	if n := w.Count(t, "automation_steps"); n != 0 {
		t.Errorf("%d steps of erased runs are left", n)
	}
}

// Two concurrent retries of one run, and a retry concurrent with a cancellation, have one winner each.
func TestRetryRacesCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start"}`,
		`{"key": "mail", "type": "send_email", "from": "ada@example.com", "to": "nobody", "subject": "s", "text": "t"}`)
	for i := range raceRounds() {
		w.postAs(t, "start", fmt.Sprint("u", i), "", `{}`)
		w.drain(t)
		run, err := w.DB.Ent.AutomationRun.Query().Order(ent.Desc("id")).First(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var first, again, cancel error
		runConcurrently(
			func() { _, first = w.Retry(t.Context(), sendingtest.Account, run.ID, nil) },
			func() { _, again = second.Retry(t.Context(), sendingtest.Account, run.ID, nil) },
			func() { _, cancel = second.Cancel(t.Context(), sendingtest.Account, run.ID, nil) })
		if (first == nil) == (again == nil) {
			t.Fatalf("round %d: two retries of one run returned %v and %v; want one to succeed", i, first, again)
		}
		status := w.countStatuses(t)
		if cancelled := status["cancelled"]; (cancel == nil) != (w.Count(t, "automation_works") == 0) {
			t.Fatalf("round %d: the cancellation returned %v, and the runs are %v (%d cancelled)", i, cancel,
				status, cancelled)
		}
		w.drain(t)
	}
}

// Equal requests with one key get one stored response and restart the run once.
func TestStoresRunResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	w.post(t, "start", `{}`)
	run, err := w.DB.Ent.AutomationRun.Query().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	taken := errors.New("another request was faster")
	if _, err := w.Cancel(t.Context(), sendingtest.Account, run.ID,
		func(context.Context, idempotency.Execer, RunDetail) error { return taken }); !errors.Is(err, taken) {
		t.Errorf("a cancellation whose key is taken returned %v", err)
	}
	if got := w.countStatuses(t); got["waiting"] != 1 {
		t.Errorf("a cancellation whose response could not be stored took effect: %v", got)
	}
	var kept RunDetail
	out, err := w.Cancel(t.Context(), sendingtest.Account, run.ID,
		func(_ context.Context, _ idempotency.Execer, r RunDetail) error { kept = r; return nil })
	if err != nil || kept.Status != "cancelled" || out.Status != "cancelled" || out.EndedAt == nil {
		t.Errorf("the cancellation returned %s and stored %s (%v)", out.Status, kept.Status, err)
	}
}
