package automations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

func TestEventStartsRunThatSends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "user.created", "conditions": "event.data.n > 1"}`, mail+
		`, {"key": "pause", "type": "delay", "duration": "P1D"}, `+
		`{"key": "bye", "type": "send_email", "from": "ada@example.com", "to": "carol@example.net", "subject": "{{steps.mail.status}}", "text": "T"}`)
	if got := formatCounters(w.post(t, "user.created", `{"n": 1}`)); got != "0 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an event for which the condition is false returned %s", got)
	}
	answer := w.post(t, "user.created", `{"n": 2, "name": "Bob"}`)
	if got := formatCounters(answer); got != "1 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an event for which the condition is true returned %s", got)
	}
	w.drain(t)
	if got, want := w.eventsOfRuns(t), "started 0 running, step_completed 0 running"; got != want {
		t.Errorf("webhook events after the first mail: %s, want %s", got, want)
	}
	w.advanceTime(t, 24*time.Hour)
	w.drain(t)
	if got, want := w.eventsOfRuns(t),
		"started 0 running, step_completed 0 running, step_completed 1 running, step_completed 2 running, completed 2 completed"; got != want {
		t.Errorf("webhook events at the end: %s, want %s", got, want)
	}
	emails, err := w.DB.Ent.Email.Query().All(t.Context())
	if err != nil || len(emails) != 2 {
		t.Fatalf("%d emails were sent (%v), want 2", len(emails), err)
	}
	run := answer.Event.Matches[0].RunID
	for i, want := range []string{"Hi Bob bob@example.net", "sent carol@example.net"} {
		e := emails[i]
		if got := e.Subject + " " + e.To[0]; got != want || e.RunID == nil || *e.RunID != run {
			t.Errorf("email %d is %q from run %v, want %q from %s", i, got, e.RunID, want, run)
		}
	}
	detail, err := w.Run(t.Context(), sendingtest.Account, run)
	if err != nil || len(detail.Steps) != 3 || detail.Status != "completed" || detail.EndedAt == nil ||
		detail.Next != nil {
		t.Errorf("the run is %+v with %d steps (%v)", detail.AutomationRun, len(detail.Steps), err)
	}
}

func TestEventEndsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start", "cancel_on_events": ["stop"]}`,
		`{"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D", "conditions": "event.data.id == trigger.data.id", "on_event": "end"}, `+mail)
	w.post(t, "start", `{"id": 1}`)
	for _, c := range []struct{ user, email, data, want string }{
		{"u1", "", `{"id": 2}`, "0 matched, 0 resumed, 0 cancelled"},
		{"u2", "bob@example.net", `{"id": 1}`, "0 matched, 0 resumed, 0 cancelled"}, // another user, even with the same address
		{"", "BOB@example.net", `{"id": 1}`, "0 matched, 1 resumed, 0 cancelled"},   // the address matches in any case
		{"u1", "", `{"id": 1}`, "0 matched, 0 resumed, 0 cancelled"},                // the run has already continued
	} {
		if got := formatCounters(w.postAs(t, "paid", c.user, c.email, c.data)); got != c.want {
			t.Errorf("event paid of user %q %q with %s returned %s, want %s", c.user, c.email, c.data, got, c.want)
		}
	}
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 1 || w.Count(t, "emails") != 0 {
		t.Errorf("runs are %v with %d emails, want one completed run and no email", got, w.Count(t, "emails"))
	}
	w.post(t, "start", `{"id": 3}`)
	w.advanceTime(t, 25*time.Hour)
	w.drain(t)
	if n := w.Count(t, "emails"); n != 1 {
		t.Errorf("after the timeout there are %d emails, want 1", n)
	}
	w.post(t, "start", `{"id": 4}`)
	if got := formatCounters(w.post(t, "stop", `{}`)); got != "0 matched, 0 resumed, 1 cancelled" {
		t.Errorf("the cancelling event returned %s", got)
	}
	w.advanceTime(t, 25*time.Hour)
	w.drain(t)
	if n := w.Count(t, "emails"); n != 1 {
		t.Errorf("after the cancellation there are %d emails, want 1", n)
	}
}

