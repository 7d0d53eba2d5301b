package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/diff"
	"github.com/postrider/postrider/modules/automations/expression"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/automations/runs"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

const (
	automationID  = "aut_01kf0m4w7he6x8q2v5b3n9c1ta"
	runID         = "run_01kf0m4w7he6x8q2v5b3n9c1ta"
	customEventID = "ae_01kf0m4w7he6x8q2v5b3n9c1ta"

	welcome = `{"name":"Welcome","trigger":{"event":"user.created","re_entry":"once"},"steps":[` +
		`{"key":"hello","type":"send_email","from":"Ada <ada@example.com>","subject":"Welcome, {{event.data.name}}","text":"Hello {{event.data.name}}."},` +
		`{"key":"pause","type":"delay","duration":"P1D"},` +
		`{"key":"tips","type":"send_email","from":"Ada <ada@example.com>","template":{"alias":"tips"}}]}`
)

// fakeAutomations has one automation with one run, and records its calls.
type fakeAutomations struct {
	fail    error
	blocked *runs.Blocker // why the run waits
	tried   []automations.Trial
	posted  []ingest.Post
	changed map[string]json.RawMessage
	done    []string

	simulated []automations.SimulationInput
}

func (f *fakeAutomations) automation() *ent.Automation {
	one := 1
	hash := strings.Repeat("3f2a9c1b7d5e4f60", 4)
	return &ent.Automation{ID: automationID, AccountID: accountID, Name: "Welcome", Event: "user.created",
		Status: "active", Draft: json.RawMessage(welcome), DraftHash: hash, Version: &one,
		VersionHash: hash, CreatedAt: hookTime, UpdatedAt: hookTime, ActivatedAt: &hookTime}
}

func (f *fakeAutomations) run() automations.RunDetail {
	user, address, email := "user-17", "bob@example.net", emailID
	return automations.RunDetail{Next: &hookTime, Blocked: f.blocked, Waiting: &machine.StepWait{Until: hookTime},
		WaitingStep: &definition.Step{Key: "pause"}, AutomationRun: &ent.AutomationRun{ID: runID,
			AutomationID: automationID, Version: 1, EventID: customEventID, UserID: &user, EmailKey: &address,
			Status: "waiting", StepIndex: 1, StartedAt: hookTime,
			Event: json.RawMessage(`{"id":"` + customEventID +
				`","name":"user.created","user_id":"user-17","email":"bob@example.net","data":{"name":"Bob"},"source":"api","created_at":"2026-01-15T09:30:00Z"}`)},
		Steps: []*ent.AutomationStep{{Key: "hello", Type: "send_email", Status: "sent",
			Output: json.RawMessage(`{"status":"sent","email_id":"` + emailID + `"}`), EmailID: &email,
			StartedAt: hookTime, EndedAt: hookTime}}}
}

func (f *fakeAutomations) event() *ent.CustomEvent {
	user, address := "user-17", "bob@example.net"
	return &ent.CustomEvent{ID: customEventID, Name: "user.created", UserID: &user, Email: &address,
		Data: json.RawMessage(`{"name":"Bob"}`), Source: "api", CreatedAt: hookTime,
		Matches: []shape.EventMatch{{AutomationID: automationID, Version: 1, Outcome: "started", RunID: runID}}}
}

func (f *fakeAutomations) known(id string) error {
	if id != automationID && id != runID && id != customEventID {
		return fault.NoSuch("automation", id)
	}
	return f.fail
}

func (f *fakeAutomations) does(ctx context.Context, what, id string,
	keep automations.StoreChangeResponse) (*ent.Automation, error) {
	if err := f.known(id); err != nil {
		return nil, err
	}
	f.done = append(f.done, what)
	if keep != nil {
		if err := keep(ctx, nil, f.automation()); err != nil {
			return nil, err
		}
	}
	return f.automation(), nil
}

func (f *fakeAutomations) Create(ctx context.Context, _ string, _ []byte,
	keep automations.StoreChangeResponse) (*ent.Automation, error) {
	return f.does(ctx, "create", automationID, keep)
}

func (f *fakeAutomations) List(context.Context, string, automations.Filter) (page.Page[*ent.Automation], error) {
	return page.Page[*ent.Automation]{Items: []*ent.Automation{f.automation()}}, f.fail
}

