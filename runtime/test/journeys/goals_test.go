package journeys_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// overTime is a response with the statistics of an automation.
type overTime struct {
	Statistics struct {
		AsOf   time.Time `json:"as_of"`
		Totals struct {
			Runs struct {
				Started   int
				WithGoal  int `json:"with_goal"`
				Completed int
				Converted int
			}
			Emails struct{ Accepted, Delivered int }
		}
		Buckets []struct {
			Start   time.Time
			Figures struct{ Runs struct{ Started int } }
		}
	}
}

// A run converts when its person has the event of the goal, and the statistics of the automation and of its template
// show it over both APIs. Another account cannot read them.
func TestAutomationReachesItsGoal(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	var template struct{ Template struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/templates", map[string]any{"name": "Offer", "alias": "offer", "from": "ada@dev.test",
		"subject": "An offer", "text": "Hello"}).JSON(t, &template)
	if got := app.Do(t, http.MethodPost, "/api/templates/offer/publish", nil); got.Status != http.StatusOK {
		t.Fatalf("publish the template: %d %s", got.Status, got.Body)
	}
	var made struct {
		Automation struct {
			ID   string
			Goal struct {
				Event      string
				WithinDays int `json:"within_days"`
			}
		}
	}
	app.Do(t, http.MethodPost, "/api/automations", map[string]any{"name": "Offer", "trigger": map[string]any{"event": "cart.left"},
		"goal":  map[string]any{"event": "order.paid", "within_days": 7},
		"steps": []any{map[string]any{"type": "send_email", "template": map[string]any{"alias": "offer"}}}}).JSON(t, &made)
	if made.Automation.Goal.Event != "order.paid" || made.Automation.Goal.WithinDays != 7 {
		t.Errorf("the goal is %+v, want order.paid within 7 days", made.Automation.Goal)
	}
	path := "/api/automations/" + made.Automation.ID
	if got := app.Do(t, http.MethodPost, path, map[string]any{"action": "activate"}); got.Status != http.StatusOK {
		t.Fatalf("activate: %d %s", got.Status, got.Body)
	}
	for _, user := range []string{"u1", "u2"} {
		postEvent(t, app, fmt.Sprintf(`{"name": "cart.left", "user_id": %q, "email": %q}`, user, user+"@example.net"))
	}
	postEvent(t, app, `{"name": "order.paid", "user_id": "u2"}`)
	var got overTime
	read := func(path string) {
		t.Helper()
		got = overTime{}
		app.Do(t, http.MethodGet, path+"/statistics?interval=hour&timezone=Asia/Kathmandu&since="+
			url.QueryEscape(time.Now().Add(-time.Hour).Format(time.RFC3339)), nil).JSON(t, &got)
	}
	expect.Eventually(t, "both emails are delivered, and one run converted", func() bool {
		read(path)
		totals := got.Statistics.Totals
		return totals.Runs.Converted == 1 && totals.Runs.Completed == 2 && totals.Emails.Delivered == 2
	})
	if totals := got.Statistics.Totals; totals.Runs.Started != 2 || totals.Runs.WithGoal != 2 || totals.Emails.Accepted != 2 {
		t.Errorf("totals %+v, want 2 runs with a goal and 2 emails", totals)
	}
	started := 0
	for _, b := range got.Statistics.Buckets {
		if started += b.Figures.Runs.Started; b.Start.Minute() != 15 { // 45 minutes ahead of UTC
			t.Errorf("an hour in Kathmandu starts at %s", b.Start)
		}
	}
	if started != 2 {
		t.Errorf("the periods have %d started runs, want 2", started)
	}
	var mail struct {
		Statistics struct {
			Totals struct{ Accepted, Delivered int }
		}
	}
	app.Do(t, http.MethodGet, "/api/templates/offer/statistics", nil).JSON(t, &mail)
	if mail.Statistics.Totals.Accepted != 2 || mail.Statistics.Totals.Delivered != 2 {
		t.Errorf("the statistics of the template are %+v, want 2 delivered emails", mail)
	}
	checkConversion(t, app, made.Automation.ID)
	checkStatisticsParameters(t, app, path)
}

// checkConversion reads the conversion from the run and its automation in GraphQL.
func checkConversion(t *testing.T, app *harness.App, automationID string) {
	t.Helper()
	var got struct {
		Automation struct {
			Goal  struct{ WithinDays int }
			Stats struct {
				WithGoal       int
				Converted      int
				ConversionRate struct{ Numerator, Denominator int }
			}
		}
		AutomationRuns struct {
			Nodes []struct {
				UserID      string
				ConvertedAt *time.Time
			}
		}
	}
	expect.Eventually(t, "GraphQL counts the conversion", func() bool {
		app.Query(t, fmt.Sprintf(`{ automation(id: %[1]q) { goal { withinDays } stats { withGoal converted conversionRate { numerator denominator } } }
			automationRuns(filter: {automationId: %[1]q}) { nodes { userId convertedAt } } }`, automationID), &got)
		return got.Automation.Stats.Converted == 1
	})
	if s := got.Automation.Stats; got.Automation.Goal.WithinDays != 7 || s.WithGoal != 2 || s.ConversionRate.Numerator != 1 ||
		s.ConversionRate.Denominator != 2 {
		t.Errorf("the automation is %+v, want a goal of 7 days that 1 of 2 runs reached", got.Automation)
	}
	for _, run := range got.AutomationRuns.Nodes {
		if (run.ConvertedAt != nil) != (run.UserID == "u2") {
			t.Errorf("the run of %s converted at %v; want only that of u2", run.UserID, run.ConvertedAt)
		}
	}
}

// invalidFields is the response to an invalid request.
type invalidFields struct {
	Error struct{ Details map[string]string }
}

// checkStatisticsParameters sends invalid parameters. Each error names its parameter.
func checkStatisticsParameters(t *testing.T, app *harness.App, path string) {
	t.Helper()
	for field, query := range map[string]string{
		"timezone":  "timezone=Mars/Olympus",
		"interval":  "interval=minute",
		"placed_by": "placed_by=email",
		"since":     "interval=hour&since=2021-01-01T00:00:00Z",
		"until":     "since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
	} {
		var refused invalidFields
		got := app.Do(t, http.MethodGet, path+"/statistics?"+query, nil)
		if got.JSON(t, &refused); got.Status != http.StatusBadRequest || refused.Error.Details[field] == "" ||
			len(refused.Error.Details) != 1 {
			t.Errorf("%s: %d %s, want 400 with details of %s", query, got.Status, got.Body, field)
		}
	}
	var refused invalidFields
	goal := map[string]any{"event": "order.paid", "within_days": 91}
	got := app.Do(t, http.MethodPatch, path, map[string]any{"goal": goal})
	if got.JSON(t, &refused); got.Status != http.StatusBadRequest || refused.Error.Details["goal.within_days"] == "" {
		t.Errorf("a goal of 91 days: %d %s, want 400 with details of goal.within_days", got.Status, got.Body)
	}
}
