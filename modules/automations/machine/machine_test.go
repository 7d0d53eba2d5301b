package machine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/automations/definition"
	"github.com/postrider/postrider/modules/automations/machine"
)

var start = time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)

func compileProgram(t *testing.T, document string) *machine.Program {
	t.Helper()
	d, wrong := definition.Decode([]byte(document))
	if len(wrong) > 0 {
		t.Fatalf("the definition is rejected: %v\n%s", wrong, document)
	}
	p, wrong := machine.Compile(d)
	if len(wrong) > 0 {
		t.Fatalf("the definition does not compile: %v\n%s", wrong, document)
	}
	return p
}

func runOf(data map[string]any) machine.Run {
	return machine.Run{ID: "run_1", AutomationID: "aut_1", Version: 1, StartedAt: start,
		Identity: machine.Identity{UserID: "u1"},
		Trigger: &machine.Event{ID: "ae_1", Name: "e", UserID: "u1", Email: "ada@example.com", Data: data,
			CreatedAt: start}}
}

// playRun takes a run to its end: effects succeed and waits time out.
func playRun(
	t *testing.T, p *machine.Program, run machine.Run, answer func(machine.Effect) machine.Result,
) (records []string, ended string) {
	t.Helper()
	now := start
	state, out := p.Advance(t.Context(), run, machine.State{}, machine.AdvanceInput{Now: now})
	for range 200 {
		for _, r := range out.Records {
			records = append(records, r.Key+" "+r.Status)
		}
		switch {
		case out.Ended != "":
			return records, strings.TrimSuffix(out.Ended+": "+out.Error, ": ")
		case out.Effect != nil:
			result := answer(out.Effect)
			state, out = p.Advance(t.Context(), run, state, machine.AdvanceInput{Now: now, Result: &result})
		default:
			now = out.Waiting.Until
			state, out = p.Advance(t.Context(), run, state, machine.AdvanceInput{Now: now, Fired: true})
		}
	}
	t.Fatal("the run does not end")
	return nil, ""
}

func reportSent(machine.Effect) machine.Result { return machine.Result{Status: machine.StatusSent} }

