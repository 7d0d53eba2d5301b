package automations

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// raceRounds returns the number of rounds of each race: a few by default, or POSTRIDER_RACE_ROUNDS in `make
// races`.
func raceRounds() int {
	if n, err := strconv.Atoi(os.Getenv("POSTRIDER_RACE_ROUNDS")); err == nil {
		return n
	}
	return 20
}

// runConcurrently calls functions concurrently and waits for all of them.
func runConcurrently(list ...func()) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for _, f := range list {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			f()
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

// postFrom returns a function that posts an event of one person through one process.
func postFrom(t *testing.T, s *Service, name, user, email string, into *ingest.Result) func() {
	return func() {
		answer, err := s.Post(context.WithoutCancel(t.Context()),
			ingest.Post{AccountID: sendingtest.Account, Name: name, UserID: user, Email: email,
				Data: json.RawMessage(`{}`), Source: "api"})
		if err != nil {
			t.Errorf("post %s: %v", name, err)
		}
		*into = answer
	}
}

// A trigger and the event that its run waits for reach two processes concurrently. The second to commit sees
// the first.
func TestTriggerRacesAwaitedEventAcrossProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start"}`, `{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`)
	resumed := 0
	for i := range raceRounds() {
		user := fmt.Sprint("u", i)
		var a, b ingest.Result
		runConcurrently(postFrom(t, w.Service, "start", user, "", &a), postFrom(t, second, "go", user, "", &b))
		earlier := b.Event.CreatedAt.Before(a.Event.CreatedAt)
		if a.Matched != 1 || (b.Resumed == 1) == earlier {
			t.Fatalf("round %d: first %s, then %s; awaited event first: %t", i, formatCounters(a), formatCounters(b),
				earlier)
		}
		resumed += b.Resumed
	}
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != resumed {
		t.Errorf("%d runs were resumed, and the runs are %v", resumed, got)
	}
}

// A run cancelled between its claim and the commit of its mail sends nothing.
func TestCancelRacesSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start", "cancel_on_events": ["stop"]}`, mail)
	cancelled := 0
	for i := range raceRounds() {
		user := fmt.Sprint("u", i)
		w.postAs(t, "start", user, user+"@example.net", `{}`)
		var stop ingest.Result
		runConcurrently(func() { w.drain(t) }, postFrom(t, second, "stop", user, "", &stop))
		w.drain(t)
		cancelled += stop.Cancelled
		sent := w.Count(t, `emails WHERE "to"::text LIKE '%`+user+`@%'`)
		if sent+stop.Cancelled != 1 {
			t.Fatalf("round %d: %d mails sent and %d runs counted as cancelled; want exactly one of the two", i, sent,
				stop.Cancelled)
		}
	}
	if got := w.countStatuses(t); got["cancelled"] != cancelled || got["completed"] != raceRounds()-cancelled {
		t.Errorf("%d were counted as cancelled, and the runs are %v", cancelled, got)
	}
}

// The order is fixed: the claim exists, the cancellation commits, then the mail is attempted.
func TestCancelledClaimSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start", "cancel_on_events": ["stop"]}`, mail)
	w.post(t, "start", `{}`)
	claimed, err := w.steps.Claim(t.Context(), 10, time.Minute)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %d (%v), want 1", len(claimed), err)
	}
	if got := formatCounters(w.post(t, "stop", `{}`)); got != "0 matched, 0 resumed, 1 cancelled" {
		t.Errorf("stop: %s", got)
	}
	if err := w.steps.TakeSteps(t.Context(), claimed); err != nil {
		t.Errorf("taking the step of a cancelled run returned %v", err)
	}
	if n := w.Count(t, "emails"); n != 0 {
		t.Errorf("%d emails, want none", n)
	}
}

