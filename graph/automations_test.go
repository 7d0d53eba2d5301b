package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automation"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/graph/refusal"
	module "github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// fakeAutomations has two automations, runs and events of ada, the newest of which have no optional values,
// and one of each of bob.
type fakeAutomations struct{ *calls }

const someDraft = `{"name": "Welcome", "timezone": "Europe/Berlin", "trigger": {"event": "user.created"}, "steps": [
	{"key": "hello", "type": "send_email", "name": "Greet", "subject": "Hi", "text": "Hello"}, {"key": "text", "type": "send_sms", "to": "+4915112345678", "text": "Hi"},
	{"key": "paid", "type": "wait_for_event", "event": "order.paid", "timeout": "P1D"}]}`

func ofThree[T any](prefix string, of func(id, accountID string, whole bool) T) []T {
	return []T{of(prefix+"_002", ada, false), of(prefix+"_001", ada, true), of(prefix+"_999", bob, false)}
}

func someAutomations() []*ent.Automation {
	return ofThree("aut", func(id, accountID string, whole bool) *ent.Automation {
		a := &ent.Automation{ID: id, AccountID: accountID, Name: "Welcome", Status: automation.StatusDraft,
			DraftHash: "draft", CreatedAt: day, UpdatedAt: day,
			Draft: json.RawMessage(`{"name": "Welcome", "trigger": {"event": "user.created"}, "steps": []}`)}
		if version, at, draining := 2, day, automation.DrainingCancel; whole {
			a.Draft, a.Status, a.Description, a.Version, a.VersionHash, a.ActivatedAt, a.Draining = json.RawMessage(someDraft), automation.StatusActive, "To new users", &version, "draft", &at, &draining
		}
		return a
	})
}

func someRuns() []*ent.AutomationRun {
	return ofThree("run", func(id, accountID string, whole bool) *ent.AutomationRun {
		r := &ent.AutomationRun{ID: id, AccountID: accountID, AutomationID: "aut_001", Version: 2, EventID: "ae_001",
			Event: json.RawMessage(`{"name":"user.created"}`), Status: "waiting", StartedAt: day}
		if user, email, ended := "user-17", "bob@example.net", day.Add(time.Minute); whole {
			r.UserID, r.EmailKey, r.EndedAt, r.Status, r.Error, r.StepIndex = &user, &email, &ended, "failed",
				"wait_timed_out: nothing came", 2
		}
		return r
	})
}

func someCustomEvents() []*ent.CustomEvent {
	return ofThree("ae", func(id, accountID string, whole bool) *ent.CustomEvent {
		e := &ent.CustomEvent{ID: id, AccountID: accountID, Name: "user.created", Source: "api", CreatedAt: day}
		if user, email := "user-17", "bob@example.net"; whole {
			e.UserID, e.Email, e.Data, e.Source = &user, &email, json.RawMessage(`{"plan":"pro"}`), "system"
			e.Matches = []shape.EventMatch{{AutomationID: "aut_001", Version: 2, Outcome: "started", RunID: "run_001"},
				{AutomationID: "aut_002", Version: 1, Outcome: "condition_error", Error: "no such key: n"}}
		}
		return e
	})
}

func oneOfThem[T any](rows []T, key func(T) (accountID, id string), noun, accountID, id string) (none T, err error) {
	for _, row := range rows {
		if owner, own := key(row); owner == accountID && own == id {
			return row, nil
		}
	}
	return none, fault.NoSuch(noun, id)
}

func automationKey(a *ent.Automation) (string, string) { return a.AccountID, a.ID }
func runKey(r *ent.AutomationRun) (string, string)     { return r.AccountID, r.ID }
func eventKey(e *ent.CustomEvent) (string, string)     { return e.AccountID, e.ID }

func (f fakeAutomations) CountAutomations(ctx context.Context, accountID string, q module.Filter,
	most int) (int, error) {
	q.Request = whole
	n, err := lengthOf(f.List(ctx, accountID, q))
	return min(n, most), err
}