func TestRunsFollowTargets(t *testing.T) {
	t.Parallel()
	steps := func(s string) string {
		return `{"name": "N", "trigger": {"event": "e"}, "steps": [` + s + `]}`
	}
	email := `{"key": "mail", "type": "send_email", "from": "a@example.com", "subject": "S", "text": "T"`
	result := func(status string) func(machine.Effect) machine.Result {
		return func(machine.Effect) machine.Result {
			r := machine.Result{Status: status}
			if status == machine.StatusFailed {
				r.Error = "template_not_published: the template is not published"
			}
			return r
		}
	}
	for name, test := range map[string]struct {
		document string
		answer   func(machine.Effect) machine.Result
		records  []string
		ended    string
	}{
		"delay and mail": {steps(`{"key": "d", "type": "delay", "duration": "P1D"}, ` + email + `}`), reportSent,
			[]string{"d completed", "mail sent"}, "completed"},
		"a false condition ends": {steps(`{"key": "c", "type": "condition", "if": "event.data.n > 5"}, ` + email +
			`}`), reportSent, []string{"c completed"}, "completed"},
		"an error counts as false": {steps(`{"key": "c", "type": "condition", "if": "event.data.gone > 5", "on_false": {"goto": "x"}}, ` + email + `}, {"key": "x", "type": "end"}`), reportSent, []string{"c completed", "x completed"}, "completed"},
		"a branch": {steps(`{"key": "b", "type": "branch", "cases": [{"if": "event.data.n == 1", "goto": "x"}, {"if": "event.data.n == 3", "goto": "y"}]}, {"key": "x", "type": "end"}, {"key": "y", "type": "end"}`),
			reportSent, []string{"b completed", "y completed"}, "completed"},
		"a wait times out": {steps(`{"key": "w", "type": "wait_for_event", "event": "x", "timeout": "PT1H", "on_timeout": "fail"}`), reportSent, []string{"w timed_out"}, "failed: wait_timed_out: no event x arrived within PT1H"},
		"a send fails": {steps(email + `}, {"key": "x", "type": "end"}`), result(machine.StatusFailed),
			[]string{"mail failed"}, "failed: template_not_published: the template is not published"},
		"on_error continues": {steps(email + `, "on_error": "continue"}, {"key": "x", "type": "end"}`),
			result(machine.StatusFailed), []string{"mail failed", "x completed"}, "completed"},
		"suppressed continues": {steps(email + `}, {"key": "x", "type": "end"}`), result(machine.StatusSuppressed),
			[]string{"mail suppressed", "x completed"}, "completed"},
		"suppressed goes to a step": {steps(email +
			`, "on_suppressed": {"goto": "y"}}, {"key": "x", "type": "end"}, {"key": "y", "type": "end", "outcome": "failed"}`), result(machine.StatusSuppressed), []string{"mail suppressed", "y completed"}, "failed: ended_failed: the step y ends the run as failed"},
		"next":               {steps(email + `, "next": "end"}, {"key": "x", "type": "end"}`), reportSent, []string{"mail sent"}, "completed"},
		"a time in the past": {steps(`{"key": "u", "type": "wait_until", "at": "timestamp('2026-01-01T00:00:00Z')", "on_past": "end"}, ` + email + `}`), reportSent, []string{"u completed"}, "completed"},
		"a time too far ahead": {steps(`{"key": "u", "type": "wait_until", "at": "timestamp('2036-01-01T00:00:00Z')"}`),
			reportSent, []string{"u failed"}, "failed: invalid_time: at is more than 366 days ahead"},
		"earlier outputs": {steps(email +
			`}, {"key": "c", "type": "condition", "if": "steps.mail.status == 'sent'", "on_false": "fail"}`),
			reportSent,
			[]string{"mail sent", "c completed"}, "completed"},
		"a value that Liquid rejects": {steps(`{"key": "mail", "type": "send_email", "from": "a@example.com", "subject": "{{ event.data.n | divided_by: 0 }}", "text": "T"}`), reportSent, []string{"mail failed"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, ended := playRun(t, compileProgram(t, test.document), runOf(map[string]any{"n": int64(3)}),
				test.answer)
			if diff := cmp.Diff(test.records, records); diff != "" {
				t.Errorf("steps that ended (-want +got):\n%s", diff)
			}
			if test.ended != "" && ended != test.ended {
				t.Errorf("the run ended as %q, want %q", ended, test.ended)
			}
		})
	}
}

func TestRendersTextsWithEvent(t *testing.T) {
	t.Parallel()
	p := compileProgram(t, `{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "send_email", "from": "a@example.com", "to": ["{{event.email}}", "b@example.com"], "subject": "Hi {{event.data.name}}",
		"html": "<b>{{event.data.name}}</b>", "text": "{{event.data.gone}}{{ automation.name }}", "tags": [{"name": "plan", "value": "{{event.data.plan}}"}]}]}`)
	run := runOf(map[string]any{"name": "<Ada>", "plan": "pro"})
	_, out := p.Advance(t.Context(), run, machine.State{}, machine.AdvanceInput{Now: start})
	e, is := out.Effect.(*machine.RenderedEmail)
	if !is {
		t.Fatalf("the outcome is %+v, want an email to send", out)
	}
	got := []string{strings.Join(e.To, " "), e.Subject, e.HTML, e.Text, e.Tags[0].Value}
	if diff := cmp.Diff([]string{"ada@example.com b@example.com", "Hi <Ada>", "<b>&lt;Ada&gt;</b>", "N", "pro"},
		got); diff != "" {
		t.Errorf("rendered texts (-want +got):\n%s", diff)
	}
}

