package automations

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/fault"
)

// explain formats an explanation briefly.
func (w *world) explain(t *testing.T, event ingest.Event) string {
	t.Helper()
	e, err := w.Explain(t.Context(), sendingtest.Account, event.ID)
	if err != nil {
		t.Fatalf("explain an event: %v", err)
	}
	var out []string
	for _, m := range e.Matches {
		line := []string{m.AutomationName, m.Outcome, m.StepKey}
		for _, c := range m.Conditions {
			parts := []string{fmt.Sprint(c.Result)}
			for _, p := range c.Parts {
				parts = append(parts, fmt.Sprintf("%s = %v%s", p.Text, p.Value, p.Error))
			}
			line = append(line, "["+strings.Join(parts, ", ")+"]")
		}
		out = append(out, strings.Join(line, " "))
	}
	for _, m := range e.NearMisses {
		line := "near: " + m.Kind + " " + m.Name + " " + m.StepKey
		if m.Condition != nil {
			line += fmt.Sprintf(" [%t, %s = %v]", m.Condition.Result, m.Condition.Parts[1].Text,
				m.Condition.Parts[1].Value)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestExplainEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t,
		`{"event": "start", "conditions": "event.data.amount > 50", "re_entry": "after_completion", "cancel_on_events": [{"event": "stop", "conditions": "event.data.sure"}]}`,
		`{"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D", "conditions": "event.data.id == trigger.data.amount"}, {"key": "w2", "type": "wait_for_event", "event": "seen", "timeout": "P1D"}`)
	small, none := w.post(t, "start", `{"amount": 20}`).Event, w.post(t, "start", `{}`).Event
	large, again := w.post(t, "start", `{"amount": 60}`).Event, w.post(t, "start", `{"amount": 70}`).Event
	stranger := w.postAs(t, "paid", "u2", "bob@example.net", `{"id": 60}`).Event
	wrong := w.post(t, "paid", `{"id": 61}`).Event
	paid := w.post(t, "paid", `{"id": 60}`).Event
	w.drain(t)
	unsure, stop := w.post(t, "stop", `{"sure": false}`).Event, w.post(t, "stop", `{"sure": true}`).Event
	spelled := w.post(t, "Start", `{"amount": 60}`).Event
	for name, c := range map[string]struct {
		event ingest.Event
		want  string
	}{
		"too small": {small, "Test condition_false  [false, event.data.amount > 50 = false, event.data.amount = 20]"},
		"without": {none,
			"Test condition_error  [false, event.data.amount > 50 = <nil>no such key: amount, event.data.amount = <nil>no such key: amount]"},
		"started":  {large, "Test started  [true, event.data.amount > 50 = true, event.data.amount = 60]"},
		"re-entry": {again, "Test re_entry  [true, event.data.amount > 50 = true, event.data.amount = 70]"},
		"resumed": {paid,
			"Test resumed w [true, event.data.id == trigger.data.amount = true, event.data.id = 60, trigger.data.amount = 60]; near: event_of_another_person paid "},
		"cancelled":      {stop, "Test cancelled  [true, event.data.sure = true]"},
		"not cancelled":  {unsure, ""},
		"spelled":        {spelled, "near: name_spelled_otherwise start "},
		"not for a wait": {wrong, "near: event_of_another_person paid "}, // the wait has ended
		"another person": {stranger, "near: event_of_another_person paid ; near: event_of_another_person paid "},
	} {
		if diff := cmp.Diff(c.want, w.explain(t, c.event)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	w.post(t, "start", `{"amount": 80}`)
	for name, c := range map[string]struct {
		event ingest.Event
		want  string
	}{
		"a wait of another": {w.postAs(t, "paid", "u3", "bob@example.net", `{"id": 80}`).Event, "near: wait_of_another_person paid w"},
		"a condition":       {w.postAs(t, "paid", "", "bob@example.net", `{"id": 81}`).Event, "near: wait_condition_false paid w [false, event.data.id = 81]"},
	} {
		if got := w.explain(t, c.event); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if _, err := w.Change(t.Context(), sendingtest.Account, a.ID, parseMembers(`{"trigger": {"event": "spelled"}}`),
		""); err != nil {
		t.Fatal(err)
	}
	before := w.post(t, "spelled", `{}`).Event
	if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil {
		t.Fatal(err)
	}
	if got := w.explain(t, before); got != "Test activated_later " {
		t.Errorf("the explanation of an event from before the activation is %q", got)
	}
	if _, err := w.Explain(t.Context(), other, small.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Explain for another account returned %v", err)
	}
}

func TestBacktestAppliesTheDraftToStoredEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start", "conditions": "event.data.n > 5"}`, `{"type": "end"}`)
	for n := range 10 {
		w.post(t, "start", fmt.Sprintf(`{"n": %d}`, n))
	}
	w.post(t, "start", `{}`)
	w.post(t, "begin", `{"n": 1}`)
	since := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		trigger string
		limit   int
		want    string
	}{
		{`{"event": "start", "conditions": "event.data.n > 5"}`, 0, "11 events, 4 and 4, 0 differ, more false"},
		{`{"event": "start", "conditions": "event.data.n > 7"}`, 0, "11 events, 2 and 4, 2 differ, more false"},
		{`{"event": "start"}`, 0, "11 events, 11 and 4, 7 differ, more false"},
		{`{"event": "begin"}`, 0, "12 events, 1 and 4, 5 differ, more false"},
		{`{"event": "start"}`, 3, "3 events, 3 and 2, 1 differ, more true"},
	} {
		if _, err := w.Change(t.Context(), sendingtest.Account, a.ID, parseMembers(`{"trigger": `+c.trigger+`}`),
			""); err != nil {
			t.Fatal(err)
		}
		b, err := w.Backtest(t.Context(), w.caller(), a.ID, BacktestInput{Since: since, Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d events, %d and %d, %d differ, more %t", b.Events, b.DraftStarts, b.ActiveStarts,
			b.Differ, b.More)
		if got != c.want || len(b.Differences) != b.Differ {
			t.Errorf("%s over %d events: %s with %d differences, want %s", c.trigger, c.limit, got, len(b.Differences),
				c.want)
		}
	}
	if n := w.Count(t, "automation_runs"); n != 4 {
		t.Errorf("there are %d runs after the backtests, want the 4 that events started", n)
	}
	b, err := w.Backtest(t.Context(), w.caller(), a.ID, BacktestInput{Since: time.Now().Add(time.Hour)})
	if err != nil || b.Events != 0 {
		t.Errorf("a backtest over no events tested %d (%v)", b.Events, err)
	}
}

func TestCompareVersionsAndDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.activate(t, `{"event": "start"}`, `{"key": "one", "type": "delay", "duration": "P1D"}`)
	for _, change := range []string{`{"steps": [{"key": "one", "type": "delay", "duration": "P2D"}]}`,
		`{"name": "Other"}`} {
		if _, err := w.Change(t.Context(), sendingtest.Account, a.ID, parseMembers(change), ""); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(change, "steps") {
			if _, err := w.Activate(t.Context(), w.caller(), a.ID, Activation{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		number  int
		against Against
		want    string
	}{
		{2, Against{}, "1 2: 0 fields, 1 steps"}, {1, Against{}, "1 1: 0 fields, 0 steps"}, {1, Against{Version: 2}, "1 2: 0 fields, 1 steps"},
		{2, Against{Draft: true}, "2 draft: 1 fields, 0 steps"},
		{1, Against{Draft: true}, "1 draft: 1 fields, 1 steps"}, {3, Against{}, "not found"}, {1, Against{Version: 9}, "not found"},
	} {
		got := "not found"
		if d, err := w.Compare(t.Context(), sendingtest.Account, a.ID, c.number, c.against); err == nil {
			to := "draft"
			if d.To != nil {
				to = fmt.Sprint(*d.To)
			}
			got = fmt.Sprintf("%d %s: %d fields, %d steps", *d.From, to, len(d.Fields), len(d.Steps))
		} else if fault.KindOf(err) != fault.NotFound {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("version %d against %+v: %s, want %s", c.number, c.against, got, c.want)
		}
	}
}

// The timeline lists all events of a run in one order, each with its source.
func TestRunTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, mail+
		`, {"key": "w", "type": "wait_for_event", "event": "paid", "timeout": "P1D"}, {"key": "over", "type": "end", "outcome": "failed"}`)
	run := w.post(t, "start", `{"n": 1}`).Event.Matches[0].RunID
	w.drain(t)
	detail, err := w.Run(t.Context(), sendingtest.Account, run)
	if err != nil || detail.Waiting == nil || detail.Waiting.Events[0] != "paid" {
		t.Errorf("the run waits for %+v (%v), want paid", detail.Waiting, err)
	}
	w.post(t, "none", `{}`)
	w.post(t, "paid", `{"n": 2}`)
	w.drain(t)
	list, err := w.Timeline(t.Context(), sendingtest.Account, run)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, e := range list {
		line := e.Source + " " + e.StepKey
		switch {
		case e.Event != nil:
			line += " " + e.Event.Name + " " + e.Event.Outcome
		case e.Step != nil:
			line += " " + e.Step.Status
		default:
			line += " " + string(e.Fact.Type)
		}
		got = append(got, line)
		if i > 0 && e.At.Before(list[i-1].At) {
			t.Errorf("%s is listed after a later entry", line)
		}
	}
	want := []string{"event  start started", "run  automation.started", "email mail email.sent", "step mail sent",
		"event  paid resumed", "step w received", "step over completed", "run  automation.failed"}
	// the email and its step may have the same time
	swapped := []string{want[0], want[1], want[3], want[2], want[4], want[5], want[6], want[7]}
	if cmp.Diff(want, got) != "" && cmp.Diff(swapped, got) != "" {
		t.Errorf("the timeline (-want +got):\n%s", cmp.Diff(want, got))
	}
	if _, err := w.Timeline(t.Context(), other, run); fault.KindOf(err) != fault.NotFound {
		t.Errorf("reading the timeline from another account returned %v", err)
	}
}
