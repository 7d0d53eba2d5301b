package faults_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// Runs of automations, killed at random points: in the claim, between the commit of an email and the next
// step, inside POST /events, while thousands are resumed. Every run ends, with one email for each send step
// and each fact once.
func TestKillsAtRandomPointsLoseNoRun(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	server := faults.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	automation := activated(t, server, `{"name": "Twice", "trigger": {"event": "start"}, "steps": [
		{"key": "one", "type": "send_email", "from": "ada@dev.test", "subject": "1", "text": "t"},
		{"key": "pause", "type": "delay", "duration": "PT1S"},
		{"key": "go", "type": "wait_for_event", "event": "go", "timeout": "P1D"},
		{"key": "two", "type": "send_email", "from": "ada@dev.test", "subject": "2", "text": "t"}]}`)
	runs, kills := lengthOf(30, 200), lengthOf(4, 200)
	done := make(chan struct{})
	go func() {
		defer close(done)
		at(4, runs, func(i int) {
			for _, name := range []string{"start", "go"} {
				postUntilTaken(t, server, fmt.Sprintf(`{"name": %q, "user_id": "u%d", "email": "u%d@example.net"}`,
					name, i, i), fmt.Sprint(name, i))
			}
		})
	}()
	for i := range kills {
		<-time.After(50*time.Millisecond + rand.N(500*time.Millisecond))
		if i == kills/2 { // the process is killed while runs are held and resumed
			act(t, server, automation, `{"action": "pause"}`)
			act(t, server, automation, `{"action": "activate"}`)
		}
		server.Kill()
		server.Launch()
	}
	<-done
	expect.Eventually(t, "every run has ended", func() bool {
		return server.Query(`SELECT count(*) FROM automation_runs WHERE ended_at IS NULL`)[0][0] == "0"
	})
	awaitIdle(t, server)
	// Events that arrived while the automation was paused have started nothing, and are recorded as such.
	paused := server.Query(`SELECT count(*) FROM custom_events WHERE matches @> '[{"outcome": "paused"}]'`)[0][0]
	posted := runs
	n, err := strconv.Atoi(paused)
	if err != nil {
		t.Fatal(err)
	}
	runs -= n
	for statement, want := range map[string]int{
		`SELECT count(*) FROM automation_runs WHERE status = 'completed'`:                                              runs,
		`SELECT count(*) FROM automation_works`:                                                                        0,
		`SELECT count(*) FROM emails WHERE run_id IS NOT NULL`:                                                         2 * runs,
		`SELECT count(DISTINCT (run_id, subject)) FROM emails`:                                                         2 * runs,
		`SELECT count(*) FROM facts WHERE type = 'automation.started'`:                                                 runs,
		`SELECT count(*) FROM facts WHERE type = 'automation.step_completed'`:                                          4 * runs,
		`SELECT count(DISTINCT (subject_id, data->>'step_index')) FROM facts WHERE type = 'automation.step_completed'`: 4 * runs,
		`SELECT count(*) FROM facts WHERE type = 'automation.completed'`:                                               runs,
		`SELECT count(*) FROM automations WHERE draining IS NOT NULL`:                                                  0,
		`SELECT count(*) FROM custom_events`:                                                                           2 * posted,
	} {
		if got := server.Query(statement)[0][0]; got != fmt.Sprint(want) {
			t.Errorf("%s returned %s, want %d", statement, got, want)
		}
	}
	figure(t, "kills", kills, "4 short, 200 long")
	figure(t, "runs that ended, with one email per step", runs, "30 short, 200 long")
}

// activated creates an automation that starts runs.
func activated(t *testing.T, server *faults.Server, definition string) string {
	t.Helper()
	answer := server.Do(t.Context(), http.MethodPost, "/api/automations", definition)
	var made struct{ Automation struct{ ID string } }
	if err := json.Unmarshal(answer.Body, &made); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("create an automation: %d %s", answer.Status, answer.Body)
	}
	act(t, server, made.Automation.ID, `{"action": "activate"}`)
	return made.Automation.ID
}

