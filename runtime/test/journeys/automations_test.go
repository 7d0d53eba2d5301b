package journeys_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

type eventReceipt struct {
	Event struct {
		ID      string
		Matches []struct {
			Outcome string
			RunID   string `json:"run_id"`
		}
	}
	MatchedAutomations int `json:"matched_automations"`
	ResumedRuns        int `json:"resumed_runs"`
	CancelledRuns      int `json:"cancelled_runs"`
}

// postEvent posts an event that the service accepts.
func postEvent(t *testing.T, app *harness.App, body string) (got eventReceipt) {
	t.Helper()
	answer := app.Do(t, http.MethodPost, "/api/events", json.RawMessage(body))
	if answer.Status != http.StatusAccepted {
		t.Fatalf("POST /events with %s: %d %s, want 202", body, answer.Status, answer.Body)
	}
	answer.JSON(t, &got)
	return got
}

// Journey 4: an event starts a run, the run sends over SMTP and waits, a second event ends the wait, and an
// endpoint receives each fact once.
func TestJourney4AnEventStartsARunThatSendsAndWaits(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	url, heard := newListener(t)
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": url,
		"events": []string{"automation.started", "automation.step_completed", "automation.completed", "automation.failed"}})
	var made struct{ Automation struct{ ID string } }
	answer := app.Do(t, http.MethodPost, "/api/automations", json.RawMessage(`{"name": "Verify", "trigger": {"event": "user.created", "re_entry": "once"}, "steps": [
		{"key": "hello", "type": "send_email", "from": "Ada <ada@dev.test>", "subject": "Hi {{event.data.name}}", "text": "Hello"},
		{"key": "verified", "type": "wait_for_event", "event": "user.verified", "timeout": "P1D", "on_timeout": "fail"},
		{"key": "thanks", "type": "send_email", "from": "ada@dev.test", "subject": "Thank you", "text": "It is you."}]}`))
	if answer.Status != http.StatusOK {
		t.Fatalf("POST /automations: %d %s", answer.Status, answer.Body)
	}
	answer.JSON(t, &made)
	if answer = app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		json.RawMessage(`{"action": "activate"}`)); answer.Status != http.StatusOK {
		t.Fatalf("activate: %d %s", answer.Status, answer.Body)
	}
	if got := postEvent(t, app,
		`{"name": "user.created", "user_id": "u1", "email": "bob@example.net", "data": {"name": "Bob"}}`); got.MatchedAutomations != 1 {
		t.Errorf("the starting event: %+v", got)
	}
	app.MX.Wait(t, "the first email", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	if !strings.Contains(string(app.MX.Messages()[0].Data), "Subject: Hi Bob") {
		t.Errorf("the first email is\n%s", app.MX.Messages()[0].Data)
	}
	var sent struct {
		Emails []struct {
			AutomationID string `json:"automation_id"`
			RunID        string `json:"run_id"`
		}
	}
	app.Do(t, http.MethodGet, "/api/emails", nil).JSON(t, &sent)
	if len(sent.Emails) != 1 || sent.Emails[0].AutomationID != made.Automation.ID ||
		!strings.HasPrefix(sent.Emails[0].RunID, "run_") {
		t.Errorf("the emails of the run are listed as %+v, want one of the automation %s and its run", sent.Emails,
			made.Automation.ID)
	}
	postEvent(t, app, `{"type": "user.verified", "user_id": "u1"}`)
	app.MX.Wait(t, "the second email", func(s smtptest.Stats) bool { return s.Accepted == 2 })
	told := map[string]int{}
	for range 5 {
		select {
		case got := <-heard:
			var event struct {
				Type string
				Data struct {
					EventName string `json:"event_name"`
					StepType  string `json:"step_type"`
				}
			}
			if err := json.Unmarshal([]byte(got.body), &event); err != nil || event.Data.EventName != "user.created" {
				t.Errorf("an endpoint received %s (%v)", got.body, err)
			}
			told[event.Type+" "+event.Data.StepType]++
		case <-time.After(expect.Patience):
			t.Fatalf("the endpoint received only %v", told)
		}
	}
	for what, n := range map[string]int{"automation.started send_email": 1, "automation.step_completed send_email": 2,
		"automation.step_completed wait_for_event": 1, "automation.completed send_email": 1} {
		if told[what] != n {
			t.Errorf("%s was received %d times, want %d: %v", what, told[what], n, told)
		}
	}
	checkRunInGraphQL(t, app, made.Automation.ID)
}