// An event that arrives while the run is at an earlier step is not lost.
func TestWaitFindsEarlierEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, mail+
		`, {"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D", "on_timeout": "fail"}, {"key": "end", "type": "end"}`)
	w.post(t, "start", `{}`)
	if got := formatCounters(w.post(t, "paid", `{"n": 1}`)); got != "0 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an event before the wait returned %s", got)
	}
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 1 {
		t.Errorf("runs are %v, want the wait to have received the earlier event: %s", got, w.eventsOfRuns(t))
	}
}

func TestReEntryModes(t *testing.T) {
	t.Parallel()
	wait := `{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`
	for mode, want := range map[string][]int{ // runs started by the first event, a second one, one by address only, one after the end, one after 8 days
		`"every_time"`:             {1, 1, 1, 1, 1},
		`"once"`:                   {1, 0, 0, 0, 0},
		`"after_completion"`:       {1, 0, 0, 1, 1},
		`{"at_most_every": "P7D"}`: {1, 0, 0, 0, 1},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.activate(t, `{"event": "start", "re_entry": `+mode+`}`, wait)
			matched := func() int { return w.post(t, "start", `{}`).Matched }
			got := []int{matched(), matched(), w.postAs(t, "start", "", "bob@example.net", `{}`).Matched}
			w.post(t, "go", `{}`)
			w.postAs(t, "go", "", "bob@example.net", `{}`)
			w.drain(t)
			got = append(got, matched())
			w.post(t, "go", `{}`)
			w.drain(t)
			w.Exec(t, `UPDATE automation_entries SET last_at = last_at - interval '8 days'`)
			got = append(got, matched())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("started runs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUsersWithSameAddressAreDifferentPersons(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{`"once"`, `{"at_most_every": "P7D"}`, `"after_completion"`} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.activate(t, `{"event": "start", "re_entry": `+mode+`}`,
				`{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`)
			var got []int
			for _, user := range []string{"u1", "u2", "u1", "u2", ""} {
				got = append(got, w.postAs(t, "start", user, "team@example.net", `{}`).Matched)
			}
			if diff := cmp.Diff([]int{1, 1, 0, 0, 0}, got); diff != "" {
				t.Errorf("started runs by u1, u2, u1, u2 and the address alone (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPauseHoldsRunsAndActivateReleasesThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "PT1H"}, `+mail)
	w.post(t, "start", `{}`)
	if _, err := w.Pause(t.Context(), sendingtest.Account, a.ID, true, nil); err != nil {
		t.Fatal(err)
	}
	answer := w.post(t, "start", `{}`)
	if answer.Matched != 0 || len(answer.Event.Matches) != 1 || answer.Event.Matches[0].Outcome != ingest.Paused {
		t.Errorf("an event for a paused automation returned %s, %v", formatCounters(answer), answer.Event.Matches)
	}
	w.advanceTime(t, 2*time.Hour)
	w.drain(t)
	if n := w.Count(t, "emails"); n != 0 || w.Count(t, "automation_works WHERE parked") != 1 {
		t.Errorf("while held there are %d emails and %d parked runs", n, w.Count(t, "automation_works WHERE parked"))
	}
	if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil {
		t.Fatal(err)
	}
	w.runBackground(t)
	w.drain(t)
	if n := w.Count(t, "emails"); n != 1 {
		t.Errorf("after the release there are %d emails, want 1", n)
	}
	if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); codeOf(err) != "conflict" {
		t.Errorf("activating again with nothing new returned %v, want a conflict", err)
	}
}

func TestArchivingCancelsLiveRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "d", "type": "delay", "duration": "PT1H"}, `+mail)
	for i := range 5 {
		w.postAs(t, "start", fmt.Sprint(i), "", `{}`)
	}
	if err := w.Delete(t.Context(), sendingtest.Account, a.ID); codeOf(err) != "conflict" {
		t.Errorf("deleting an active automation returned %v, want a conflict", err)
	}
	if _, err := w.Archive(t.Context(), sendingtest.Account, a.ID, nil); err != nil {
		t.Fatal(err)
	}
	w.runBackground(t)
	if got := w.countStatuses(t); got["cancelled"] != 5 || w.Count(t, "automation_works") != 0 {
		t.Errorf("the runs of an archived automation are %v, want them cancelled", got)
	}
	if got := formatCounters(w.post(t, "start", `{}`)); got != "0 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an archived automation started runs: %s", got)
	}
	if err := w.Delete(t.Context(), sendingtest.Account, a.ID); err != nil {
		t.Errorf("delete an archived automation: %v", err)
	}
}

func TestRunsKeepTheirVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`,
		`{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}, `+mail)
	w.post(t, "start", `{"name": "old"}`)
	_, err := w.Change(t.Context(), sendingtest.Account, a.ID, parseMembers(`{"steps": [{"key": "x", "type": "end"}]}`),
		"stale")
	var conflict *fault.Error
	if !errors.As(err, &conflict) || conflict.Code != fault.CodeConflict ||
		conflict.Details[fault.DetailChangedAt] == nil {
		t.Errorf("changing a stale draft returned %v, want a conflict with the time of the change", err)
	}
	changed, err := w.Change(t.Context(), sendingtest.Account, a.ID,
		parseMembers(`{"steps": [{"key": "x", "type": "end"}]}`), a.DraftHash)
	if err != nil || changed.Version == nil || *changed.Version != 1 || changed.DraftHash == changed.VersionHash {
		t.Fatalf("change the draft: %+v, %v", changed, err)
	}
	if again, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil || *again.Version != 2 {
		t.Fatalf("activate again: %+v, %v", again, err)
	}
	if got := formatCounters(w.post(t, "go", `{}`)); got != "0 matched, 1 resumed, 0 cancelled" {
		t.Errorf("the event for the waiting run of version 1 returned %s", got)
	}
	w.post(t, "start", `{}`)
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 2 || w.Count(t, "emails") != 1 {
		t.Errorf("runs are %v with %d emails, want two completed and the mail of version 1", got, w.Count(t, "emails"))
	}
	if back, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{Version: 1}); err != nil ||
		*back.Version != 1 {
		t.Errorf("go back to version 1: %+v, %v", back, err)
	}
	if list, err := w.Versions(t.Context(), sendingtest.Account, a.ID); err != nil || len(list) != 2 {
		t.Errorf("%d versions (%v), want 2", len(list), err)
	}
}

func TestRetryFailedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`,
		`{"key": "mail", "type": "send_email", "from": "ada@example.com", "subject": "S", "text": "T"}`)
	answer := w.postAs(t, "start", "u1", "", `{}`) // without a recipient
	w.drain(t)
	run, err := w.Run(t.Context(), sendingtest.Account, answer.Event.Matches[0].RunID)
	if err != nil || run.Status != "failed" || run.Error == "" {
		t.Fatalf("the run without a recipient is %+v, %v; want it failed", run.AutomationRun, err)
	}
	if got, want := w.eventsOfRuns(t), "started 0 running, failed 0 failed"; got != want {
		t.Errorf("webhook events: %s, want %s", got, want)
	}
	if _, err := w.Cancel(t.Context(), sendingtest.Account, run.ID, nil); codeOf(err) != CodeRunNotLive {
		t.Errorf("cancelling an ended run returned %v, want a conflict", err)
	}
	w.Exec(t, `UPDATE automation_runs SET event = jsonb_set(event, '{email}', '"bob@example.net"')`)
	if _, err := w.Retry(t.Context(), sendingtest.Account, run.ID, nil); err != nil {
		t.Fatalf("retry: %v", err)
	}
	w.drain(t)
	if run, err = w.Run(t.Context(), sendingtest.Account, run.ID); err != nil || run.Status != "completed" ||
		w.Count(t, "emails") != 1 {
		t.Errorf("after the retry: %+v, %v", run.AutomationRun, err)
	}
	if _, err := w.Retry(t.Context(), sendingtest.Account, run.ID, nil); codeOf(err) != CodeRunNotFailed {
		t.Errorf("retrying a completed run returned %v, want a conflict", err)
	}
}

func TestSuppressedRecipients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Near.Suppressed["bob@example.net"] = "bounce"
	w.activate(t, `{"event": "start"}`,
		`{"key": "m", "type": "send_email", "from": "ada@example.com", "subject": "S", "text": "T", "on_suppressed": {"goto": "x"}}, {"key": "y", "type": "end", "outcome": "failed"}, {"key": "x", "type": "end"}`)
	w.post(t, "start", `{}`)
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 1 || w.Count(t, "automation_steps WHERE status = 'suppressed'") != 1 {
		t.Errorf("runs %v, %s", got, w.eventsOfRuns(t))
	}
}

func TestAccountsAreIsolated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`)
	answer := w.post(t, "start", `{}`)
	run := answer.Event.Matches[0].RunID
	foreign, err := w.Post(t.Context(),
		ingest.Post{AccountID: other, Name: "go", UserID: "u1", Email: "bob@example.net", Source: "api"})
	if err != nil || formatCounters(foreign) != "0 matched, 0 resumed, 0 cancelled" {
		t.Errorf("an event of another account returned %s, %v", formatCounters(foreign), err)
	}
	for what, do := range map[string]func() error{
		"get": func() error { _, err := w.Get(t.Context(), other, a.ID); return err },
		"change": func() error {
			_, err := w.Change(t.Context(), other, a.ID, parseMembers(`{"name": "x"}`), "")
			return err
		},
		"delete": func() error { return w.Delete(t.Context(), other, a.ID) },
		"activate": func() error {
			_, err := w.Activate(t.Context(), accounts.Caller{AccountID: other}, a.ID, Activation{})
			return err
		},
		"pause":    func() error { _, err := w.Pause(t.Context(), other, a.ID, true, nil); return err },
		"archive":  func() error { _, err := w.Archive(t.Context(), other, a.ID, nil); return err },
		"copy":     func() error { _, err := w.Duplicate(t.Context(), other, a.ID, nil); return err },
		"versions": func() error { _, err := w.Versions(t.Context(), other, a.ID); return err },
		"version":  func() error { _, err := w.Version(t.Context(), other, a.ID, 1); return err },
		"run":      func() error { _, err := w.Run(t.Context(), other, run); return err },
		"cancel":   func() error { _, err := w.Cancel(t.Context(), other, run, nil); return err },
		"retry":    func() error { _, err := w.Retry(t.Context(), other, run, nil); return err },
		"event":    func() error { _, err := w.Event(t.Context(), other, answer.Event.ID); return err },
		"runs of": func() error {
			_, err := w.Runs(t.Context(), other, RunFilter{AutomationID: a.ID, Request: first})
			return err
		},
	} {
		if err := do(); codeOf(err) != "not_found" {
			t.Errorf("%s by another account: %v, want not found", what, err)
		}
	}
	list, err := w.List(t.Context(), other, Filter{Request: first})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("another account lists %d automations (%v)", len(list.Items), err)
	}
	runs, err := w.Runs(t.Context(), other, RunFilter{Request: first})
	if err != nil || len(runs.Items) != 0 {
		t.Errorf("another account lists %d runs (%v)", len(runs.Items), err)
	}
	if got, err := w.List(t.Context(), sendingtest.Account, Filter{Request: first, Status: "active", Event: "start",
		Name: "TES"}); err != nil || len(got.Items) != 1 || got.Items[0].Status != automation.StatusActive {
		t.Errorf("the account lists %+v (%v)", got.Items, err)
	}
}