// act calls an action of an automation.
func act(t *testing.T, server *faults.Server, automation, action string) {
	t.Helper()
	expect.Eventually(t, action+" is answered", func() bool {
		answer := server.Do(t.Context(), http.MethodPost, "/api/automations/"+automation, action)
		if answer.Status != http.StatusOK && answer.Status != 0 && answer.Status < 500 &&
			!strings.Contains(string(answer.Body), "conflict") {
			t.Fatalf("%s: %d %s", action, answer.Status, answer.Body)
		}
		return answer.Status == http.StatusOK || answer.Status == http.StatusConflict // if a response was lost
	})
}

// postUntilTaken posts an event with a key until it gets a response.
func postUntilTaken(t *testing.T, server *faults.Server, body, key string) {
	t.Helper()
	for ; t.Context().Err() == nil; <-time.After(20 * time.Millisecond) {
		answer := server.Do(t.Context(), http.MethodPost, "/api/events", body, "Idempotency-Key", key)
		switch {
		case answer.Status == http.StatusAccepted:
			return
		case answer.Status >= 400 && answer.Status < 500 && answer.Status != http.StatusConflict:
			t.Errorf("post %s: %d %s", body, answer.Status, answer.Body)
			return
		}
	}
}

// A disabled module is absent: no route, no step. Its tables remain, and its runs continue after it is
// enabled again.
func TestAutomationsDisabledAndReenabled(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	database, out := dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0"))
	on := faults.Start(t, database, out)
	later := activated(t, on, `{"name": "Later", "trigger": {"event": "start"}, "steps": [{"type": "delay", "duration": "PT1H"},
		{"type": "send_email", "from": "ada@dev.test", "subject": "s", "text": "t"}]}`)
	postUntilTaken(t, on, `{"name": "start", "email": "later@example.net"}`, "start")
	if err := on.Stop(); err != nil {
		t.Fatal(err)
	}
	off := on.Moved(database, out, "POSTRIDER_MODULES=-automations")
	for _, path := range []string{"/api/automations", "/api/automation-runs", "/api/events"} {
		if answer := off.Do(t.Context(), http.MethodGet, path, ""); answer.Status != http.StatusNotFound {
			t.Errorf("GET %s returned %d %s while the module is disabled", path, answer.Status, answer.Body)
		}
	}
	ledger := faults.NewLedger()
	ledger.Send(t.Context(), off, "now@example.net")
	expect.Eventually(t, "ordinary mail is sent while the module is disabled",
		func() bool { return ledger.Missing(sink) == 0 })
	passDelay(off, later)
	expect.Eventually(t, "the delay has been over for a while", func() bool {
		return off.Query(`SELECT count(*) FROM automation_works WHERE due_at < now() - interval '1 second'`)[0][0] == "1"
	})
	if n := off.Query(`SELECT count(*) FROM emails WHERE run_id IS NOT NULL`)[0][0]; n != "0" {
		t.Errorf("runs sent %s emails while the module was disabled", n)
	}
	if err := off.Stop(); err != nil {
		t.Fatal(err)
	}
	again := on.Moved(database, out)
	expect.Eventually(t, "the run continues", func() bool { return sink.Count() == 2 })
	expect.Eventually(t, "the run is completed", func() bool {
		return again.Query(`SELECT count(*) FROM automation_runs WHERE status = 'completed'`)[0][0] == "1"
	})
}

// passDelay ends the current one-hour delays of an automation's runs.
func passDelay(server *faults.Server, automation string) {
	server.Query(`UPDATE automation_works SET due_at = due_at - interval '1 hour', ready_at = ready_at - interval '1 hour',
		waiting = jsonb_set(waiting, '{until}', to_jsonb((waiting->>'until')::timestamptz - interval '1 hour')) WHERE automation_id = $1`, automation)
}