// checkRunInGraphQL queries the figures of an automation whose single run has sent two emails and ended, and
// that run with its emails and its timeline.
func checkRunInGraphQL(t *testing.T, app *harness.App, automationID string) {
	t.Helper()
	var got struct {
		Automation struct {
			Stats struct{ Started, Completed int }
			Steps []struct {
				Key, Summary string
				Stats        struct {
					Entered, Completed int
					Emails             *struct{ Sent, Opened int }
				}
			}
		}
		AutomationRuns struct {
			Nodes []struct {
				Status     string
				WaitingFor *struct{ Step string }
				Steps      []struct{ Key, Status string }
				Emails     []struct {
					Subject    string
					Automation struct{ AutomationName, StepKey string }
				}
				Timeline []struct{ Source, Type string }
			}
		}
	}
	app.Query(t, fmt.Sprintf(`{ automation(id: %q) { stats { started completed } steps { key summary stats { entered completed emails { sent opened } } } }
		automationRuns(filter: {automationId: %q, status: COMPLETED}) { nodes { status waitingFor { step } steps { key status }
			emails { subject automation { automationName stepKey } } timeline { source type } } } }`, automationID, automationID), &got)
	if got.Automation.Stats.Started != 1 || got.Automation.Stats.Completed != 1 || len(got.Automation.Steps) != 3 ||
		got.Automation.Steps[1].Summary != "Wait for user.verified, at most P1D" {
		t.Errorf("GraphQL shows the automation as %+v, want one run that completed, and three steps", got.Automation)
	}
	for _, step := range got.Automation.Steps {
		if step.Stats.Entered != 1 || step.Stats.Completed != 1 ||
			(step.Stats.Emails != nil) != (step.Key != "verified") || step.Stats.Emails != nil &&
			step.Stats.Emails.Sent != 1 {
			t.Errorf("the figures of the step %s are %+v, want 1 entered, 1 completed, and one email of a step that sends", step.Key, step.Stats)
		}
	}
	if len(got.AutomationRuns.Nodes) != 1 {
		t.Fatalf("GraphQL lists %d completed runs, want 1", len(got.AutomationRuns.Nodes))
	}
	run, sources := got.AutomationRuns.Nodes[0], map[string]int{}
	for _, entry := range run.Timeline {
		sources[entry.Source]++
	}
	if len(run.Steps) != 3 || run.WaitingFor != nil || len(run.Emails) != 2 || run.Emails[1].Subject != "Thank you" ||
		run.Emails[1].Automation.StepKey != "thanks" ||
		run.Emails[0].Automation.AutomationName != "Verify" || sources["event"] != 2 || sources["step"] != 3 ||
		sources["email"] == 0 {
		t.Errorf("GraphQL shows the run as %+v, want three steps, two emails by the steps hello and thanks, and a timeline of all", run)
	}
}

// failsWith posts an event and returns why its run failed.
func failsWith(t *testing.T, app *harness.App, automationID, event string) (reason string) {
	t.Helper()
	postEvent(t, app, event)
	expect.Eventually(t, "the run has failed", func() bool {
		var list struct {
			Runs []struct{ Error string } `json:"automation_runs"`
		}
		app.Do(t, http.MethodGet, "/api/automations/"+automationID+"/runs?status=failed", nil).JSON(t, &list)
		if len(list.Runs) > 0 {
			reason = list.Runs[0].Error
		}
		return reason != ""
	})
	return reason
}

// After the activation, the template of a send step cannot be deleted, and a step whose domain was deleted
// fails and reports why.
func TestTemplatesInUseStayAndDeletedDomainsFailRuns(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	var template struct{ Template struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/templates", map[string]string{"name": "Gone", "subject": "Hi", "text": "Hello"}).
		JSON(t, &template)
	app.Do(t, http.MethodPost, "/api/templates/"+template.Template.ID+"/publish", nil)
	active := func(definition string) string {
		var made struct{ Automation struct{ ID string } }
		app.Do(t, http.MethodPost, "/api/automations", json.RawMessage(definition)).JSON(t, &made)
		if answer := app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
			json.RawMessage(`{"action": "activate"}`)); answer.Status != http.StatusOK {
			t.Fatalf("activate: %d %s", answer.Status, answer.Body)
		}
		return made.Automation.ID
	}
	active(`{"name": "T", "trigger": {"event": "template"}, "steps": [{"type": "send_email", "from": "ada@dev.test", "template": {"id": "` + template.Template.ID + `"}}]}`)
	byDomain := active(`{"name": "D", "trigger": {"event": "domain"}, "steps": [{"type": "send_email", "from": "ada@dev.test", "subject": "s", "text": "t"}]}`)
	if answer := app.Do(t, http.MethodDelete, "/api/templates/"+template.Template.ID,
		nil); answer.Status != http.StatusConflict || !strings.Contains(string(answer.Body), `"used_by":["T"]`) {
		t.Errorf("deleting a template in use got %d %s, want 409 with the name of the automation", answer.Status,
			answer.Body)
	}
	if answer := app.Do(t, http.MethodDelete, "/api/domains/"+devDomainID(t, app),
		nil); answer.Status != http.StatusOK {
		t.Fatalf("delete the domain: %d %s", answer.Status, answer.Body)
	}
	if got := failsWith(t, app, byDomain, `{"name": "domain", "email": "bob@example.net"}`); !strings.Contains(got,
		"domain") {
		t.Errorf("with a deleted domain the run failed with %q", got)
	}
}