// Two processes hold the same run because the lease of the first expired. Only one email is sent.
func TestTwoClaimsOfRunSendOneMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start"}`, mail)
	for i := range raceRounds() {
		w.postAs(t, "start", fmt.Sprint("u", i), "bob@example.net", `{}`)
		old, err := w.steps.Claim(t.Context(), 10, time.Minute)
		if err != nil || len(old) != 1 {
			t.Fatalf("claimed %d (%v), want 1", len(old), err)
		}
		w.Exec(t, `UPDATE automation_works SET due_at = now()`)
		fresh, err := second.steps.Claim(t.Context(), 10, time.Minute)
		if err != nil || len(fresh) != 1 {
			t.Fatalf("claimed again %d (%v), want 1", len(fresh), err)
		}
		runConcurrently(
			func() {
				if err := w.steps.TakeSteps(t.Context(), old); err != nil {
					t.Error(err)
				}
			},
			func() {
				if err := second.steps.TakeSteps(t.Context(), fresh); err != nil {
					t.Error(err)
				}
			})
	}
	if n := w.Count(t, "emails"); n != raceRounds() {
		t.Errorf("%d runs have sent %d mails", raceRounds(), n)
	}
	if n := w.Count(t, "facts WHERE type = 'automation.completed'"); n != raceRounds() {
		t.Errorf("%d runs have a completed fact, want %d", n, raceRounds())
	}
}

// Ten concurrent triggers for one person, some identified only by address, start one run.
func TestConcurrentTriggersWithReEntryOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start", "re_entry": "once"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	for i := range raceRounds() {
		email := fmt.Sprintf("u%d@example.net", i)
		answers := make([]ingest.Result, 10)
		var list []func()
		for j := range answers {
			s, user := w.Service, fmt.Sprint("u", i)
			if j%2 == 1 {
				s = second
			}
			if j%3 == 1 {
				user = ""
			}
			list = append(list, postFrom(t, s, "start", user, email, &answers[j]))
		}
		runConcurrently(list...)
		matched := 0
		for _, a := range answers {
			matched += a.Matched
		}
		if matched != 1 {
			t.Fatalf("round %d: ten triggers started %d runs, want 1", i, matched)
		}
	}
	if n := w.Count(t, "automation_runs"); n != raceRounds() {
		t.Errorf("%d runs, want %d", n, raceRounds())
	}
}

// The event and the timeout of a wait occur concurrently, and one of them wins.
func TestEventRacesTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start"}`,
		`{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D", "on_timeout": "fail"}`)
	resumed := 0
	for i := range raceRounds() {
		user := fmt.Sprint("u", i)
		w.postAs(t, "start", user, "", `{}`)
		w.Exec(t, `UPDATE automation_works SET due_at = now()`)
		var answer ingest.Result
		runConcurrently(func() { w.drain(t) }, postFrom(t, second, "go", user, "", &answer))
		w.drain(t)
		resumed += answer.Resumed
	}
	if got := w.countStatuses(t); got["completed"] != resumed || got["failed"] != raceRounds()-resumed {
		t.Errorf("%d waits were counted as resumed, and the runs are %v", resumed, got)
	}
}

// The event arrives while the run moves on to its wait, and is never lost.
func TestEventRacesStepBeforeWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start"}`, mail+
		`, {"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D", "on_timeout": "fail"}`)
	for i := range raceRounds() {
		user := fmt.Sprint("u", i)
		w.postAs(t, "start", user, "bob@example.net", `{}`)
		var answer ingest.Result
		runConcurrently(func() { w.drain(t) }, postFrom(t, second, "go", user, "", &answer))
		w.drain(t)
		if got := w.countStatuses(t); got["completed"] != i+1 {
			t.Fatalf("round %d: the runs are %v; the event was lost (%s)", i, got, formatCounters(answer))
		}
	}
}

// Equal requests with one key store one event and get identical responses.
func TestEqualEventsWithSameKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	bodies := make([]string, 20)
	var list []func()
	for i := range bodies {
		list = append(list, func() {
			claim, earlier := claimOf(t, w.Idempotency, "key", `{"name":"start"}`)
			if earlier != nil {
				bodies[i] = string(earlier.Body)
				return
			}
			render := func(a ingest.Result) idempotency.Response {
				return idempotency.Response{Status: 202, Body: []byte(a.Event.ID + " " + formatCounters(a))}
			}
			answer, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: "start", Source: "api",
				Claim: claim, Render: render})
			switch {
			case err != nil:
				t.Errorf("post: %v", err)
			case answer.Replay != nil:
				bodies[i] = string(answer.Replay.Body)
			default:
				bodies[i] = string(render(answer).Body)
			}
		})
	}
	runConcurrently(list...)
	for i, b := range bodies {
		if b == "" || b != bodies[0] {
			t.Errorf("response %d is %q, the first is %q", i, b, bodies[0])
		}
	}
	if n := w.Count(t, "custom_events"); n != 1 || w.Count(t, "automation_runs") != 1 {
		t.Errorf("%d events and %d runs, want one of each", n, w.Count(t, "automation_runs"))
	}
}