func TestRendersLocaleOfTemplate(t *testing.T) {
	t.Parallel()
	p := compileProgram(t, `{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "send_email",
		"template": {"alias": "a", "locale": " {{event.data.locale}}", "time_zone": "Europe/{{event.data.city}}"}}]}`)
	run := runOf(map[string]any{"locale": "pt-BR", "city": "Lisbon"})
	_, out := p.Advance(t.Context(), run, machine.State{}, machine.AdvanceInput{Now: start})
	e, is := out.Effect.(*machine.RenderedEmail)
	if !is || e.Template.Locale != "pt-BR" || e.Template.TimeZone != "Europe/Lisbon" {
		t.Errorf("the outcome is %+v, want an email for pt-BR in Europe/Lisbon", out)
	}
	_, wrong := definition.Decode([]byte(`{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "send_email",
		"template": {"alias": "a", "locale": "german", "time_zone": "Mars/Base"}}]}`))
	if diff := cmp.Diff([]string{"steps[0].template.locale", "steps[0].template.time_zone"},
		slices.Sorted(maps.Keys(wrong))); diff != "" {
		t.Errorf("invalid fields (-want +got):\n%s", diff)
	}
}

// Event data is stored before the run reads it, so a value that cannot be sent unchanged must not fail the run.
func TestCleansRenderedValues(t *testing.T) {
	t.Parallel()
	p := compileProgram(t, `{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "send_email", "from": "a@example.com",
		"to": ["{{event.data.name}} <{{event.email}}>"], "cc": ["{{event.data.manager}}"], "subject": "{{event.data.title}}", "text": "{{event.data.name}}",
		"tags": [{"name": "plan", "value": "{{event.data.plan}}"}, {"name": "none", "value": "{{event.data.none}}"}],
		"headers": {"X-Title": "{{event.data.title}}", "X-None": "{{event.data.none}}"}}]}`)
	run := runOf(map[string]any{"name": "Ada\nByron", "title": " Order\r\n\u2028ready\v\n", "plan": "Pro plan (2026)",
		"none": " "})
	_, out := p.Advance(t.Context(), run, machine.State{}, machine.AdvanceInput{Now: start})
	e, is := out.Effect.(*machine.RenderedEmail)
	if !is {
		t.Fatalf("the outcome is %+v, want an email to send", out)
	}
	want := &machine.RenderedEmail{From: "a@example.com", To: []string{"Ada Byron <ada@example.com>"},
		Subject: "Order ready",
		Text:    "Ada\nByron",
		Tags:    []shape.Tag{{Name: "plan", Value: "Pro-plan-2026"}},
		Headers: []shape.Header{{Name: "X-Title", Value: "Order ready"}}}
	if diff := cmp.Diff(want, e, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the email (-want +got):\n%s", diff)
	}
}

func TestSingleOutputKeepsType(t *testing.T) {
	t.Parallel()
	p := compileProgram(t,
		`{"name": "N", "trigger": {"event": "e"}, "steps": [{"type": "webhook", "url": "https://example.com", "body": {"items": "{{ event.data.items }}", "n": "{{event.data.n}}", "text": "n={{event.data.n}}", "gone": "{{event.data.gone}}", "literal": 1}}]}`)
	_, out := p.Advance(t.Context(), runOf(map[string]any{"items": []any{int64(1), "b"}, "n": int64(9007199254740993)}),
		machine.State{}, machine.AdvanceInput{Now: start})
	want := `{"gone":null,"items":[1,"b"],"literal":1,"n":9007199254740993,"text":"n=9007199254740993"}`
	if post, is := out.Effect.(*machine.WebhookRequest); !is || string(post.Body) != want {
		t.Errorf("the effect is %+v, want a request with the body %s", out.Effect, want)
	}
}