func (f fakeAutomations) List(_ context.Context, accountID string,
	q module.Filter) (page.Page[*ent.Automation], error) {
	rows := slices.DeleteFunc(someAutomations(), func(a *ent.Automation) bool {
		return q.Status != "" && string(a.Status) != q.Status || q.Event == "none" || q.Name == "none"
	})
	out, err := paged(rows, automationKey, "automations", accountID, q.Request)
	return out, orElse(err, f.call("automations.List"))
}

func (f fakeAutomations) Get(_ context.Context, accountID, id string) (*ent.Automation, error) {
	a, err := oneOfThem(someAutomations(), automationKey, "automation", accountID, id)
	return a, orElse(err, f.call("automations.Get"))
}

func (f fakeAutomations) Versions(_ context.Context, accountID, id string) ([]*ent.AutomationVersion, error) {
	if accountID != ada || id != "aut_001" {
		return nil, f.call("automations.Versions")
	}
	return []*ent.AutomationVersion{{Number: 2, Author: "usr_ada", Definition: json.RawMessage(`{"name":"Welcome"}`), CreatedAt: day}},
		f.call("automations.Versions")
}

func (f fakeAutomations) CountRuns(ctx context.Context, accountID string, q module.RunFilter, most int) (int, error) {
	q.Request = whole
	n, err := lengthOf(f.Runs(ctx, accountID, q))
	return min(n, most), err
}

func (f fakeAutomations) Runs(_ context.Context, accountID string,
	q module.RunFilter) (page.Page[*ent.AutomationRun], error) {
	if err := q.Validate().Err(); err != nil && q.AutomationID != "aut_999" {
		return page.Page[*ent.AutomationRun]{}, err
	}
	if q.AutomationID == "aut_999" {
		return page.Page[*ent.AutomationRun]{}, fault.NoSuch("automation", q.AutomationID)
	}
	rows := slices.DeleteFunc(someRuns(), func(r *ent.AutomationRun) bool {
		return q.Status != "" && string(r.Status) != q.Status || q.UserID != "" &&
			(r.UserID == nil || *r.UserID != q.UserID)
	})
	out, err := paged(rows, runKey, "automation runs", accountID, q.Request)
	return out, orElse(err, f.call("Runs"))
}

// details returns a run that sent msg_001. The run without optional values waits, for an event and because
// of its plan.
func details(r *ent.AutomationRun) module.RunDetail {
	out := module.RunDetail{AutomationRun: r}
	if r.UserID == nil {
		due := day.Add(time.Hour)
		out.Next, out.Held, out.WaitingStep, out.Waiting = &due, true, &definition.Step{Key: "paid"},
			&machine.StepWait{Events: []string{"order.paid"}, Since: day, Until: due}
		out.Blocked = &runs.Blocker{Code: "plan_limit", Message: "that is all for today", Since: day}
		return out
	}
	email := "msg_001"
	out.Steps = []*ent.AutomationStep{
		{RunID: r.ID, StepIndex: 0, Key: "hello", Type: "send_email", Status: "sent",
			Output: json.RawMessage(`{"status":"sent","email_id":"msg_001"}`), EmailID: &email, StartedAt: day,
			EndedAt: day},
		{RunID: r.ID, StepIndex: 2, Key: "paid", Type: "wait_for_event", Status: "timed_out",
			Output: json.RawMessage(`{"status":"timed_out"}`), Error: "wait_timed_out: nothing came", StartedAt: day,
			EndedAt: day},
	}
	return out
}

func (f fakeAutomations) Run(_ context.Context, accountID, id string) (module.RunDetail, error) {
	r, err := oneOfThem(someRuns(), runKey, "automation run", accountID, id)
	if err != nil {
		return module.RunDetail{}, err
	}
	return details(r), f.call("Run")
}