func (f *fakeAutomations) Get(_ context.Context, _, id string) (*ent.Automation, error) {
	return f.automation(), f.known(id)
}

func (f *fakeAutomations) Change(ctx context.Context, _, id string, members map[string]json.RawMessage,
	hash string) (*ent.Automation, error) {
	f.changed = members
	if hash == "stale" {
		return nil, fmt.Errorf("change automation: %w",
			fault.Conflictf(fault.CodeConflict, "The draft has changed since you read it; read it again").
				With(fault.DetailChangedAt, "2026-01-15T09:30:00Z"))
	}
	return f.does(ctx, "change "+hash, id, nil)
}

// The second of two users who change a draft gets the name of the first. A response to an API key never
// contains an email address.
func TestTheSecondWhoChangesADraftIsTold(t *testing.T) {
	t.Parallel()
	b, _ := newPeopleBundle(t)
	const body = `{"name":"Mine"}`
	want := `"details":{"changed_at":"2026-01-15T09:30:00Z","changed_by":"bob@example.com"}`
	for _, path := range []string{"/api/automations/aut_01kf0m4w7he6x8q2v5b3n9c1ta", "/api/templates/" + templateID} {
		if got := b.do(t, as("developer", "PATCH", path, body, "If-Match",
			`"stale"`)); got.status != http.StatusConflict || !strings.Contains(got.body, want) {
			t.Errorf("%s: a person: %d %s, want 409 with %s", path, got.status, got.body, want)
		}
		key := request{method: "PATCH", path: path, body: body, header: map[string]string{"If-Match": `"stale"`}}
		if got := b.do(t, key); got.status != http.StatusConflict || !strings.Contains(got.body, `"changed_at"`) ||
			strings.Contains(got.body, "bob") {
			t.Errorf("%s: a key: %d %s, want 409 without a name", path, got.status, got.body)
		}
	}
}

func (f *fakeAutomations) Delete(_ context.Context, _, id string) error { return f.known(id) }

func (f *fakeAutomations) Duplicate(ctx context.Context, _, id string,
	keep automations.StoreChangeResponse) (*ent.Automation, error) {
	return f.does(ctx, "duplicate", id, keep)
}

func (f *fakeAutomations) acts(ctx context.Context, what, id string, of automations.ActionResult,
	keep automations.StoreActionResponse) (automations.ActionResult, error) {
	a, err := f.does(ctx, what, id, nil)
	if of.Automation = a; err == nil && keep != nil {
		err = keep(ctx, nil, of)
	}
	return of, err
}

func (f *fakeAutomations) Activate(ctx context.Context, _ accounts.Caller, id string,
	in automations.Activation) (automations.ActionResult, error) {
	return f.acts(ctx, map[bool]string{true: "activate and cancel", false: "activate"}[in.Cancel], id,
		automations.ActionResult{}, in.Keep)
}

func (f *fakeAutomations) Pause(ctx context.Context, _, id string, hold bool,
	keep automations.StoreActionResponse) (automations.ActionResult, error) {
	return f.acts(ctx, map[bool]string{true: "pause and hold", false: "pause"}[hold], id,
		automations.ActionResult{Held: &three}, keep)
}

func (f *fakeAutomations) Archive(ctx context.Context, _, id string,
	keep automations.StoreActionResponse) (automations.ActionResult, error) {
	return f.acts(ctx, "archive", id, automations.ActionResult{Cancelling: &three}, keep)
}

var three = 3

func (f *fakeAutomations) Check(_ context.Context, _ accounts.Caller, id string) ([]automations.Problem, error) {
	return []automations.Problem{{Path: "steps[0].template", Severity: "error",
		Message: "must be a published template; publish it first"}}, f.known(id)
}

func (f *fakeAutomations) version() *ent.AutomationVersion {
	return &ent.AutomationVersion{Number: 1, Definition: json.RawMessage(welcome), CreatedAt: hookTime}
}

func (f *fakeAutomations) Versions(_ context.Context, _, id string) ([]*ent.AutomationVersion, error) {
	return []*ent.AutomationVersion{f.version()}, f.known(id)
}

func (f *fakeAutomations) Version(_ context.Context, _, id string, _ int) (*ent.AutomationVersion, error) {
	return f.version(), f.known(id)
}