func TestWaitsUseEachEventOnce(t *testing.T) {
	t.Parallel()
	p := compileProgram(t, `{"name": "N", "trigger": {"event": "e", "cancel_on_events": [{"event": "stop", "conditions": "event.data.n == trigger.data.n"}]}, "steps": [
		{"key": "a", "type": "wait_for_event", "event": "x", "timeout": "P1D", "conditions": "event.data.n == trigger.data.n"},
		{"key": "b", "type": "wait_for_event", "event": ["x", "e"], "timeout": "P1D"}]}`)
	run := runOf(map[string]any{"n": int64(1)})
	state, out := p.Advance(t.Context(), run, machine.State{}, machine.AdvanceInput{Now: start})
	if out.Waiting == nil || !out.Waiting.Since.Equal(start) || !out.Waiting.Until.Equal(start.Add(24*time.Hour)) {
		t.Fatalf("the first wait is %+v", out.Waiting)
	}
	awaits := func(s machine.State, e *machine.Event) bool {
		t.Helper()
		is, _ := p.AwaitsEvent(t.Context(), run, s, e)
		return is
	}
	other := &machine.Event{ID: "ae_2", Name: "x", Data: map[string]any{"n": int64(2)}, CreatedAt: start}
	right := &machine.Event{ID: "ae_3", Name: "x", Data: map[string]any{"n": int64(1)}, CreatedAt: start}
	if awaits(state, other) || !awaits(state, right) || awaits(state, &machine.Event{ID: "ae_4", Name: "y"}) {
		t.Error("the wait must accept only the event for which its condition is true")
	}
	state, out = p.Advance(t.Context(), run, state, machine.AdvanceInput{Now: start, Event: right})
	if out.Waiting == nil || state.Step != 1 {
		t.Fatalf("after the event, the run is at %+v", state)
	}
	if awaits(state, right) {
		t.Error("the second wait accepted the event of the first")
	}
	if awaits(state, run.Trigger) {
		t.Error("a wait accepted the event that started the run")
	}
	if !awaits(state, other) {
		t.Error("the second wait did not accept a new event")
	}
	if is, _ := p.CancelsRun(t.Context(), run, state,
		&machine.Event{ID: "ae_5", Name: "stop", Data: map[string]any{"n": int64(2)}}); is {
		t.Error("an event cancelled the run although its condition is false")
	}
	if is, err := p.CancelsRun(t.Context(), run, state,
		&machine.Event{ID: "ae_5", Name: "stop", Data: map[string]any{"n": int64(1)}}); !is {
		t.Errorf("an event did not cancel the run although its condition is true: %v", err)
	}
}

func TestLateStepsExpire(t *testing.T) {
	t.Parallel()
	p := compileProgram(t, `{"name": "N", "trigger": {"event": "e"}, "steps": [{"key": "d", "type": "delay", "duration": "P1D"},
		{"key": "m", "type": "send_email", "from": "a@example.com", "subject": "S", "text": "T", "expires_after": "PT1H"}]}`)
	state, out := p.Advance(t.Context(), runOf(nil), machine.State{}, machine.AdvanceInput{Now: start})
	onTime := out.Waiting.Until
	_, out = p.Advance(t.Context(), runOf(nil), state,
		machine.AdvanceInput{Now: onTime.Add(30 * time.Minute), Fired: true})
	if out.Effect == nil {
		t.Errorf("half an hour late, the step sent nothing: %+v", out)
	}
	_, out = p.Advance(t.Context(), runOf(nil), state,
		machine.AdvanceInput{Now: onTime.Add(3 * 24 * time.Hour), Fired: true})
	if out.Effect != nil || len(out.Records) != 2 || out.Records[1].Status != machine.StatusExpired {
		t.Errorf("three days late: got %+v, want the step expired", out)
	}
}

