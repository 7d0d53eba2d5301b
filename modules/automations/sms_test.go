package automations

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations/simulation"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/optout"
	smssettings "github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/node"
)

// textOwner returns an account that can send text messages.
type textOwner struct{}

func (textOwner) Account(_ context.Context, accountID string) (accounts.Account, error) {
	return accounts.Account{ID: accountID, Plan: accounts.Plan{ID: "pro", Name: "Pro"}}, nil
}

// textMessages is the sms module with its settings.
type textMessages struct {
	*sms.Service

	chosen  *smssettings.Service
	numbers *optout.Service
}

// withTexts adds an sms module whose messages stay queued.
func (w *world) withTexts(t *testing.T) textMessages {
	t.Helper()
	box, err := secret.NewBox(boxKey)
	if err != nil {
		t.Fatal(err)
	}
	links := link.New("https://mail.example.com", box.DeriveEach("sms links"))
	chosen, err := smssettings.New(smssettings.Params{Config: smssettings.Config{Operator: smssettings.Operator{Kind: "capture"}}, DB: w.DB, Box: box, Links: links})
	if err != nil {
		t.Fatal(err)
	}
	numbers := optout.New(optout.Params{DB: w.DB, Box: box, Logger: w.Logger})
	texts, err := sms.New(sms.Params{DB: w.DB, Accounts: textOwner{}, Settings: chosen, OptOuts: numbers, Links: links,
		Signals: sendingtest.NoSignals{}, Node: node.None{}, Cursors: w.Pages, Logger: w.Logger})
	if err != nil {
		t.Fatal(err)
	}
	w.Texts = texts
	w.Service = w.newProcess(t)
	if _, err := chosen.SetSettings(t.Context(), sendingtest.Account,
		smssettings.Change{Provider: "operator", Countries: []string{"DE"}}); err != nil {
		t.Fatal(err)
	}
	return textMessages{texts, chosen, numbers}
}

const textStep = `{"key": "text", "type": "send_sms", "to": "{{event.data.phone}}", "text": "Invoice {{event.data.number}} is open."%s},
	{"key": "after", "type": "condition", "if": "steps.text.status == 'sent' && steps.text.segments == 1 && steps.text.sms_id.startsWith('sms_')"}`

// runOutcome returns the outcome of the newest run and the results of its steps.
func (w *world) runOutcome(t *testing.T) string {
	t.Helper()
	out, err := db.One(t.Context(), w.DB.SQL, db.Value[string], `
SELECT r.status || ' ' || split_part(r.error, ':', 1) || ' ' || coalesce(string_agg(s.key || '=' || s.status || CASE WHEN s.type = 'condition' THEN '/' || (s.output->>'result') ELSE '' END, ' ' ORDER BY s.id), '')
FROM (SELECT * FROM automation_runs ORDER BY id DESC LIMIT 1) r LEFT JOIN automation_steps s ON s.run_id = r.id GROUP BY r.id, r.status, r.error`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) countTexts(t *testing.T) int {
	t.Helper()
	n, err := db.One(t.Context(), w.DB.SQL, db.Value[int], `SELECT count(*) FROM sms_messages`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestStepSendsTextMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	texts := w.withTexts(t)
	a := w.activate(t, `{"event": "invoice.failed"}`, fmt.Sprintf(textStep, ""))
	w.post(t, "invoice.failed", `{"phone": "+4915112345678", "number": 7}`)
	w.drain(t)
	if got := w.runOutcome(t); got != "completed  text=sent after=completed/true" {
		t.Errorf("the run is %q, want it completed with the message sent", got)
	}
	list, err := texts.List(t.Context(), sendingtest.Account,
		sms.Filter{Request: page.Request{Limit: 10}, AutomationID: a.ID})
	if err != nil || len(list.Items) != 1 || list.Items[0].Text != "Invoice 7 is open." ||
		list.Items[0].EmailKey == nil || *list.Items[0].EmailKey != "bob@example.net" ||
		*list.Items[0].UserID != "u1" ||
		list.Items[0].Version != 1 || list.Items[0].StepIndex != 0 {
		t.Errorf("the messages are %+v, %v; want one, with the run and its person", list.Items, err)
	}
	run, err := texts.OfRun(t.Context(), sendingtest.Account, *list.Items[0].RunID)
	if err != nil || len(run) != 1 {
		t.Errorf("the run has %d messages, %v; want one", len(run), err)
	}
}

func TestInvalidTextMessagesFailStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withTexts(t)
	w.activate(t, `{"event": "invoice.failed"}`, fmt.Sprintf(textStep, ""))
	for data, want := range map[string]string{
		`{"phone": "0151 12345678"}`: "failed invalid_recipient text=failed",
		`{}`:                         "failed invalid_recipient text=failed",
		`{"phone": "+33612345678"}`:  "failed sms_country_not_allowed text=failed",
		`{"phone": "+4915112345678", "number": "` + strings.Repeat("x", 2000) + `"}`: "failed sms_too_long text=failed",
	} {
		w.post(t, "invoice.failed", data)
		if w.drain(t); w.runOutcome(t) != want {
			t.Errorf("with the data %.60s the run is %q, want %q", data, w.runOutcome(t), want)
		}
	}
	if n := w.countTexts(t); n != 0 {
		t.Errorf("%d messages are stored, want none", n)
	}
}

// After ten messages to a number within an hour, the step fails with the code of the cap, and on_error decides
// where the run continues.
func TestTextStepOverTheCap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withTexts(t)
	w.activate(t, `{"event": "invoice.failed"}`, fmt.Sprintf(textStep, ""))
	event := `{"phone": "+4915112345678"}`
	for range 10 {
		w.post(t, "invoice.failed", event)
		if w.drain(t); w.runOutcome(t) != "completed  text=sent after=completed/true" {
			t.Fatalf("below the cap the run is %q", w.runOutcome(t))
		}
	}
	w.post(t, "invoice.failed", event)
	if w.drain(t); w.runOutcome(t) != "failed sms_cap_reached text=failed" {
		t.Errorf("with the eleventh message of the hour the run is %q", w.runOutcome(t))
	}
	w.activate(t, `{"event": "invoice.due"}`, fmt.Sprintf(textStep, `, "on_error": "end"`))
	w.post(t, "invoice.due", event)
	if w.drain(t); w.runOutcome(t) != "completed  text=failed" {
		t.Errorf("with the eleventh message of the hour and on_error end the run is %q", w.runOutcome(t))
	}
	if n := w.countTexts(t); n != 10 {
		t.Errorf("%d messages are stored, want 10", n)
	}
}

func TestLateTextStepExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withTexts(t)
	w.activate(t, `{"event": "invoice.failed"}`, `{"key": "wait", "type": "delay", "duration": "PT1H"}, `+
		fmt.Sprintf(textStep, `, "expires_after": "PT1H"`))
	w.post(t, "invoice.failed", `{"phone": "+4915112345678"}`)
	w.drain(t)
	w.advanceTime(t, 3*time.Hour) // the delay ended 2 hours ago
	if w.drain(t); w.runOutcome(t) != "completed  wait=completed text=expired after=completed/false" {
		t.Errorf("two hours late the run is %q, want the step expired", w.runOutcome(t))
	}
	w.post(t, "invoice.failed", `{"phone": "+4915112345678"}`)
	w.drain(t)
	w.advanceTime(t, 90*time.Minute)
	if w.drain(t); w.runOutcome(t) != "completed  wait=completed text=sent after=completed/true" {
		t.Errorf("half an hour late the run is %q, want the message sent", w.runOutcome(t))
	}
	if n := w.countTexts(t); n != 1 {
		t.Errorf("%d messages are stored, want the one sent in time", n)
	}
}

func TestTextStepTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	texts := w.withTexts(t)
	w.activate(t, `{"event": "invoice.failed"}`,
		fmt.Sprintf(textStep, `, "on_error": "continue", "on_suppressed": "end"`))
	w.post(t, "invoice.failed", `{}`)
	if w.drain(t); w.runOutcome(t) != "completed  text=failed after=completed/false" {
		t.Errorf("after an error with on_error continue the run is %q", w.runOutcome(t))
	}
	if err := texts.numbers.Add(t.Context(), w.DB.SQL, sendingtest.Account, "+4915112345678",
		optout.ByProvider); err != nil {
		t.Fatal(err)
	}
	w.post(t, "invoice.failed", `{"phone": "+4915112345678"}`)
	if w.drain(t); w.runOutcome(t) != "completed  text=suppressed" {
		t.Errorf("with a number that replied STOP the run is %q, want it suppressed and ended", w.runOutcome(t))
	}
	if n := w.countTexts(t); n != 1 {
		t.Errorf("%d messages are stored, want the suppressed one", n)
	}
}