func (f *fakeAutomations) Runs(_ context.Context, _ string,
	filter automations.RunFilter) (page.Page[*ent.AutomationRun], error) {
	if filter.AutomationID != "" && f.known(filter.AutomationID) != nil {
		return page.Page[*ent.AutomationRun]{}, f.known(filter.AutomationID)
	}
	return page.Page[*ent.AutomationRun]{Items: []*ent.AutomationRun{f.run().AutomationRun}}, f.fail
}

func (f *fakeAutomations) Run(_ context.Context, _, id string) (automations.RunDetail, error) {
	return f.run(), f.known(id)
}

func (f *fakeAutomations) Cancel(ctx context.Context, _, id string,
	keep automations.KeepRun) (automations.RunDetail, error) {
	return f.keeps(ctx, id, keep)
}

func (f *fakeAutomations) Retry(ctx context.Context, _, id string,
	keep automations.KeepRun) (automations.RunDetail, error) {
	return f.keeps(ctx, id, keep)
}

func (f *fakeAutomations) keeps(ctx context.Context, id string,
	keep automations.KeepRun) (automations.RunDetail, error) {
	if err := f.known(id); err != nil || keep == nil {
		return f.run(), err
	}
	return f.run(), keep(ctx, nil, f.run())
}

func (f *fakeAutomations) RetryFailed(ctx context.Context, _, id string, in automations.Failed) (int, error) {
	if err := f.known(id); err != nil {
		return 0, err
	}
	f.done = append(f.done, "retry since "+in.Since.UTC().Format(time.RFC3339)+" "+in.Step)
	return 17, in.Keep(ctx, nil, 17)
}

func (f *fakeAutomations) WebhookSecret(string) secret.String {
	return secret.New("whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo")
}

func (f *fakeAutomations) Simulate(_ context.Context, _ accounts.Caller, id string,
	in automations.SimulationInput) (automations.SimulationResult, error) {
	f.simulated = append(f.simulated, in)
	output := map[string]any{"status": "sent", "email_id": "msg_simulated_hello"}
	facts := []event.Fact{event.New(accountID, event.AutomationStarted, hookTime,
		event.Run{AutomationID: automationID, AutomationName: "Welcome", RunID: "run_simulated", Status: "running",
			EventName: "user.created", StepType: "send_email"})}
	return automations.SimulationResult{AutomationID: automationID,
		Result: simulation.Result{Status: "completed", StartedAt: hookTime, EndedAt: hookTime, Facts: facts,
			Steps: []simulation.StepResult{{Record: machine.Record{Key: "hello", Type: "send_email", Status: "sent",
				Output: output, Started: hookTime, Ended: hookTime},
				Effect: simulation.EffectResult{Preview: &sending.Preview{From: "Ada <ada@example.com>",
					To: []string{"bob@example.net"}, Subject: "Welcome, Bob", Text: "Hello Bob."}}}},
			Arrivals: []simulation.Arrival{{Event: &machine.Event{Name: "user.verified", CreatedAt: hookTime},
				Outcome: simulation.Nothing}}}}, f.known(id)
}

func (f *fakeAutomations) Backtest(_ context.Context, _ accounts.Caller, id string,
	_ automations.BacktestInput) (automations.Backtest, error) {
	one := 1
	return automations.Backtest{Version: &one, Events: 2, DraftStarts: 1, ActiveStarts: 2, Differ: 1,
			Differences: []automations.BacktestDifference{{Event: f.event(),
				Active: automations.TriggerDecision{Starts: true}}}},
		f.known(id)
}

func (f *fakeAutomations) Compare(_ context.Context, _, id string, number int,
	against automations.Against) (automations.Comparison, error) {
	f.done = append(f.done, fmt.Sprintf("compare %d with %+v", number, against))
	return automations.Comparison{From: &number,
		Difference: diff.Difference{Steps: []diff.StepChange{{Key: "pause", Type: "delay", Change: diff.Changed,
			Before: 1, After: 1,
			Fields: []diff.FieldChange{{Path: "duration", Before: "P1D", After: "P2D"}}}}}}, f.known(id)
}