func TestRejectsInvalidSources(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ step, path string }{
		"an unknown root": {`{"type": "send_email", "from": "a@example.com", "subject": "{{name}}", "text": "T"}`, "steps[0].subject"},
		"a later step":    {`{"type": "send_email", "from": "a@example.com", "subject": "S", "text": "{{steps.x.status}}"}, {"key": "x", "type": "end"}`, "steps[0].text"},
		"a broken source": {`{"type": "send_email", "from": "a@example.com", "subject": "S", "html": "{% if %}"}`, "steps[0].html"},
		"within a body":   {`{"type": "webhook", "url": "https://example.com", "body": {"a": [{"b": "{{x}}"}]}}`, "steps[0].body.a[0].b"},
		"a condition":     {`{"type": "condition", "if": "1 +"}`, "steps[0].if"},
		"a case":          {`{"type": "branch", "cases": [{"if": "'a'", "goto": "x"}]}, {"key": "x", "type": "end"}`, "steps[0].cases[0].if"},
		"a time":          {`{"type": "wait_until", "at": "1 == 1"}`, "steps[0].at"},
		"variables":       {`{"type": "send_email", "template": {"alias": "a", "variables": {"v": "{{x}}"}}}`, "steps[0].template.variables.v"},
		"a wait's":        {`{"type": "wait_for_event", "event": "x", "timeout": "P1D", "conditions": "events"}`, "steps[0].conditions"},
	} {
		d, wrong := definition.Decode([]byte(`{"name": "N", "trigger": {"event": "e"}, "steps": [` + test.step + `]}`))
		if len(wrong) > 0 {
			t.Fatalf("%s: rejected too early: %v", name, wrong)
		}
		_, wrong = machine.Compile(d)
		if diff := cmp.Diff([]string{test.path}, slices.Sorted(maps.Keys(wrong))); diff != "" {
			t.Errorf("%s: invalid fields (-want +got):\n%s", name, diff)
		}
	}
}

func TestIdentityMatches(t *testing.T) {
	t.Parallel()
	id := func(user, email string) machine.Identity { return machine.Identity{UserID: user, EmailKey: email} }
	for _, test := range []struct {
		a, b machine.Identity
		want bool
	}{
		{id("1", "a"), id("1", "b"), true}, {id("1", "a"), id("2", "a"), false}, {id("", "a"), id("2", "a"), true},
		{id("", ""), id("", ""), false}, {id("1", ""), id("", "a"), false},
	} {
		if got := test.a.Matches(test.b); got != test.want || test.b.Matches(test.a) != test.want {
			t.Errorf("%v and %v match: %t, want %t", test.a, test.b, got, test.want)
		}
	}
}

// Re-entry compares stored names and live runs compare identities. Both must follow the same rule.
func TestNamesMatchLikeIdentities(t *testing.T) {
	t.Parallel()
	var all []machine.Identity
	for _, user := range []string{"", "1", "2"} {
		for _, email := range []string{"", "a", "b"} {
			all = append(all, machine.Identity{UserID: user, EmailKey: email})
		}
	}
	for _, a := range all {
		for _, b := range all {
			common := slices.ContainsFunc(a.Names(),
				func(n machine.Name) bool { return slices.Contains(b.MatchingNames(), n) })
			if common != a.Matches(b) {
				t.Errorf("%+v and %+v: names in common %t, identities match %t", a, b, common, a.Matches(b))
			}
		}
	}
}