// A run that is cancelled, or claimed by another process, between its claim and the commit sends nothing.
func TestCancelledRunSendsNoTextMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withTexts(t)
	w.activate(t, `{"event": "invoice.failed", "cancel_on_events": ["invoice.paid"]}`, fmt.Sprintf(textStep, ""))
	w.post(t, "invoice.failed", `{"phone": "+4915112345678"}`)
	claimed, err := w.Service.steps.Claim(t.Context(), 10, 60e9)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %d runs, %v; want one", len(claimed), err)
	}
	if got := formatCounters(w.post(t, "invoice.paid", `{}`)); !strings.Contains(got, "1 cancelled") {
		t.Fatalf("the event returned %s, want one cancelled run", got)
	}
	if err := w.Service.steps.TakeSteps(t.Context(), claimed); err != nil {
		t.Fatal(err)
	}
	if n := w.countTexts(t); n != 0 {
		t.Errorf("a run counted as cancelled sent %d text messages", n)
	}
	// Of two claims of one step, the first commit wins.
	w.post(t, "invoice.failed", `{"phone": "+4915112345678"}`)
	first, err := w.Service.steps.Claim(t.Context(), 10, 60e9)
	if err != nil {
		t.Fatal(err)
	}
	w.Exec(t, `UPDATE automation_works SET due_at = now()`)
	second, err := w.Service.steps.Claim(t.Context(), 10, 60e9)
	if err != nil || len(second) != 1 {
		t.Fatalf("claimed %d runs again, %v; want one", len(second), err)
	}
	for _, claims := range [][]int{{0}, {1}, {0}} {
		list := first
		if claims[0] == 1 {
			list = second
		}
		if err := w.Service.steps.TakeSteps(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.countTexts(t); n != 1 {
		t.Errorf("two claims of one step sent %d text messages, want one", n)
	}
}

func TestCheckReportsUnavailableTextMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	problems := func() string {
		t.Helper()
		a, err := w.Create(t.Context(), sendingtest.Account,
			fmt.Appendf(nil, `{"name": "T", "trigger": {"event": "e"}, "steps": [%s]}`, fmt.Sprintf(textStep, "")), nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := w.Check(t.Context(), w.caller(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range list {
			out = append(out, p.Severity+" "+p.Path+" "+p.Message)
		}
		return strings.Join(out, "; ")
	}
	if got := problems(); !strings.Contains(got, "error steps[0].type requires SMS, which is disabled on this server") {
		t.Errorf("with the module disabled the problems are %q", got)
	}
	texts := w.withTexts(t)
	if got := problems(); got != "" {
		t.Errorf("with a provider the problems are %q, want none", got)
	}
	if _, err := texts.chosen.SetSettings(t.Context(), sendingtest.Account,
		smssettings.Change{Provider: "none"}); err != nil {
		t.Fatal(err)
	}
	if got := problems(); !strings.Contains(got, "disabled for this account") {
		t.Errorf("without a provider the problems are %q", got)
	}
}

// If the settings are deleted after the activation, the step fails, as it does if the module is disabled.
func TestTextStepWithoutSMSModule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withTexts(t)
	w.activate(t, `{"event": "invoice.failed"}`, fmt.Sprintf(textStep, ""))
	w.Texts = nil
	w.Service = w.newProcess(t)
	w.post(t, "invoice.failed", `{"phone": "+4915112345678"}`)
	if w.drain(t); w.runOutcome(t) != "failed "+sms.CodeNoProvider+" text=failed" {
		t.Errorf("with the module disabled the run is %q", w.runOutcome(t))
	}
}

func TestSimulationOfTextMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withTexts(t)
	a := w.activate(t, `{"event": "invoice.failed"}`, fmt.Sprintf(textStep, ""))
	const to = `{"phone": "+4915112345678", "number": 7}`
	for _, c := range []struct {
		data     string
		outcomes map[string]string
		want     string
	}{
		{to, nil, "text sent 0s, after completed 0s, completed"},
		{to, map[string]string{"text": simulation.OutcomeSuppressed}, "text suppressed 0s, after completed 0s, completed"},
		{to, map[string]string{"text": simulation.OutcomeError}, "text failed 0s, failed simulated: the text message was refused"},
		{`{"phone": "0151"}`, nil,
			"text failed 0s, failed invalid_recipient: to must be a number with its country code, such as +4915112345678, without spaces"},
	} {
		got := w.simulate(t, a, c.data, c.outcomes)
		if formatSimulation(got) != c.want {
			t.Errorf("%s and %v returned %q, want %q", c.data, c.outcomes, formatSimulation(got), c.want)
		}
		if p, _ := got.Steps[0].Effect.Preview.(*sms.Preview); c.outcomes == nil && c.data == to &&
			(p == nil || p.Text != "Invoice 7 is open." || p.To != "+4915112345678" || p.Segments != 1) {
			t.Errorf("the simulated message is %+v", p)
		}
	}
	if n := w.countTexts(t); n != 0 {
		t.Errorf("simulations stored %d messages", n)
	}
}
