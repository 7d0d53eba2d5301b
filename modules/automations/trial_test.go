package automations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const waits = `{"key": "sleep", "type": "delay", "duration": "P30D"}, {"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D"}`

// draftOf creates an automation and does not activate it.
func (w *world) draftOf(t *testing.T, trigger, list string) *ent.Automation {
	t.Helper()
	a, err := w.Create(t.Context(), sendingtest.Account,
		fmt.Appendf(nil, `{"name": "Draft", "trigger": %s, "steps": [%s]}`, trigger, list), nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *world) try(t *testing.T, automationID, name, data string, send bool) (TrialResult, error) {
	t.Helper()
	return w.RunTrial(t.Context(), w.caller(),
		Trial{AutomationID: automationID, Send: send,
			Render: func(TrialResult) idempotency.Response { return idempotency.Response{} },
			Post: ingest.Post{AccountID: sendingtest.Account, Name: name, UserID: "u1", Email: "bob@example.net",
				Data: json.RawMessage(data), Source: "dashboard"}})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.draftOf(t, `{"event": "start", "conditions": "event.data.n > 1"}`, waits+`, `+mail)
	other := w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	for data, want := range map[string]string{`{"n": 5}`: "sleep completed 0s, w received 0s, mail sent 0s, completed",
		`{"n": 1}`: "not_started", `{}`: "not_started"} {
		tried, err := w.try(t, a.ID, "start", data, false)
		if err != nil {
			t.Fatal(err)
		}
		matched := 1
		if want == "not_started" {
			matched = 0
		}
		if got := formatSimulation(*tried.Played); got != want || tried.Played.Version != nil ||
			tried.Matched != matched || tried.Resumed+tried.Cancelled != 0 || tried.RunID != "" {
			t.Errorf("a dry run with %s played %q of version %v, counters %s; want %q of the draft, %d matched", data,
				got, tried.Played.Version, formatCounters(tried.Result), want, matched)
		}
	}
	if tried, err := w.try(t, a.ID, "another", `{}`, false); err != nil || tried.Matched != 0 ||
		formatSimulation(*tried.Played) != "not_started" {
		t.Errorf("a dry run with an event of another name returned %+v, %v; want no run", tried, err)
	}
	if n := w.Count(t, "emails") + w.Count(t, "automation_runs") + w.Count(t, "automation_steps") + w.Count(t,
		"facts WHERE type LIKE 'automation.%'") + w.Count(t, "automation_entries"); n != 0 {
		t.Errorf("dry runs stored %d rows in addition to their events, want none; automation %s listens too",
			n, other.ID)
	}
	if n := w.Count(t, "custom_events WHERE trial AND source = 'dashboard'"); n != 4 {
		t.Errorf("%d events of trials are stored, want 4", n)
	}
}

// A trial run that sends skips waits and sends its messages, and has no other effect.
func TestTrialSendsWithoutSideEffects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var called atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	t.Cleanup(hook.Close)
	waiting := w.activate(t, `{"event": "begin", "cancel_on_events": ["stop"]}`,
		`{"key": "w", "type": "wait_for_event", "event": "start", "timeout": "P1D"}`)
	w.post(t, "begin", `{}`)
	a := w.activate(t, `{"event": "start"}`,
		`{"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D"}`)
	if _, err := w.Change(t.Context(), sendingtest.Account, a.ID,
		map[string]json.RawMessage{"steps": json.RawMessage(`[` + waits + `, ` + mail +
			`, {"key": "call", "type": "webhook", "url": "` + hook.URL + `"}]`)}, ""); err != nil {
		t.Fatal(err)
	}
	before := w.eventsOfRuns(t)
	tried, err := w.try(t, a.ID, "start", `{"name": "Bob"}`, true)
	if err != nil || tried.RunID == "" || formatCounters(tried.Result) != "1 matched, 0 resumed, 0 cancelled" {
		t.Fatalf("the trial returned %+v, %v; want a run and no effect on others", tried, err)
	}
	if got := w.post(t, "paid", `{}`); formatCounters(got) != "0 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an event that the trial does not wait for returned %s, want no effect", formatCounters(got))
	}
	w.drain(t)
	run, err := w.Run(t.Context(), sendingtest.Account, tried.RunID)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, s := range run.Steps {
		steps = append(steps, s.Key+" "+s.Status)
	}
	if diff := cmp.Diff("completed 0: sleep completed, w received, mail sent, call completed",
		fmt.Sprintf("%s %d: %s", run.Status, run.Version, strings.Join(steps, ", "))); diff != "" {
		t.Errorf("the trial run (-want +got):\n%s", diff)
	}
	if n := w.Count(t, "emails WHERE run_id = '"+tried.RunID+"'"); n != 1 || called.Load() != 1 {
		t.Errorf("the trial sent %d emails and %d requests, want one of each", n, called.Load())
	}
	if after := w.eventsOfRuns(t); after != before {
		t.Errorf("facts after the trial: %s, want none in addition to %s", after, before)
	}
	if n := w.Count(t, "automation_works WHERE automation_id = '"+waiting.ID+"' AND state = 'waiting'"); n != 1 {
		t.Error("the run that waits for the event continued; the trial event must not affect it")
	}
	if n := w.Count(t, "automation_entries WHERE automation_id = '"+a.ID+"'"); n != 0 {
		t.Errorf("the trial counted as %d entries, want none", n)
	}
	if _, err := w.Retry(t.Context(), sendingtest.Account, tried.RunID, nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("retrying the run of a trial returned %v, want a conflict", err)
	}
}

