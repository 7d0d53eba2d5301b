package automations

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
)

// Ten triggers for one person, some without a user id, reach two processes concurrently. Only one run starts,
// and the next may start when it has ended.
func TestConcurrentTriggersStartOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	w.activate(t, `{"event": "start", "re_entry": "after_completion"}`,
		`{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`)
	for i := range raceRounds() {
		user, email := fmt.Sprint("u", i), fmt.Sprintf("u%d@example.net", i)
		for turn := range 2 {
			answers := make([]ingest.Result, 10)
			var list []func()
			for j := range answers {
				s, id := w.Service, user
				if j%2 == 1 {
					s = second
				}
				if j%3 == 1 {
					id = ""
				}
				list = append(list, postFrom(t, s, "start", id, email, &answers[j]))
			}
			runConcurrently(list...)
			matched := 0
			for _, a := range answers {
				matched += a.Matched
			}
			if matched != 1 {
				t.Fatalf("round %d, run %d: ten triggers started %d runs, want 1", i, turn, matched)
			}
			w.drain(t)
			if got := w.postAs(t, "go", "", email, `{}`); got.Resumed != 1 {
				t.Fatalf("round %d, run %d: the awaited event returned %s, want one run resumed", i, turn,
					formatCounters(got))
			}
			w.drain(t)
		}
	}
	if got := w.countStatuses(t); got["completed"] != 2*raceRounds() || len(got) != 1 {
		t.Errorf("the runs are %v, want %d completed and no others", got, 2*raceRounds())
	}
}

// A trigger and the event that its run waits for reach one process concurrently, among others that fill its
// commits, so that both often share a commit. The event ends the wait if it comes second; otherwise it is
// reported as earlier.
func TestTriggerRacesAwaitedEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, `{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`)
	resumed := 0
	for i := range raceRounds() {
		const people = 8
		starts, goes := make([]ingest.Result, people), make([]ingest.Result, people)
		var list []func()
		for j := range people {
			user := fmt.Sprintf("u%d-%d", i, j)
			list = append(list, postFrom(t, w.Service, "start", user, "", &starts[j]),
				postFrom(t, w.Service, "go", user, "", &goes[j]))
		}
		runConcurrently(list...)
		for j := range people {
			earlier := goes[j].Event.CreatedAt.Before(starts[j].Event.CreatedAt)
			if starts[j].Matched != 1 || (goes[j].Resumed == 1) == earlier {
				t.Fatalf("round %d: first %s, then %s; awaited event first: %t", i, formatCounters(starts[j]),
					formatCounters(goes[j]), earlier)
			}
			resumed += goes[j].Resumed
		}
	}
	w.drain(t)
	if got := w.countStatuses(t)["completed"]; got != resumed {
		t.Errorf("%d runs are completed, want the %d that were resumed", got, resumed)
	}
}

// An automation is paused and activated while its steps execute. Each run sends one email, and none while it is
// held.
func TestPauseRacesSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "PT1S"}, `+mail)
	for i := range raceRounds() {
		user := fmt.Sprint("u", i)
		w.postAs(t, "start", user, user+"@example.net", `{}`)
		w.drain(t)
		w.endWaits(t)
		runConcurrently(func() { w.drain(t) }, func() {
			if _, err := second.Pause(t.Context(), sendingtest.Account, a.ID, true, nil); err != nil {
				t.Errorf("pause: %v", err)
			}
		})
		w.runBackground(t)
		sent := w.Count(t, "emails")
		w.drain(t)
		if now := w.Count(t, "emails"); now != sent {
			t.Fatalf("round %d: %d mails while the run is held, want %d", i, now, sent)
		}
		runConcurrently(func() { w.drain(t) }, func() {
			if _, err := second.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil {
				t.Errorf("activate: %v", err)
			}
		})
		w.runBackground(t)
		w.drain(t)
		if n := w.Count(t, "emails"); n != i+1 {
			t.Fatalf("round %d: %d mails after the automation resumed, want %d: %s", i, n, i+1, w.eventsOfRuns(t))
		}
	}
	if got := w.countStatuses(t); got["completed"] != raceRounds() || len(got) != 1 {
		t.Errorf("the runs are %v, want %d completed and no others", got, raceRounds())
	}
}

// An automation is archived while a step of its run executes. Either the run has sent its email and completed,
// or it is cancelled and has sent nothing.
func TestArchiveRacesSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProcess(t)
	for i := range raceRounds() {
		name := fmt.Sprint("start", i)
		a := w.activate(t, fmt.Sprintf(`{"event": %q}`, name), mail)
		w.postAs(t, name, "u1", "bob@example.net", `{}`)
		runConcurrently(func() { w.drain(t) }, func() {
			if _, err := second.Archive(t.Context(), sendingtest.Account, a.ID, nil); err != nil {
				t.Errorf("archive: %v", err)
			}
		})
		w.runBackground(t)
		w.drain(t)
		if got, sent := w.countStatuses(t), w.Count(t, "emails"); got["completed"] != sent ||
			got["completed"]+got["cancelled"] != i+1 {
			t.Fatalf("round %d: the runs are %v and %d mails were sent, want a mail of each completed run and none of the cancelled ones", i, got, sent)
		}
		late, err := w.Post(context.WithoutCancel(t.Context()),
			ingest.Post{AccountID: sendingtest.Account, Name: name, UserID: "u2", Data: json.RawMessage(`{}`),
				Source: "api"})
		if err != nil || late.Matched != 0 {
			t.Fatalf("round %d: an event after archiving returned %s and the error %v, want no run", i,
				formatCounters(late), err)
		}
	}
}
