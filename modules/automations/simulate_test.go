package automations

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/automationstep"
	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/automations/clock"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/machine"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
)

// later is an event of the same person, some time after the first one.
type later struct {
	after time.Duration
	name  string
	data  string
}

// simulate simulates an automation for user u1 at bob@example.net.
func (w *world) simulate(t *testing.T, a *ent.Automation, data string, outcomes map[string]string,
	list ...later) SimulationResult {
	t.Helper()
	in := SimulationInput{Event: &ingest.Post{UserID: "u1", Email: "bob@example.net", Data: json.RawMessage(data),
		Source: "api"}, Outcomes: outcomes}
	for _, l := range list {
		in.Later = append(in.Later, LaterEvent{After: clock.Duration{Duration: l.after},
			Post: ingest.Post{Name: l.name, Data: json.RawMessage(l.data)}})
	}
	out, err := w.Simulate(t.Context(), w.caller(), a.ID, in)
	if err != nil {
		t.Fatalf("simulate: %v", err)
	}
	return out
}

// formatSimulation formats a simulation briefly: each step with its status and when it ended, relative to the
// start.
func formatSimulation(s SimulationResult) string {
	var out []string
	for _, step := range s.Steps {
		out = append(out, fmt.Sprintf("%s %s %s", step.Key, step.Status, step.Ended.Sub(s.StartedAt)))
	}
	for _, a := range s.Arrivals {
		out = append(out, fmt.Sprintf("%s %s %s", a.Event.Name, a.Outcome, a.Key))
	}
	return strings.Join(append(out, strings.TrimSpace(s.Status+" "+s.Error)), ", ")
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start", "conditions": "event.data.n > 1", "cancel_on_events": ["stop"]}`, mail+
		`, {"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D", "conditions": "event.data.id == trigger.data.n", "on_event": "end"}`+
		`, {"key": "large", "type": "condition", "if": "event.data.n > 10"}`+
		`, {"key": "call", "type": "webhook", "url": "https://example.com/x", "body": {"n": "{{event.data.n}}"}}`)
	for _, c := range []struct {
		name, data string
		outcomes   map[string]string
		later      []later
		want       string
	}{
		{"the condition is false", `{"n": 1}`, nil, nil, "not_started"},
		{"the condition has no value", `{}`, nil, nil, "not_started"},
		{"no payment", `{"n": 20}`, nil, nil, "mail sent 0s, w timed_out 24h0m0s, large completed 24h0m0s, call completed 24h0m0s, completed"},
		{"a small amount", `{"n": 5}`, nil, nil, "mail sent 0s, w timed_out 24h0m0s, large completed 24h0m0s, completed"},
		{"paid", `{"n": 5}`, nil, []later{{time.Hour, "paid", `{"id": 4}`}, {2 * time.Hour, "paid", `{"id": 5}`}, {3 * time.Hour, "stop", `{}`}},
			"mail sent 0s, w received 2h0m0s, paid nothing w, paid resumed w, stop nothing , completed"},
		{"cancelled", `{"n": 5}`, nil, []later{{time.Hour, "stop", `{}`}}, "mail sent 0s, stop cancelled , cancelled"},
		{"suppressed", `{"n": 5}`, map[string]string{"mail": "suppressed"}, nil, "mail suppressed 0s, w timed_out 24h0m0s, large completed 24h0m0s, completed"},
		{"refused", `{"n": 5}`, map[string]string{"mail": "error"}, nil, "mail failed 0s, failed simulated: the email was refused"},
		{"unreachable", `{"n": 20}`, map[string]string{"call": "error"}, nil,
			"mail sent 0s, w timed_out 24h0m0s, large completed 24h0m0s, call failed 24h0m0s, failed webhook_failed: https://example.com/x cannot be reached (simulated)"},
	} {
		if diff := cmp.Diff(c.want, formatSimulation(w.simulate(t, a, c.data, c.outcomes, c.later...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	s := w.simulate(t, a, `{"n": 20, "name": "Bob"}`, nil)
	if e, _ := s.Steps[0].Effect.Preview.(*sending.Preview); e == nil || e.Subject != "Hi Bob" ||
		e.From != "Ada <ada@example.com>" || !slices.Equal(e.To, []string{"bob@example.net"}) {
		t.Errorf("the email is %+v, want one to Bob", e)
	}
	if wait := s.Steps[1].Waited; wait == nil || wait.Until.Sub(s.StartedAt) != 24*time.Hour ||
		wait.Events[0] != "paid" {
		t.Errorf("the wait is %+v, want one for paid until a day later", wait)
	}
	if c := s.Steps[2].Conditions; len(c) != 1 || !c[0].Result || c[0].Parts[1].Value != int64(20) {
		t.Errorf("the explanation of the condition is %+v, want event.data.n = 20 in it", c)
	}
	if p, _ := s.Steps[3].Effect.Preview.(*machine.WebhookRequest); p == nil || string(p.Body) != `{"n":20}` {
		t.Errorf("the request is %+v, want one with n = 20", p)
	}
	if n := w.Count(t, "emails") + w.Count(t, "automation_runs") + w.Count(t, "custom_events") + w.Count(t, "facts WHERE type LIKE 'automation.%'"); n != 0 {
		t.Errorf("simulations stored %d rows, want none", n)
	}
}

func TestRejectsInvalidSimulations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, mail+`, {"key": "pause", "type": "delay", "duration": "P1D"}`)
	stored := w.postAs(t, "other", "u1", "", `{}`).Event.ID
	event := &ingest.Post{UserID: "u1"}
	for want, in := range map[string]SimulationInput{
		"event":                         {},
		"event.name":                    {Event: &ingest.Post{Name: "other"}},
		"event.email":                   {Event: &ingest.Post{Email: "nobody"}},
		"event_id":                      {EventID: stored},
		"then[1].name":                  {Event: event, Later: []LaterEvent{{Post: ingest.Post{Name: "a"}}, {}}},
		"then":                          {Event: event, Later: make([]LaterEvent, MaxLater+1)},
		"outcomes.gone":                 {Event: event, Outcomes: map[string]string{"gone": "error"}},
		"outcomes.pause":                {Event: event, Outcomes: map[string]string{"pause": "error"}},
		"outcomes.mail":                 {Event: event, Outcomes: map[string]string{"mail": "lost"}},
		"not_found of version":          {Event: event, Version: 7},
		"not_found of event":            {EventID: "ae_01kf0m4w7he6x8q2v5b3n9c1ta"},
		"not_found of an unknown event": {EventID: "x"},
	} {
		_, err := w.Simulate(t.Context(), w.caller(), a.ID, in)
		f := fault.Classify(err)
		if strings.HasPrefix(want, "not_found") {
			if f.Kind != fault.NotFound {
				t.Errorf("%s: got %v, want not found", want, err)
			}
			continue
		}
		if f.Kind != fault.Invalid || f.Fields[want] == "" || len(f.Fields) != 1 {
			t.Errorf("%+v: got %v %v, want an error only in field %s", in, err, f.Fields, want)
		}
	}
	stranger := w.caller()
	stranger.AccountID = other
	if _, err := w.Simulate(t.Context(), stranger, a.ID,
		SimulationInput{Event: event}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("simulating an automation of another account returned %v", err)
	}
}

// A built-in event may concern the mail of one step, which its email_id identifies.
func TestSimulationWithMailEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, mail+
		`, {"key": "w", "type": "wait_for_event", "event": "$email.clicked", "step": "mail", "timeout": "P1D", "on_timeout": "fail"}`)
	for id, want := range map[string]string{
		"msg_simulated_mail": "mail sent 0s, w received 1h0m0s, $email.clicked resumed w, completed",
		"msg_another":        "mail sent 0s, w timed_out 24h0m0s, $email.clicked nothing w, failed wait_timed_out: no event $email.clicked arrived within P1D",
	} {
		if diff := cmp.Diff(want,
			formatSimulation(w.simulate(t, a, `{}`, nil,
				later{time.Hour, "$email.clicked", `{"email_id": "` + id + `"}`}))); diff != "" {
			t.Errorf("a click in %s (-want +got):\n%s", id, diff)
		}
	}
}