func (f fakeAutomations) Details(_ context.Context, accountID string,
	ids ...string) (map[string]module.RunDetail, error) {
	out := map[string]module.RunDetail{}
	for _, r := range someRuns() {
		if r.AccountID == accountID && slices.Contains(ids, r.ID) {
			out[r.ID] = details(r)
		}
	}
	return out, f.call("Details")
}

func (f fakeAutomations) TimelineOf(_ context.Context, run module.RunDetail) ([]module.TimelineEntry, error) {
	fact := event.New(ada, event.EmailSent, day, event.Email{EmailID: "msg_001"})
	list := []module.TimelineEntry{{At: day, Source: "event",
		Event: &module.TimelineEvent{ID: "ae_001", Name: "user.created", Outcome: "started",
			Data: json.RawMessage(`{}`), At: day}},
		{At: day, Source: "email", StepKey: "hello", Fact: &fact}}
	for _, step := range run.Steps {
		list = append(list, module.TimelineEntry{At: day, Source: "step", StepKey: step.Key, Step: step})
	}
	if run.Blocked != nil {
		list = append(list, module.TimelineEntry{At: day, Source: "wait", StepKey: "paid",
			Blocked: &module.BlockedStep{Blocker: run.Blocked, Type: "send_email"}})
	}
	return list, f.call("TimelineOf")
}

func (f fakeAutomations) Origins(_ context.Context, accountID string,
	ids ...string) (map[string]module.EmailOrigin, error) {
	out := map[string]module.EmailOrigin{}
	if accountID == ada && slices.Contains(ids, "msg_001") {
		out["msg_001"] = module.EmailOrigin{AutomationName: "Welcome", StepKey: "hello"}
	}
	return out, f.call("Origins")
}

func (f fakeAutomations) CountEvents(ctx context.Context, accountID string, q module.EventFilter,
	most int) (int, error) {
	q.Request = whole
	n, err := lengthOf(f.Events(ctx, accountID, q))
	return min(n, most), err
}

func (f fakeAutomations) Events(_ context.Context, accountID string,
	q module.EventFilter) (page.Page[*ent.CustomEvent], error) {
	rows := slices.DeleteFunc(someCustomEvents(),
		func(e *ent.CustomEvent) bool { return q.Source != "" && e.Source != q.Source || q.Name == "none" })
	if strings.ContainsRune(q.UserID, 0) {
		return page.Page[*ent.CustomEvent]{}, fault.InvalidField("user_id", "has a character that no name can have")
	}
	out, err := paged(rows, eventKey, "custom events", accountID, q.Request)
	return out, orElse(err, f.call("automations.Events"))
}

func (f fakeAutomations) Event(_ context.Context, accountID, id string) (*ent.CustomEvent, error) {
	e, err := oneOfThem(someCustomEvents(), eventKey, "event", accountID, id)
	return e, orElse(err, f.call("Event"))
}

func (f fakeAutomations) Explain(ctx context.Context, accountID, id string) (module.EventExplanation, error) {
	e, err := f.Event(ctx, accountID, id)
	if err != nil {
		return module.EventExplanation{}, err
	}
	condition := expression.Explanation{Text: "event.data.n > 3",
		Parts: []expression.Part{{Text: "event.data.n", Value: 2}, {Text: "3", Error: "none"}}, Error: "no value"}
	out := module.EventExplanation{Event: e}
	for _, m := range e.Matches {
		out.Matches = append(out.Matches, module.ExplainedMatch{EventMatch: m, AutomationName: "Welcome",
			StepKey: "paid", Conditions: []expression.Explanation{condition}})
	}
	out.NearMisses = []module.NearMiss{{Kind: module.WaitConditionFalse, AutomationID: "aut_001", RunID: "run_001",
		StepKey: "paid", Name: "user.created", Condition: &condition},
		{Kind: module.EventOfAnotherPerson, EventID: "ae_002", Name: "user.created"}}
	return out, f.call("Explain")
}

// fakeFigures has statistics for the steps of aut_001.
type fakeFigures struct{ *calls }