// A run that reaches the daily cap of its plan waits, reports it over REST and GraphQL, and continues soon
// after another process has given the account a larger plan.
func TestRunWaitingForPlanContinuesAfterUpgrade(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	handle := openDatabase(t, app)
	free := app.Stranger(t, "free")
	free.Change(t, accounts.AccountChange{Plan: new("free"), ProductionUnlocked: new(true)})
	for _, statement := range []string{`UPDATE accounts SET unmetered = false WHERE id = $1`,
		`INSERT INTO usages (account_id, period, emails) SELECT $1, to_char(now() AT TIME ZONE 'UTC', f), 100 FROM (VALUES ('YYYY-MM'), ('YYYY-MM-DD')) AS v (f)`} {
		if _, err := handle.ExecContext(t.Context(), statement, free.AccountID); err != nil {
			t.Fatal(err)
		}
	}
	verifyDomain(t, free, "free.example")
	var made struct{ Automation struct{ ID string } }
	free.Do(t, http.MethodPost, "/api/automations", json.RawMessage(`{"name": "Hello", "trigger": {"event": "user.created"}, "steps": [
		{"key": "hello", "type": "send_email", "from": "ada@free.example", "subject": "Hello", "text": "Hello"}]}`)).JSON(t, &made)
	if answer := free.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		json.RawMessage(`{"action": "activate"}`)); answer.Status != http.StatusOK {
		t.Fatalf("activate: %d %s", answer.Status, answer.Body)
	}
	if got := postEvent(t, free,
		`{"name": "user.created", "user_id": "u1", "email": "bob@example.net"}`); got.MatchedAutomations != 1 {
		t.Fatalf("the starting event: %+v", got)
	}
	var started struct {
		Runs []struct{ ID string } `json:"automation_runs"`
	}
	if free.Do(t, http.MethodGet, "/api/automation-runs", nil).JSON(t, &started); len(started.Runs) != 1 {
		t.Fatalf("%d runs have started, want one", len(started.Runs))
	}
	type runAnswer struct {
		Run struct {
			Status     string
			WaitingFor *struct {
				Step   string
				Until  time.Time
				Reason *struct{ Code, Message string }
			} `json:"waiting_for"`
		} `json:"automation_run"`
	}
	run := func() (got runAnswer) {
		free.Do(t, http.MethodGet, "/api/automation-runs/"+started.Runs[0].ID, nil).JSON(t, &got)
		return got
	}
	expect.Eventually(t, "the run waits", func() bool { return run().Run.Status == "waiting" })
	if w := run().Run.WaitingFor; w == nil || w.Step != "hello" || w.Reason == nil || w.Reason.Code != "plan_limit" ||
		!strings.Contains(w.Reason.Message, "100 emails per day") {
		t.Errorf("the run waits for %+v, want the step hello and the plan", w)
	}
	var graph struct {
		AutomationRuns struct {
			Nodes []struct {
				WaitingFor struct{ Reason struct{ Code string } }
				Timeline   []struct{ Source, Status string }
			}
		}
	}
	free.Query(t,
		`{ automationRuns(filter: {status: WAITING}) { nodes { waitingFor { reason { code } } timeline { source status } } } }`, &graph)
	if n := graph.AutomationRuns.Nodes; len(n) != 1 || n[0].WaitingFor.Reason.Code != "plan_limit" ||
		n[0].Timeline[len(n[0].Timeline)-1].Source != "wait" {
		t.Errorf("GraphQL shows the waiting runs as %+v, want one, because of its plan, with the wait at the end of its timeline", n)
	}
	free.Change(t, accounts.AccountChange{Plan: new("pro")})
	expect.EventuallyWithin(t, 30*time.Second, "the run has sent",
		func() bool { return run().Run.Status == "completed" })
	app.MX.Wait(t, "the mail", func(s smtptest.Stats) bool { return s.Accepted == 1 })
}