// A stored event is simulated at its own time, with the draft as well as the active version.
func TestSimulationOfStoredEventAndDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "one", "type": "delay", "duration": "P1D"}`)
	if _, err := w.Change(t.Context(), sendingtest.Account, a.ID,
		parseMembers(`{"steps": [{"key": "two", "type": "delay", "duration": "P2D"}]}`), ""); err != nil {
		t.Fatal(err)
	}
	event := w.post(t, "start", `{}`).Event
	for _, c := range []struct {
		in      SimulationInput
		version string
		want    string
	}{
		{SimulationInput{}, "1", "one completed 24h0m0s, completed"}, {SimulationInput{Draft: true}, "draft", "two completed 48h0m0s, completed"},
		{SimulationInput{Version: 1}, "1", "one completed 24h0m0s, completed"},
	} {
		c.in.EventID = event.ID
		s, err := w.Simulate(t.Context(), w.caller(), a.ID, c.in)
		if err != nil {
			t.Fatal(err)
		}
		version := "draft"
		if s.Version != nil {
			version = fmt.Sprint(*s.Version)
		}
		if version != c.version || formatSimulation(s) != c.want ||
			!s.StartedAt.Equal(event.CreatedAt.Truncate(time.Microsecond)) {
			t.Errorf("%+v played %s of version %s from %s, want %s of %s from %s", c.in, formatSimulation(s), version,
				s.StartedAt, c.want, c.version, event.CreatedAt)
		}
	}
}

// With random automations and events, a run on real PostgreSQL produces the records, facts and emails of its
// simulation.
func TestSimulationMatchesLiveRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter,
		_ *http.Request) {
		rw.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(hook.Close)
	for i := range raceRounds() {
		r := rand.New(rand.NewPCG(uint64(i), 16))
		list := randomSteps(r, hook.URL)
		a := w.activate(t,
			fmt.Sprintf(`{"event": "start%d", "cancel_on_events": [{"event": "stop", "conditions": "event.data.n > 7"}]}`, i), list)
		events := randomEvents(r)
		data := fmt.Sprintf(`{"n": %d, "to": %q}`, r.IntN(10), []string{"carol@example.net", "nobody"}[r.IntN(2)])
		simulated := w.simulate(t, a, data, nil, events...)
		run := w.runLive(t, fmt.Sprintf("start%d", i), data, events)
		if diff := cmp.Diff(recordsOf(simulated), w.recordsOfRun(t, run)); diff != "" {
			t.Errorf("round %d: the simulation (-) differs from the run (+):\n%s\n%s\nevents %v\ndata %s", i, diff,
				list, events, data)
		}
		// An account can have only a limited number of active automations.
		if _, err := w.Archive(t.Context(), sendingtest.Account, a.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// randomSteps returns steps of all types with forward targets.
func randomSteps(r *rand.Rand, url string) string {
	n := 1 + r.IntN(8)
	target := func(at int) string {
		switch k := r.IntN(8); {
		case k < 4 && at+1 < n:
			return fmt.Sprintf(`{"goto": "s%d"}`, at+1+r.IntN(n-at-1))
		case k == 7:
			return `"end"`
		case k == 6:
			return `"fail"`
		}
		return `"continue"`
	}
	var list []string
	for i := range n {
		step := ""
		switch r.IntN(8) {
		case 0:
			step = fmt.Sprintf(`"type": "delay", "duration": "PT%dH"`, 1+r.IntN(48))
		case 1, 2:
			step = fmt.Sprintf(`"type": "wait_for_event", "event": ["paid", "seen"], "timeout": "PT%dH", "conditions": "event.data.n > %d", "since": %q, "on_event": %s, "on_timeout": %s`,
				1+r.IntN(48), r.IntN(10), []string{"run", "step"}[r.IntN(2)], target(i), target(i))
		case 3:
			step = fmt.Sprintf(`"type": "condition", "if": "event.data.n > %d", "on_true": %s, "on_false": %s`,
				r.IntN(10), target(i), target(i))
		case 4:
			step = fmt.Sprintf(`"type": "split", "variants": [{"key": "a", "weight": %d}, {"key": "b", "weight": 3}]`,
				1+r.IntN(5))
		case 5:
			step = fmt.Sprintf(`"type": "webhook", "url": %q, "body": {"n": "{{event.data.n}}"}, "on_error": %s`,
				url, target(i))
		case 6:
			step = fmt.Sprintf(`"type": "send_email", "from": "ada@example.com", "to": "{{event.data.to}}", "subject": "S%d", "text": "{{steps.s0.status}}", "on_error": %s`, i, target(i))
			if i == 0 {
				step = strings.ReplaceAll(step, "steps.s0.status", "run.id")
			}
		case 7:
			step = `"type": "send_email", "from": "ada@example.com", "subject": "To {{event.data.n}}", "text": "T"`
		}
		list = append(list, fmt.Sprintf(`{"key": "s%d", %s}`, i, step))
	}
	return strings.Join(list, ", ")
}

// randomEvents returns up to six events at times when no wait ends.
func randomEvents(r *rand.Rand) (list []later) {
	at := time.Duration(0)
	for range r.IntN(7) {
		at += time.Duration(r.IntN(24))*time.Hour + 7*time.Minute
		list = append(list, later{at, []string{"paid", "seen", "stop", "none"}[r.IntN(4)],
			fmt.Sprintf(`{"n": %d}`, r.IntN(10))})
	}
	return list
}

// runLive runs the same scenario for real and returns the id of the run. It advances the time from one due
// moment to the next.
func (w *world) runLive(t *testing.T, name, data string, events []later) string {
	t.Helper()
	answer := w.post(t, name, data)
	run := answer.Event.Matches[0].RunID
	w.drain(t)
	now := time.Duration(0)
	for _, e := range events {
		w.runUntil(t, run, e.after-now)
		now = e.after
		w.post(t, e.name, e.data)
		w.drain(t)
	}
	w.runUntil(t, run, 1000*time.Hour)
	return run
}

// runUntil advances the time and takes the steps of a run when they become due.
func (w *world) runUntil(t *testing.T, run string, left time.Duration) {
	t.Helper()
	for {
		detail, err := w.Run(t.Context(), sendingtest.Account, run)
		if err != nil {
			t.Fatal(err)
		}
		if detail.Next == nil {
			return
		}
		step := max(time.Until(*detail.Next)+time.Millisecond, time.Millisecond)
		if step > left {
			w.advanceTime(t, left)
			return
		}
		w.advanceTime(t, step)
		w.drain(t)
		left -= step
	}
}

// recordsOf returns the records of a simulation without anything that a simulation cannot know.
func recordsOf(s SimulationResult) []string {
	out := []string{strings.TrimSpace(s.Status + " " + s.Error)}
	for _, step := range s.Steps {
		out = append(out, fmt.Sprintf("step %d %s %s %s %s %s", step.Index, step.Key, step.Type, step.Status,
			stripIDs(step.Output), step.Error))
	}
	for _, f := range s.Facts {
		out = append(out, formatFact(string(f.Type), f.Data))
	}
	for _, step := range s.Steps {
		if e, _ := step.Effect.Preview.(*sending.Preview); e != nil {
			out = append(out, fmt.Sprintf("mail %s to %v", e.Subject, e.To))
		}
	}
	return out
}

// recordsOfRun returns the same records for a live run.
func (w *world) recordsOfRun(t *testing.T, run string) []string {
	t.Helper()
	detail, err := w.Run(t.Context(), sendingtest.Account, run)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{strings.TrimSpace(string(detail.Status) + " " + detail.Error)}
	for _, step := range w.DB.Ent.AutomationStep.Query().Where(automationstep.RunID(run)).
		Order(ent.Asc(automationstep.FieldID)).AllX(t.Context()) {
		var output map[string]any
		if err := json.Unmarshal(step.Output, &output); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("step %d %s %s %s %s %s", step.StepIndex, step.Key, step.Type, step.Status,
			stripIDs(output), step.Error))
	}
	rows, err := w.DB.SQL.QueryContext(t.Context(), `SELECT type, data FROM facts WHERE type LIKE 'automation.%' AND subject_id = $1 ORDER BY id`, run)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var kind string
		var data []byte
		if err := rows.Scan(&kind, &data); err != nil {
			t.Fatal(err)
		}
		out = append(out, formatFact(kind, data))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, e := range w.DB.Ent.Email.Query().Where(email.RunID(run)).Order(ent.Asc(email.FieldID)).AllX(t.Context()) {
		out = append(out, fmt.Sprintf("mail %s to %v", e.Subject, e.To))
	}
	return out
}

// stripIDs returns an output without ids and times.
func stripIDs(output map[string]any) string {
	kept := map[string]any{}
	for name, value := range output {
		switch name {
		case "email_id", "until":
		case "event":
			e, _ := value.(map[string]any)
			kept["event"] = e["data"]
		default:
			kept[name] = value
		}
	}
	encoded, err := json.Marshal(kept)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

func formatFact(kind string, data []byte) string {
	var read struct {
		Status   string
		Event    string `json:"event_name"`
		Index    int    `json:"step_index"`
		StepType string `json:"step_type"`
		Error    *string
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err.Error()
	}
	reason := ""
	if read.Error != nil {
		reason = *read.Error
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s %s", kind, read.Event, read.Status, read.Index,
		read.StepType, reason))
}
