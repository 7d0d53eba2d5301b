package automations

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/storage/db"
)

const longDelay = `{"key": "wait", "type": "delay", "duration": "P30D"}`

// activateGoal activates an automation whose goal is the event paid within a week.
func (w *world) activateGoal(t *testing.T, trigger, list string) *ent.Automation {
	t.Helper()
	const goal = `{"event": "paid", "within_days": 7}`
	a, err := w.Create(t.Context(), sendingtest.Account,
		fmt.Appendf(nil, `{"name": "Goal", "trigger": %s, "steps": [%s], "goal": %s}`, trigger, list, goal), nil)
	if err == nil {
		_, err = w.Activate(t.Context(), w.caller(), a.ID, Activation{})
	}
	if err != nil {
		t.Fatalf("create and activate an automation: %v", err)
	}
	return a
}

// convert converts runs until no event is left.
func (w *world) convert(t *testing.T) {
	t.Helper()
	if left, err := w.Convert(t.Context()); err != nil || left {
		t.Fatalf("convert runs: %v, left %t", err, left)
	}
	if n := w.Count(t, "custom_events WHERE goal_pending"); n != 0 {
		t.Fatalf("%d events are still marked", n)
	}
}

// converted returns the persons whose runs converted, and the number of facts about it.
func (w *world) converted(t *testing.T) string {
	t.Helper()
	list, err := db.All(t.Context(), w.DB.SQL, db.Value[string],
		`SELECT coalesce(user_id, email_key) FROM automation_runs WHERE converted_at IS NOT NULL ORDER BY started_at, id`)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s; %d facts", strings.Join(list, " "), w.Count(t, "facts WHERE type = 'automation.converted'"))
}

func TestRunsConvert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activateGoal(t, `{"event": "start", "cancel_on_events": ["stop", "paid"]}`, longDelay)
	w.postAs(t, "paid", "early", "early@example.net", `{}`) // before the start
	for _, user := range []string{"early", "pays", "twice", "leaves", "late", "never"} {
		w.postAs(t, "start", user, user+"@example.net", `{}`)
	}
	w.postAs(t, "start", "", "guest@example.net", `{}`)
	w.postAs(t, "stop", "leaves", "", `{}`)
	w.Exec(t, `UPDATE automation_runs SET goal_until = now() WHERE user_id = 'late'`)
	for _, user := range []string{"pays", "twice", "leaves", "late"} {
		w.postAs(t, "paid", user, "", `{}`)
	}
	w.postAs(t, "paid", "", "guest@example.net", `{}`)
	w.postAs(t, "paid", "other", "never@example.net", `{}`) // another person with this address
	w.postAs(t, "refunded", "never", "", `{}`)
	if answer := w.postAs(t, "paid", "twice", "", `{}`); formatCounters(answer) != "0 matched, 0 resumed, 0 cancelled" {
		t.Errorf("the second goal event of a person: %s, want no effect", formatCounters(answer))
	}
	if n := w.Count(t, "custom_events WHERE goal_pending"); n != 8 {
		t.Errorf("%d events are marked, want the 8 named paid", n)
	}
	w.convert(t)
	w.convert(t)
	const want = "pays twice leaves guest@example.net; 4 facts"
	if got := w.converted(t); got != want {
		t.Errorf("converted %s, want %s", got, want)
	}
	if got := w.Count(t, `automation_runs r JOIN custom_events e ON e.account_id = r.account_id AND e.name = 'paid' AND e.created_at = r.converted_at
		WHERE r.user_id = 'twice' AND e.id = (SELECT min(id) FROM custom_events WHERE name = 'paid' AND user_id = 'twice')`); got != 1 {
		t.Error("a run does not convert at the time of the first event")
	}
	got := countedOf(t, w.newFigures(t, nil), sendingtest.Account, a.ID).Runs
	if got.Started != 7 || got.WithGoal != 7 || got.Converted != 4 {
		t.Errorf("figures %+v, want 7 started runs with a goal, of which 4 converted", got)
	}
}

// The event that starts a run does not convert it, even if it is the goal. The next one does.
func TestTriggerDoesNotConvertItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activateGoal(t, `{"event": "paid", "re_entry": "once"}`, longDelay)
	w.postAs(t, "paid", "u1", "", `{}`)
	w.convert(t)
	if got := w.converted(t); got != "; 0 facts" {
		t.Errorf("after the trigger: converted %s, want none", got)
	}
	w.postAs(t, "paid", "u1", "", `{}`)
	w.convert(t)
	if got := w.converted(t); got != "u1; 1 facts" {
		t.Errorf("after the second event: converted %s, want u1", got)
	}
}