func (f fakeFigures) GetMany(_ context.Context, accountID string, ids ...string) (map[string]*figures.Figures, error) {
	out := map[string]*figures.Figures{}
	for _, id := range ids {
		out[id] = &figures.Figures{}
	}
	if counted := out["aut_001"]; counted != nil && accountID == ada {
		counted.Runs = figures.Runs{Started: 15, Running: 1, Waiting: 2, Completed: 3, Failed: 4, Cancelled: 5}
		counted.Steps = map[figures.StepPosition]figures.StepFigures{{Version: 1, Key: "hello"}: {Completed: 1},
			{Version: 2, Key: "hello"}: {Waiting: 1, Completed: 2, TimedOut: 1, Skipped: 3, Failed: 4, Cancelled: 5}}
		counted.Messages = map[figures.StepPosition]figures.Texts{{Version: 2, Key: "text"}: {Sent: 3, Delivered: 2,
			Failed: 1}}
	}
	return out, f.call("Of")
}

func (f fakeFigures) Emails(_ context.Context, accountID string, version int,
	ids ...string) (map[string]*figures.ByStep, error) {
	if accountID != ada || !slices.Contains(ids, "aut_001") || version != 0 {
		return nil, f.call("Emails")
	}
	return map[string]*figures.ByStep{"aut_001": {Steps: map[string]figures.Emails{"hello": {Counts: records.Counts{Sent: 9, Delivered: 8, Bounced: 1}, Reach: tracking.Reach{Opened: 7, Clicked: 6}}}}}, f.call("Emails")
}

func (fakeFigures) CountsEngagement() bool { return true }

func TestAutomationsAnswerEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for name, query := range map[string]string{
		"automations.json": `{ automation(id: "aut_001") ` + everything(t, "Automation") +
			` bare: automations(first: 1) ` + everything(t, "AutomationConnection") + ` }`,
		"automation_runs.json": `{ automationRun(id: "run_001") ` + everything(t, "AutomationRun") +
			` bare: automationRuns(first: 1) ` + everything(t, "AutomationRunConnection") + ` }`,
		"custom_events.json": `{ customEvent(id: "ae_001") ` + everything(t, "CustomEvent") +
			` bare: customEvents(first: 1) ` + everything(t, "CustomEventConnection") + ` }`,
	} {
		a := s.ask(t, query, nil)
		if a.status != 200 || len(a.Errors) != 0 {
			t.Errorf("asking every field for %s got status %d and %s, want 200 without errors", name, a.status, a.body)
			continue
		}
		expect.Golden(t, name, indented(t, stable(a.body)))
	}
}

// stable replaces the IDs of facts, which differ on every run.
func stable(body string) string {
	for {
		_, id, found := strings.Cut(body, `"evt_0`)
		if !found {
			return body
		}
		id, _, _ = strings.Cut(id, `"`)
		body = strings.ReplaceAll(body, "evt_0"+id, "evt_of_a_fact")
	}
}

func TestFiguresOfOneVersionAreApart(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t,
		`{ automation(id: "aut_001") { steps { key one: stats(version: 1) { entered } two: stats(version: 2) { entered } none: stats(version: 7) { entered emails { sent } sms { sent } } } } }`, nil)
	const want = `{"data":{"automation":{"steps":[` +
		`{"key":"hello","one":{"entered":1},"two":{"entered":15},"none":{"entered":0,"emails":{"sent":0},"sms":null}},` +
		`{"key":"text","one":{"entered":0},"two":{"entered":0},"none":{"entered":0,"emails":null,"sms":{"sent":0}}},` +
		`{"key":"paid","one":{"entered":0},"two":{"entered":0},"none":{"entered":0,"emails":null,"sms":null}}]}}}`
	if a.body != want {
		t.Errorf("the figures by version are\n%s, want\n%s", a.body, want)
	}
	a = s.ask(t, `{ automation(id: "aut_001") { steps { stats(version: 0) { entered } } } }`, nil)
	if !strings.Contains(a.codes(), "validation_error") || a.Errors[0].Extensions.Details["version"] == "" {
		t.Errorf("the figures of version 0 got %s, want a validation error that names version", a.body)
	}
}