func (f *fakeAutomations) Explain(_ context.Context, _, id string) (automations.EventExplanation, error) {
	condition := expression.Explanation{Text: "event.data.amount > 50",
		Parts: []expression.Part{{Text: "event.data.amount > 50", Value: false},
			{Text: "event.data.amount", Value: 20}}}
	return automations.EventExplanation{Event: f.event(),
		Matches: []automations.ExplainedMatch{{EventMatch: shape.EventMatch{AutomationID: automationID, Version: 1,
			Outcome: "condition_false"}, AutomationName: "Welcome",
			Conditions: []expression.Explanation{condition}}},
		NearMisses: []automations.NearMiss{{Kind: automations.WaitOfAnotherPerson, AutomationID: automationID,
			RunID: runID, StepKey: "verified", Name: "user.verified"}}}, f.known(id)
}

func (f *fakeAutomations) Timeline(_ context.Context, _, id string) ([]automations.TimelineEntry, error) {
	return []automations.TimelineEntry{
		{At: hookTime, Source: automations.SourceEvent, Event: &automations.TimelineEvent{ID: customEventID,
			Name: "user.created", Outcome: "started", Data: json.RawMessage(`{"name":"Bob"}`)}},
		{At: hookTime, Source: automations.SourceStep, StepKey: "hello", Step: f.run().Steps[0]},
		{At: hookTime, Source: automations.SourceWait, StepKey: "tips",
			Blocked: &automations.BlockedStep{Type: "send_email",
				Blocker: &runs.Blocker{Code: "plan_limit", Message: "that is all for today"}}}}, f.known(id)
}

func (f *fakeAutomations) Post(_ context.Context, p ingest.Post) (ingest.Result, error) {
	f.posted = append(f.posted, p)
	return ingest.Result{Matched: 1, Event: ingest.Event{ID: customEventID, Name: p.Name, UserID: p.UserID,
		Email: p.Email, Data: json.RawMessage(`{"name":"Bob"}`), Source: p.Source, CreatedAt: hookTime}}, f.fail
}

func (f *fakeAutomations) RunTrial(_ context.Context, _ accounts.Caller,
	in automations.Trial) (automations.TrialResult, error) {
	f.tried = append(f.tried, in)
	out := automations.TrialResult{Result: ingest.Result{Matched: 1,
		Event: ingest.Event{ID: customEventID, Name: in.Name, Source: in.Source, CreatedAt: hookTime}}}
	if out.RunID = runID; !in.Send {
		out.RunID, out.Played = "", &automations.SimulationResult{AutomationID: in.AutomationID}
		out.Played.Status = "completed"
	}
	return out, f.fail
}

func (f *fakeAutomations) Events(context.Context, string,
	automations.EventFilter) (page.Page[*ent.CustomEvent], error) {
	return page.Page[*ent.CustomEvent]{Items: []*ent.CustomEvent{f.event()}}, f.fail
}

func (f *fakeAutomations) Event(_ context.Context, _, id string) (*ent.CustomEvent, error) {
	return f.event(), f.known(id)
}

func TestDefinitionsAreRefusedByThePathsOfTheirFields(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for body, want := range map[string][]string{
		`{}`: {"name", "steps", "trigger"},
		`{"name":"N","trigger":{"event":"e"},"steps":[{"type":"delay","duration":"P1M"},{"type":"loop"}]}`:       {"steps[0].duration", "steps[1].type"},
		`{"name":"N","trigger":{"event":"e","conditions":"1 +"},"steps":[{"type":"end"}]}`:                       {"trigger.conditions"},
		`{"name":5,"trigger":[],"steps":{}}`:                                                                     {"name", "steps", "trigger"},
		`{"name":"N","nam":"M","trigger":{"event":"e"},"steps":[{"type":"end"}]}`:                                {"nam"},
		`{"name":"N","trigger":{"event":"e"},"steps":[{"type":"end"},{"type":"end","key":"in"}],"timezone":"x"}`: {"steps[1].key", "timezone"},
	} {
		got := b.do(t, request{method: "POST", path: "/api/automations", body: body})
		if diff := cmp.Diff(want, fieldsOf(t, got.body)); got.status != 400 || diff != "" {
			t.Errorf("%s: got %d %s, want 400 with the fields (-want +got):\n%s", body, got.status, got.body, diff)
		}
	}
	if len(b.automations.done) > 0 {
		t.Errorf("a definition that is wrong was created: %v", b.automations.done)
	}
}