// Waits that begin later do not find the event of a trial when they look back.
func TestWaitsIgnoreTrialEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried := w.draftOf(t, `{"event": "paid"}`, mail)
	w.activate(t, `{"event": "begin"}`,
		`{"key": "call", "type": "delay", "duration": "PT1M"}, {"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D"}`)
	w.post(t, "begin", `{}`)
	if _, err := w.try(t, tried.ID, "paid", `{}`, false); err != nil {
		t.Fatal(err)
	}
	w.endWaits(t)
	w.drain(t)
	if got := w.countStatuses(t); got["waiting"] != 1 {
		t.Errorf("the runs are %v, want one waiting", got)
	}
}

func TestRejectsInvalidTrials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, mail)
	stranger := w.caller()
	stranger.AccountID = other
	if _, err := w.RunTrial(t.Context(), stranger,
		Trial{AutomationID: a.ID, Post: ingest.Post{AccountID: other,
			Name: "start"}}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a trial by another account returned %v, want not found", err)
	}
	if _, err := w.Pause(t.Context(), sendingtest.Account, a.ID, true, nil); err != nil {
		t.Fatal(err)
	}
	if tried, err := w.try(t, a.ID, "start", `{}`, false); err != nil || tried.Matched != 1 {
		t.Errorf("a trial of a paused automation returned %+v, %v; want a result", tried, err)
	}
	if _, err := w.Archive(t.Context(), sendingtest.Account, a.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.try(t, a.ID, "start", `{}`, false); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a trial of an archived automation returned %v, want a conflict", err)
	}
	for field, post := range map[string]ingest.Post{"name": {Name: ""}, "email": {Name: "start", Email: "nobody"},
		"data": {Name: "start", Data: json.RawMessage(`[]`)}} {
		post.AccountID = sendingtest.Account
		b := w.draftOf(t, `{"event": "start"}`, mail)
		for _, send := range []bool{false, true} {
			if _, err := w.RunTrial(t.Context(), w.caller(),
				Trial{AutomationID: b.ID, Post: post, Send: send}); fault.Classify(err).Fields[field] == "" {
				t.Errorf("an event with an invalid %s returned %v, want an error in that field", field, err)
			}
		}
	}
}

// A trial run does not depend on the live runs of its automation, because a user waits for it. It is not held,
// counted or cancelled with them, and is not sent hours later along with held runs.
func TestTrialIsNotLiveRun(t *testing.T) {
	t.Parallel()
	pause := func(t *testing.T, w *world, id string) (ActionResult, error) {
		t.Helper()
		return w.Pause(t.Context(), sendingtest.Account, id, true, nil)
	}
	archive := func(t *testing.T, w *world, id string) (ActionResult, error) {
		t.Helper()
		return w.Archive(t.Context(), sendingtest.Account, id, nil)
	}
	activate := func(t *testing.T, w *world, id string) (ActionResult, error) {
		t.Helper()
		if _, err := pause(t, w, id); err != nil {
			return ActionResult{}, err
		}
		return w.Activate(t.Context(), w.caller(), id, Activation{Cancel: true})
	}
	for name, c := range map[string]struct {
		act             func(*testing.T, *world, string) (ActionResult, error)
		before, deleted bool
		held, cancelled int // live runs, according to the response
		want            map[string]int
	}{
		"tested while its automation holds its runs":  {act: pause, before: true, held: 1, want: map[string]int{"completed": 1, "running": 1}},
		"its automation is paused during the test":    {act: pause, held: 1, want: map[string]int{"completed": 1, "running": 1}},
		"its automation is archived during the test":  {act: archive, cancelled: 1, want: map[string]int{"completed": 1, "cancelled": 1}},
		"its automation is deleted during the test":   {act: archive, deleted: true, cancelled: 1, want: map[string]int{"completed": 1, "cancelled": 1}},
		"the live runs are cancelled during the test": {act: activate, cancelled: 1, want: map[string]int{"completed": 1, "cancelled": 1}},
		"the live runs are cancelled before the test": {act: activate, before: true, cancelled: 1, want: map[string]int{"completed": 1, "cancelled": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.activate(t, `{"event": "start"}`, mail)
			w.postAs(t, "start", "live", "live@example.net", `{"name": "Live"}`)
			test := func() TrialResult {
				tried, err := w.try(t, a.ID, "start", `{"name": "Bob"}`, true)
				if err != nil || tried.RunID == "" {
					t.Fatalf("the trial returned %+v, %v; want a run", tried, err)
				}
				return tried
			}
			var tried TrialResult
			if !c.before {
				tried = test()
			}
			acted, err := c.act(t, w, a.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got := orZero(acted.Held); got != c.held {
				t.Errorf("the response reports %d held runs, want %d", got, c.held)
			}
			if got := orZero(acted.Cancelling); got != c.cancelled {
				t.Errorf("the response reports %d runs to be cancelled, want %d", got, c.cancelled)
			}
			if c.before {
				tried = test()
			}
			if c.cancelled > 0 {
				w.runBackground(t) // the trial has not started its step
				if got := w.drainState(t, a.ID); got != "" {
					t.Errorf("draining is still %q, want none because only a trial is left", got)
				}
			}
			if c.deleted {
				if err := w.Delete(t.Context(), sendingtest.Account, a.ID); err != nil {
					t.Errorf("deleting the automation while only a trial is left returned %v", err)
				}
				if n, err := w.Sweep(t.Context()); n != 0 || err != nil {
					t.Errorf("the sweep cancelled %d runs, %v; want none", n, err)
				}
			}
			w.drain(t)
			if diff := cmp.Diff(c.want, w.countStatuses(t)); diff != "" {
				t.Errorf("the runs (-want +got):\n%s", diff)
			}
			if n := w.Count(t, "emails WHERE run_id = '"+tried.RunID+"'"); n != 1 || w.Count(t, "emails") != 1 {
				t.Errorf("the trial sent %d of %d emails, want one of one", n, w.Count(t, "emails"))
			}
		})
	}
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