func TestAPageOfAutomationsAsksEachServiceMethodOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	a := s.ask(t, `{ automations { nodes { stats { started } steps { stats { entered emails { sent } sms { sent } } } } }
		automationRuns { nodes { steps { key } waitingFor { step } nextAt held emails { id automation { stepKey } } } } }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking for pages got status %d and %s, want 200 without errors", a.status, a.body)
	}
	same(t, "calls", map[string]int{"automations.List": 1, "Of": 1, "Emails": 1, "Runs": 1, "Details": 1, "Several": 1,
		"Origins": 1}, s.calls.counted())
}

func TestListsOfAutomationsAreNarrowed(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for query, want := range map[string]string{
		`automations(filter: {status: ACTIVE})`:       `"aut_001"`,
		`automations(filter: {event: "none"})`:        ``,
		`automations(filter: {query: "none"})`:        ``,
		`automationRuns(filter: {status: FAILED})`:    `"run_001"`,
		`automationRuns(filter: {userId: "user-17"})`: `"run_001"`,
		`customEvents(filter: {source: SYSTEM})`:      `"ae_001"`,
		`customEvents(filter: {name: "none"})`:        ``,
		`customEvents(first: 1)`:                      `"ae_002"`,
		`automations(first: 2)`:                       `"aut_002" "aut_001"`,
	} {
		a := s.ask(t, `{ `+query+` { nodes { id } } }`, nil)
		list, _, _ := strings.Cut(a.body, "]")
		_, list, _ = strings.Cut(list, "[")
		if got := strings.NewReplacer(`{"id":`, "", "},", " ", "}", "").Replace(list); len(a.Errors) != 0 ||
			got != want {
			t.Errorf("%s got %s, want %s", query, a.body, want)
		}
	}
	if a := s.ask(t, `{ automationRuns(filter: {automationId: "aut_999"}) { nodes { id } } }`,
		nil); a.body != `{"data":{"automationRuns":null}}` {
		t.Errorf("the runs of another account's automation are %s, want null", a.body)
	}
	for query, field := range map[string]string{
		`automationRuns(filter: {automationId: "nothing"})`: "automationId",
		`automationRuns(filter: {step: "hello"})`:           "step",
		`customEvents(filter: {userId: "a\u0000"})`:         "userId", `automations(after: "x")`: "after",
		`customEvents(first: 0)`: "first",
	} {
		a := s.ask(t, `{ `+query+` { nodes { id } } }`, nil)
		if a.codes() != "validation_error" || a.Errors[0].Extensions.Details[field] == "" {
			t.Errorf("%s got %s, want a validation error that names %s", query, a.body, field)
		}
	}
}

// A sending key can read custom events but no automations.
func TestExplanationsAndOriginsNeedAKeyThatReads(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for _, query := range []string{`{ customEvent(id: "ae_001") { id explanation { matches { outcome } } } }`,
		`{ email(id: "msg_001") { id automation { runId } } }`} {
		if a := s.askAs(t, "svc_sending", query, nil); a.codes() != "insufficient_scope" {
			t.Errorf("a key of scope sending asks %s and gets %s, want insufficient_scope", query, a.body)
		}
		if a := s.askAs(t, "svc_read", query, nil); len(a.Errors) != 0 {
			t.Errorf("a key of scope read asks %s and gets %s, want no error", query, a.body)
		}
	}
}

func TestLargeDataOfAutomationsIsBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	for _, field := range []string{"customEvents(first: 100) { nodes { data } }",
		"automationRuns(first: 100) { nodes { event } }",
		"automations(first: 100) { nodes { versions { definition } } }"} {
		if a := s.ask(t, fmt.Sprintf(`{ %s }`, field), nil); a.status != 400 || a.codes() != refusal.CodeTooComplex {
			t.Errorf("%s got status %d and %.200s, want it refused as too complex", field, a.status, a.body)
		}
	}
}