var first = page.Request{Limit: 10}

func TestActivationReportsProblems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, err := w.Create(t.Context(), sendingtest.Account, []byte(`{"name": "N", "trigger": {"event": "e"}, "steps": [
		{"key": "a", "type": "send_email", "template": {"alias": "gone"}, "next": "end"}, {"key": "b", "type": "end"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := w.Check(t.Context(), w.caller(), a.ID)
	want := []Problem{{"steps[1]", SeverityWarning, "is never reached"},
		{"steps[0].template", SeverityError, "is not a template of this account"}}
	if diff := cmp.Diff(want, problems); err != nil || diff != "" {
		t.Errorf("problems (%v) (-want +got):\n%s", err, diff)
	}
	if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); codeOf(err) != "validation_error" {
		t.Errorf("activating a draft with problems returned %v", err)
	}
}

func TestPurgeAndErase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, `{"key": "w", "type": "wait_for_event", "event": "go", "timeout": "P1D"}`)
	w.post(t, "start", `{}`)
	w.postAs(t, "start", "u2", "carol@example.net", `{"from": "bob@example.net"}`)
	w.postAs(t, "go", "u2", "", `{}`)
	w.drain(t)
	soon := time.Now().Add(time.Hour)
	if _, err := w.Purge(t.Context(), sendingtest.Account, soon); err != nil {
		t.Fatal(err)
	}
	if got := w.countStatuses(t); got["waiting"] != 1 || len(got) != 1 || w.Count(t, "custom_events") != 0 {
		t.Errorf("after the purge there are runs %v and %d events, want only the live run", got, w.Count(t, "custom_events"))
	}
	w.postAs(t, "other", "", "carol@example.net", `{"from": "bob@example.net"}`)
	if _, err := w.Erase(t.Context(), sendingtest.Account, "Bob@example.net"); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(t, "automation_runs") + w.Count(t, "automation_works") + w.Count(t, "custom_events WHERE data::text LIKE '%bob%'"); n != 0 {
		t.Errorf("after the erasure, %d rows contain the address", n)
	}
}

func TestRejectsInvalidEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, p := range map[string]ingest.Post{
		"without a name":  {},
		"a reserved name": {Name: "$email.opened"},
		"NUL":             {Name: "a\x00"},
		"a long name":     {Name: string(make([]rune, 201))},
		"a long user":     {Name: "a", UserID: fmt.Sprintf("%0256d", 1)},
		"no address":      {Name: "a", Email: "Bob <bob@example.net>"},
		"an array":        {Name: "a", Data: []byte(`[]`)},
		"NUL in the data": {Name: "a", Data: []byte(`{"a": "\u0000"}`)},
		"17 deep":         {Name: "a", Data: []byte(strings.Repeat(`{"a":`, 17) + "1" + strings.Repeat("}", 17))},
		"too large":       {Name: "a", Data: fmt.Appendf(nil, `{"a":"%0262144d"}`, 1)},
	} {
		p.AccountID, p.Source = sendingtest.Account, "api"
		if _, err := w.Post(t.Context(), p); codeOf(err) != "validation_error" {
			t.Errorf("%s: %v, want an error", name, err)
		}
	}
	if got := w.post(t, "a",
		`{"lone": "\ud800", "n": 9007199254740993}`); string(got.Event.Data) != `{"lone":"�","n":9007199254740993}` {
		t.Errorf("stored data: %s", got.Event.Data)
	}
}

func TestRetryAllFailedRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start", "re_entry": "after_completion"}`,
		`{"key": "mail", "type": "send_email", "from": "Ada <ada@example.com>", "to": "{{event.data.to}}", "subject": "Hi", "text": "Hello"}, {"key": "d", "type": "delay", "duration": "P1D"}`)
	before := time.Now().Add(-time.Minute)
	for i := range 4 {
		w.postAs(t, "start", fmt.Sprint("u", i), "", `{"to": "nobody"}`)
	}
	w.drain(t)
	w.postAs(t, "start", "u0", "", `{"to": "bob@example.net"}`) // has a live run by now
	w.drain(t)
	w.postAs(t, "start", "u4", "", `{"to": "nobody"}`)
	w.drain(t)
	w.Exec(t, `UPDATE automation_runs SET event = jsonb_set(event, '{data,to}', '"bob@example.net"')`)
	w.Exec(t, `UPDATE automation_runs SET ended_at = now() - interval '31 days' WHERE user_id = 'u3'`)
	if n, err := w.RetryFailed(t.Context(), sendingtest.Account, a.ID,
		Failed{Since: before.Add(time.Hour)}); err != nil || n != 0 {
		t.Errorf("retry since a later time returned %d, %v", n, err)
	}
	if _, err := w.RetryFailed(t.Context(), sendingtest.Account, a.ID,
		Failed{Since: before, Step: "unknown"}); codeOf(err) != "validation_error" {
		t.Errorf("retry at an unknown step returned %v", err)
	}
	if n, err := w.RetryFailed(t.Context(), sendingtest.Account, a.ID, Failed{Since: before, Step: "d"}); err != nil ||
		n != 0 {
		t.Errorf("retry at a step without failures returned %d, %v", n, err)
	}
	if _, err := w.RetryFailed(t.Context(), other, a.ID, Failed{Since: before}); codeOf(err) != "not_found" {
		t.Errorf("retry by another account returned %v", err)
	}
	kept := 0
	keep := func(_ context.Context, _ idempotency.Execer, n int) error { kept = n; return nil }
	if n, err := w.RetryFailed(t.Context(), sendingtest.Account, a.ID,
		Failed{Since: before.Add(-40 * 24 * time.Hour), Step: "mail", Keep: keep}); err != nil || n != 3 || kept != 3 {
		t.Errorf("retry all: %d runs, %d in the stored response (%v); want the runs of u1, u2 and u4", n, kept, err)
	}
	w.drain(t)
	if got := w.countStatuses(t); got["waiting"] != 4 || got["failed"] != 2 {
		t.Errorf("the runs are %v, want 4 waiting and those of u0 and u3 still failed", got)
	}
	if n := w.Count(t, "emails WHERE automation_id = '"+a.ID+"' AND run_id LIKE 'run_%'"); n != 4 {
		t.Errorf("%d mails name the automation and a run, want 4", n)
	}
}

func TestFiltersRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`,
		`{"key": "begin", "type": "wait_for_event", "event": "go", "timeout": "P1D"}, {"key": "then", "type": "delay", "duration": "P1D"}`)
	w.post(t, "start", `{}`)
	w.postAs(t, "start", "u2", "", `{}`)
	w.postAs(t, "go", "u2", "", `{}`)
	w.drain(t)
	past, future := time.Now().Add(-time.Minute), time.Now().Add(time.Minute)
	for name, c := range map[string]struct {
		filter RunFilter
		want   int
	}{
		"the first step":      {RunFilter{AutomationID: a.ID, Step: "begin"}, 1},
		"the second step":     {RunFilter{AutomationID: a.ID, Step: "then", Version: 1}, 1},
		"a different version": {RunFilter{AutomationID: a.ID, Version: 2}, 0},
		"since a minute ago":  {RunFilter{Since: &past, Until: &future}, 2},
		"since the future":    {RunFilter{Since: &future}, 0},
		"until a minute ago":  {RunFilter{Until: &past}, 0},
		"person and status":   {RunFilter{UserID: "u2", Status: "waiting"}, 1},
	} {
		c.filter.Request = first
		got, err := w.Runs(t.Context(), sendingtest.Account, c.filter)
		if err != nil || len(got.Items) != c.want {
			t.Errorf("%s: %d runs (%v), want %d", name, len(got.Items), err, c.want)
		}
	}
	if _, err := w.Runs(t.Context(), sendingtest.Account,
		RunFilter{Request: first, AutomationID: a.ID, Step: "no"}); codeOf(err) != "validation_error" {
		t.Errorf("filtering by an unknown step returned %v", err)
	}
	list, err := w.Runs(t.Context(), sendingtest.Account, RunFilter{Request: first, UserID: "u1"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("u1 has %d runs, %v", len(list.Items), err)
	}
	run, err := w.Run(t.Context(), sendingtest.Account, list.Items[0].ID)
	if err != nil || run.Waiting == nil || run.WaitingStep.Key != "begin" || len(run.Waiting.Events) != 1 ||
		run.Waiting.Events[0] != "go" || run.Waiting.Since.IsZero() {
		t.Errorf("the run waits for %+v in the step %q (%v)", run.Waiting, run.WaitingStep.Key, err)
	}
}