// fieldsOf returns the names of the invalid fields in a response.
func fieldsOf(t *testing.T, answer string) []string {
	t.Helper()
	var read struct {
		Error struct{ Details map[string]any }
	}
	if err := json.Unmarshal([]byte(answer), &read); err != nil {
		t.Fatalf("the answer is no JSON: %s", answer)
	}
	names := make([]string, 0, len(read.Error.Details))
	for name := range read.Error.Details {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A run that waits because a step could not be completed shows the reason, and so does its timeline.
func TestARunSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.automations.blocked = &runs.Blocker{Code: "plan_limit", Message: "that is all for today", Since: hookTime}
	for path, want := range map[string]string{
		"":          `"reason":{"code":"plan_limit","message":"that is all for today","since":"2026-01-15T09:30:00.000Z"}}`,
		"/timeline": `"source":"wait","type":"send_email","status":"waiting","step_key":"tips","subject_id":null,"error":"plan_limit: that is all for today","data":{}}`,
	} {
		if got := b.do(t, request{method: "GET", path: "/api/automation-runs/" + runID + path}); got.status != 200 ||
			!strings.Contains(got.body, want) {
			t.Errorf("GET …%s: got %d %s, want in it %s", path, got.status, got.body, want)
		}
	}
}

// Editors and other programs read the schema without a key.
func TestTheSchemaOfADefinitionIsServed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	got := b.do(t, request{method: "GET", path: "/api/schemas/automation.json", key: "-"})
	if got.status != 200 || got.header.Get("Content-Type") != "application/schema+json" ||
		!strings.Contains(got.body, "https://json-schema.org/draft/2020-12/schema") {
		t.Errorf("got %d as %s, want 200 and a JSON Schema of 2020-12: %.200s", got.status,
			got.header.Get("Content-Type"), got.body)
	}
}

func TestEventsArePosted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for body, status := range map[string]int{
		`{"name":"user.created","user_id":"user-17","email":"bob@example.net","data":{"n":12345678901234567890}}`: 202,
		`{"type":"user.created"}`:        202,
		`{"name":"a","type":"a"}`:        202,
		`{"name":"a","type":"b"}`:        400,
		`{}`:                             400,
		`{"name":"a","user_id":17}`:      400,
		`{"name":"a","data":[]}`:         400,
		`{"name":"a","dry_run":true}`:    400,
		`{"name":"a","test_send":false}`: 400,
		`{"name":"a","automation_id":"` + automationID + `"}`: 400,
	} {
		if got := b.do(t, request{method: "POST", path: "/api/events", body: body,
			key: "sending"}); got.status != status {
			t.Errorf("%s: got %d %s, want %d", body, got.status, got.body, status)
		}
	}
	for _, p := range b.automations.posted {
		if p.AccountID != accountID || p.Source != "api" {
			t.Errorf("an event was posted for %s as %s", p.AccountID, p.Source)
		}
		if strings.Contains(string(p.Data), "e+") {
			t.Errorf("a large number was changed: %s", p.Data)
		}
	}
	if got := b.do(t, request{method: "POST", path: "/api/events", body: `{"name":"a"}`,
		key: "read"}); got.status != 403 {
		t.Errorf("a key that may only read posts an event: %d", got.status)
	}
}

// An event that is posted again with the alias of name is the same request.
func TestEventsUnderEitherNameAreEqual(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	compared := func(body string) string {
		got := b.do(t, request{method: "POST", path: "/api/events", body: body,
			header: map[string]string{"Idempotency-Key": body}})
		if got.status != 202 {
			t.Fatalf("%s: got %d %s, want 202", body, got.status, got.body)
		}
		return b.store.bodies[body]
	}
	want := compared(`{"name":"a","data":{"type":"b"}}`)
	for _, body := range []string{`{"type":"a","data":{"type":"b"}}`, `{"data":{"type":"b"},"type":"a","name":"a"}`} {
		if got := compared(body); got != want {
			t.Errorf("%s is compared as %s, want %s", body, got, want)
		}
	}
	for _, body := range []string{`{"type":"b","data":{"type":"b"}}`, `{"name":"a","data":{"name":"b"}}`} {
		if got := compared(body); got == want {
			t.Errorf("%s is compared as %s, which is another event", body, got)
		}
	}
}