// A run keeps the goal of its version: runs without one have none, and later versions change nothing for it.
func TestRunsKeepTheGoalOfTheirVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activateGoal(t, `{"event": "start"}`, longDelay)
	start := func(user string) { w.postAs(t, "start", user, "", `{}`) }
	start("v1")
	change := func(goal string) {
		t.Helper()
		_, err := w.Change(t.Context(), sendingtest.Account, a.ID, parseMembers(`{"goal": `+goal+`}`), "")
		if err == nil {
			_, err = w.Activate(t.Context(), w.caller(), a.ID, Activation{})
		}
		if err != nil {
			t.Fatalf("change the goal to %s: %v", goal, err)
		}
	}
	change(`{"event": "renewed", "within_days": 1}`)
	start("v2")
	change(`null`)
	start("v3")
	for _, event := range []string{"paid", "renewed"} {
		for _, user := range []string{"v1", "v2", "v3"} {
			w.postAs(t, event, user, "", `{}`)
		}
		w.convert(t)
	}
	if got := w.converted(t); got != "v1 v2; 2 facts" {
		t.Errorf("converted %s, want v1 by paid and v2 by renewed", got)
	}
	counted := countedOf(t, w.newFigures(t, nil), sendingtest.Account, a.ID).Runs
	if diff := cmp.Diff(figures.Runs{Started: 3, Waiting: 3, WithGoal: 2, Converted: 2}, counted); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// Trials and events of other accounts convert nothing.
func TestConversionsStayWithinTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activateGoal(t, `{"event": "start"}`, longDelay)
	w.postAs(t, "start", "u1", "bob@example.net", `{}`)
	w.Exec(t, `INSERT INTO custom_events (id, account_id, name, user_id, email_key, data, source, matches, goal_pending, created_at)
		VALUES ('ae_01zz0m4w7he6x8q2v5b3n9c1ta', $1, 'paid', 'u1', 'bob@example.net', '{}', 'api', '[]', true, clock_timestamp() + interval '1 second')`, other)
	w.convert(t)
	if got := w.converted(t); got != "; 0 facts" {
		t.Errorf("the event of another account converted %s", got)
	}
}

// Several processes convert each run once, and a failed transaction leaves everything for the next one.
func TestRunsConvertOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activateGoal(t, `{"event": "start"}`, longDelay)
	const people = 130 // more events than one transaction takes
	for n := range people {
		w.postAs(t, "start", fmt.Sprintf("u%03d", n), "", `{}`)
	}
	for n := range people {
		w.postAs(t, "paid", fmt.Sprintf("u%03d", n), "", `{}`)
	}
	w.Exec(t, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$`)
	w.Exec(t, `CREATE TRIGGER refuse BEFORE INSERT ON facts FOR EACH ROW WHEN (new.type = 'automation.converted') EXECUTE FUNCTION refuse()`)
	if _, err := w.Convert(t.Context()); err == nil {
		t.Error("a conversion without its fact succeeded")
	}
	w.Exec(t, `DROP TRIGGER refuse ON facts`)
	if got := w.converted(t); got != "; 0 facts" {
		t.Errorf("after a failed transaction: converted %s, want none", got)
	}
	var group sync.WaitGroup
	for _, process := range []*Service{w.Service, w.newProcess(t), w.newProcess(t)} {
		group.Go(func() {
			if _, err := process.Convert(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	w.convert(t)
	runs := w.Count(t, "automation_runs WHERE converted_at IS NOT NULL")
	if facts := w.Count(t, "facts WHERE type = 'automation.converted'"); runs != people || facts != people {
		t.Errorf("%d runs converted, with %d facts; want %d of each", runs, facts, people)
	}
}

// A run that another transaction has locked converts later.
func TestLockedRunsConvertLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activateGoal(t, `{"event": "start"}`, longDelay)
	w.postAs(t, "start", "u1", "", `{}`)
	w.postAs(t, "paid", "u1", "", `{}`)
	tx, err := w.DB.SQL.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `SELECT id FROM automation_runs FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if left, err := w.Convert(ctx); err != nil || !left {
		t.Errorf("with a locked run: %v, left %t; want it left", err, left)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.convert(t)
	if got := w.converted(t); got != "u1; 1 facts" {
		t.Errorf("converted %s, want u1", got)
	}
}

// The timeline of a run shows the conversion, with the time.
func TestTimelineShowsTheConversion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activateGoal(t, `{"event": "start", "cancel_on_events": ["paid"]}`, longDelay)
	w.postAs(t, "start", "u1", "", `{}`)
	w.postAs(t, "paid", "u1", "", `{}`)
	w.convert(t)
	run, err := w.DB.Ent.AutomationRun.Query().Only(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.Timeline(t.Context(), sendingtest.Account, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, entry := range list {
		if entry.Fact != nil {
			types = append(types, string(entry.Fact.Type))
			if entry.Fact.Type == "automation.converted" && !entry.At.Equal(*run.ConvertedAt) {
				t.Errorf("the timeline has the conversion at %s, the run at %s", entry.At, run.ConvertedAt)
			}
		}
	}
	want := []string{"automation.started", "automation.cancelled", "automation.converted"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("facts in the timeline (-want +got):\n%s", diff)
	}
}