// randomDefinition returns a definition with random steps whose targets point forward.
func randomDefinition(r *rand.Rand) string {
	n := 1 + r.IntN(definition.MaxSteps)
	target := func(i int) any {
		switch r.IntN(5) {
		case 0:
			return "end"
		case 1:
			return "fail"
		case 2:
			return "continue"
		}
		if i+1 >= n {
			return "end"
		}
		return map[string]string{"goto": fmt.Sprintf("s%d", i+1+r.IntN(n-i-1))}
	}
	var steps []map[string]any
	for i := range n {
		s := map[string]any{"key": fmt.Sprintf("s%d", i)}
		kinds := []string{"delay", "wait_until", "wait_for_event", "condition", "split", "webhook", "send_email", "end"}
		switch kind := kinds[r.IntN(len(kinds)-r.IntN(2))]; kind {
		case "delay":
			maps.Copy(s, map[string]any{"duration": fmt.Sprintf("PT%dS", 1+r.IntN(9999)), "type": kind})
		case "wait_until":
			maps.Copy(s, map[string]any{"type": kind,
				"window": map[string]any{"from": fmt.Sprintf("%02d:00", r.IntN(12)), "to": fmt.Sprintf("%02d:00", 12+r.IntN(12))}, "timezone": "Europe/Berlin"})
		case "wait_for_event":
			maps.Copy(s, map[string]any{"type": kind, "event": "x", "timeout": "PT1H", "on_event": target(i),
				"on_timeout": target(i)})
		case "condition":
			maps.Copy(s, map[string]any{"type": kind, "if": fmt.Sprintf("event.data.n > %d", r.IntN(9)),
				"on_true": target(i), "on_false": target(i)})
		case "split":
			maps.Copy(s, map[string]any{"type": kind,
				"variants": []any{map[string]any{"key": "a", "weight": 1 + r.IntN(9)}, map[string]any{"key": "b", "weight": 1 + r.IntN(9)}}})
		case "webhook":
			maps.Copy(s, map[string]any{"type": kind, "url": "https://example.com", "on_error": target(i)})
		case "send_email":
			maps.Copy(s, map[string]any{"type": kind, "from": "a@example.com", "subject": "S", "text": "T",
				"on_suppressed": target(i), "on_error": target(i)})
		case "end":
			s["type"] = kind
			steps = append(steps, s)
			continue
		}
		if r.IntN(3) == 0 {
			s["next"] = target(i)
		}
		steps = append(steps, s)
	}
	document, err := json.Marshal(map[string]any{"name": "N", "trigger": map[string]any{"event": "e"}, "steps": steps})
	if err != nil {
		panic(err)
	}
	return string(document)
}

// For every definition and all inputs, a run ends within 50 steps and never goes back, and equal inputs produce
// equal outcomes.
func TestRandomRunsEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		document := randomDefinition(rand.New(rand.NewPCG(seed, 1)))
		p := compileProgram(t, document)
		once := randomRun(t, p, seed)
		if twice := randomRun(t, p, seed); !cmp.Equal(once, twice) {
			t.Errorf("seed %d: equal inputs produced\n%v\nand\n%v", seed, once, twice)
		}
	}
}

// randomRun returns the steps that ended, in order.
func randomRun(t *testing.T, p *machine.Program, seed uint64) (taken []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	now, last, ended := start, -1, 0
	run := runOf(map[string]any{"n": int64(r.IntN(9))})
	state, out := p.Advance(t.Context(), run, machine.State{}, machine.AdvanceInput{Now: now})
	for {
		for _, record := range out.Records {
			if record.Index <= last {
				t.Fatalf("seed %d: the run went back from step %d to %d", seed, last, record.Index)
			}
			last = record.Index
			ended++
			taken = append(taken, fmt.Sprint(record.Key, record.Status, record.Ended.Unix()))
		}
		if ended > definition.MaxSteps {
			t.Fatalf("seed %d: %d steps ended", seed, ended)
		}
		if out.Ended != "" {
			return append(taken, out.Ended)
		}
		now = now.Add(time.Duration(r.IntN(100)) * time.Second)
		in := machine.AdvanceInput{Now: now}
		switch {
		case out.Effect != nil:
			statuses := []string{machine.StatusSent, machine.StatusSuppressed, machine.StatusFailed}
			in.Result = &machine.Result{Status: statuses[r.IntN(3)]}
		case len(out.Waiting.Events) > 0 && r.IntN(2) == 0:
			in.Event = &machine.Event{ID: "ae_2", Name: "x", CreatedAt: now}
		default:
			in.Now, in.Fired = out.Waiting.Until, true
			now = in.Now
		}
		state, out = p.Advance(t.Context(), run, state, in)
	}
}