func TestActionsOnAutomations(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, c := range []struct {
		body   string
		status int
		done   string
	}{
		{`{"action":"activate"}`, 200, "activate"}, {`{"action":"activate","version":1}`, 200, "activate"}, {`{"action":"pause"}`, 200, "pause and hold"},
		{`{"action":"pause","runs":"continue"}`, 200, "pause"},
		{`{"action":"activate","runs":"cancel"}`, 200, "activate and cancel"}, {`{"action":"activate","runs":"continue"}`, 200, "activate"},
		{`{"action":"activate","runs":"hold"}`, 400, ""}, {`{"action":"pause","runs":"cancel"}`, 400, ""},
		{`{"action":"archive"}`, 200, "archive"}, {`{"action":"duplicate"}`, 200, "duplicate"},
		{`{"action":"explode"}`, 400, ""}, {`{}`, 400, ""}, {`{"action":"pause","version":1}`, 400, ""},
		{`{"action":"archive","runs":"hold"}`, 400, ""}, {`{"action":"activate","version":0}`, 400, ""},
	} {
		b.automations.done = nil
		got := b.do(t, request{method: "POST", path: "/api/automations/" + automationID, body: c.body})
		if done := strings.Join(b.automations.done, ","); got.status != c.status || done != c.done {
			t.Errorf("%s: got %d and did %q, want %d and %q: %s", c.body, got.status, done, c.status, c.done, got.body)
		}
	}
	for body, want := range map[string]string{`{"action":"pause"}`: `"held_runs":3`,
		`{"action":"archive"}`: `"cancelling_runs":3`} {
		if got := b.do(t, request{method: "POST", path: "/api/automations/" + automationID,
			body: body}); !strings.Contains(got.body, want) {
			t.Errorf("%s is answered without %s: %s", body, want, got.body)
		}
	}
}

func TestFailedRunsAreTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	path := "/api/automations/" + automationID + "/retry-failed"
	got := b.do(t, request{method: "POST", path: path, body: `{"since":"2026-01-15T10:30:00+01:00","step":"tips"}`})
	if want := `{"runs":17}`; got.status != 200 || strings.TrimSpace(got.body) != want {
		t.Errorf("retry-failed: %d %s, want %s", got.status, got.body, want)
	}
	if done := strings.Join(b.automations.done, ","); done != "retry since 2026-01-15T09:30:00Z tips" {
		t.Errorf("the service was asked %q", done)
	}
	for body, field := range map[string]string{`{}`: "since", `{"since":"yesterday"}`: "since",
		`{"since":"2026-01-15T09:30:00Z","step":7}`: "step", `{"since":"2026-01-15T09:30:00Z","steps":"a"}`: "steps"} {
		if got := b.do(t, request{method: "POST", path: path, body: body}); got.status != 400 ||
			!strings.Contains(got.body, `"`+field+`"`) {
			t.Errorf("%s: %d %s, want 400 that names %s", body, got.status, got.body, field)
		}
	}
}

func TestListsOfRunsNameWrongFilters(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for query, field := range map[string]string{"step=hello": "step", "since=now": "since", "until=now": "until",
		"since=2026-01-16T09:30:00Z&until=2026-01-15T09:30:00Z": "until", "version=0": "version",
		"status=lost": "status"} {
		if got := b.do(t, request{method: "GET", path: "/api/automation-runs?" + query}); got.status != 400 ||
			!strings.Contains(got.body, field) {
			t.Errorf("?%s: %d %s, want 400 that names %s", query, got.status, got.body, field)
		}
	}
	for _, path := range []string{"/api/automations/" + automationID +
		"/runs?step=hello&version=1&since=2026-01-15T09:30:00Z&until=2026-01-16T09:30:00Z",
		"/api/automation-runs?step=hello&automation_id=" + automationID,
		"/api/events?source=system&since=2026-01-15T09:30:00Z&until=2026-01-16T09:30:00Z"} {
		if got := b.do(t, request{method: "GET", path: path}); got.status != 200 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := b.do(t, request{method: "GET", path: "/api/events?since=now"}); got.status != 400 {
		t.Errorf("events since now: %d %s", got.status, got.body)
	}
}
