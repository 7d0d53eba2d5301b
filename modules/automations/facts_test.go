package automations

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/proof"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/web/webhooksig"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

// handleFacts passes facts to the consumer several times, then applies the stored events.
func (w *world) handleFacts(t *testing.T, list ...event.Fact) {
	t.Helper()
	for range 3 {
		err := w.DB.InTx(t.Context(), func(tx *ent.Tx) error {
			for _, fact := range list {
				if err := w.Consumer().Handle(t.Context(), tx, fact); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("handle facts: %v", err)
		}
		if err := w.events.ApplyBuiltInEvents(t.Context()); err != nil {
			t.Fatalf("apply facts: %v", err)
		}
	}
}

// mailFact returns a fact about an email of the account and its recipient.
func mailFact(typ event.Type, emailID, recipient string) event.Fact {
	return event.New(sendingtest.Account, typ, time.Now(),
		event.Email{EmailID: emailID, From: "ada@example.com", To: []string{recipient}, Recipient: recipient})
}

// newestEmail returns the id of the newest email.
func (w *world) newestEmail(t *testing.T) string {
	t.Helper()
	last, err := w.DB.Ent.Email.Query().Order(ent.Desc("id")).First(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last.ID
}

func TestMailEventEndsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, mail+
		`, {"key": "w", "type": "wait_for_event", "event": ["$email.clicked", "$email.bounced"], "step": "mail", "timeout": "P1D", "on_timeout": "fail"}`)
	w.post(t, "start", `{}`)
	w.drain(t)
	sent := w.newestEmail(t)
	w.handleFacts(t, mailFact(event.EmailClicked, "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "bob@example.net"),
		mailFact(event.EmailClicked, sent, "eve@example.net"), mailFact(event.EmailDelivered, sent, "bob@example.net"))
	w.drain(t)
	if got := w.countStatuses(t); got["waiting"] != 1 {
		t.Fatalf("after a click in another mail, a click of another person, and a delivery, the run is %v; want it waiting", got)
	}
	if n := w.Count(t, "custom_events WHERE name = '$email.delivered'"); n != 0 {
		t.Errorf("%d deliveries are stored although no automation listens to them", n)
	}
	w.handleFacts(t, mailFact(event.EmailClicked, sent, "Bob@EXAMPLE.net"))
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 1 {
		t.Fatalf("after the click the run is %v, want it completed", got)
	}
	if n := w.Count(t, "custom_events WHERE name = '$email.clicked' AND source = 'system' AND NOT pending"); n != 3 {
		t.Errorf("three clicks reported several times created %d events, want 3", n)
	}
}

// The click occurs before the run waits for it.
func TestWaitFindsEarlierMailEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "start"}`, mail+
		`, {"key": "d", "type": "delay", "duration": "PT1H"}, {"key": "w", "type": "wait_for_event", "event": "$email.opened", "step": "mail", "timeout": "P1D", "on_timeout": "fail"}`)
	w.post(t, "start", `{}`)
	w.drain(t)
	w.handleFacts(t, mailFact(event.EmailOpened, w.newestEmail(t), "bob@example.net"))
	w.endWaits(t)
	w.drain(t)
	if got := w.countStatuses(t); got["completed"] != 1 {
		t.Errorf("the mail was opened before the wait and the run is %v, want it completed", got)
	}
}

func TestMailEventsStartRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "$contact.unsubscribed", "conditions": "event.data.scope == 'all'"}`,
		`{"key": "d", "type": "delay", "duration": "P1D"}`)
	w.activate(t, `{"event": "$email.received"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	gone := event.New(sendingtest.Account, event.ContactUnsubscribed, time.Now(),
		event.Unsubscribe{Email: "bob@example.net", Scope: event.ScopeAll})
	category := event.New(sendingtest.Account, event.ContactUnsubscribed, time.Now(),
		event.Unsubscribe{Email: "bob@example.net", Scope: event.ScopeCategory})
	came := event.New(sendingtest.Account, event.EmailReceived, time.Now(),
		event.Inbound{EmailID: "inb_01kf0m4w7he6x8q2v5b3n9c1ta", From: "Eve <eve@example.org>"})
	nobody := event.New(sendingtest.Account, event.EmailReceived, time.Now(),
		event.Inbound{EmailID: "inb_01kf0m4w7he6x8q2v5b3n9c1tb", From: "<>"})
	foreign := event.New(other, event.EmailReceived, time.Now(),
		event.Inbound{EmailID: "inb_01kf0m4w7he6x8q2v5b3n9c1tc", From: "eve@example.org"})
	w.handleFacts(t, gone, category, came, nobody, foreign)
	for where, want := range map[string]int{
		"automation_runs": 3, "automation_runs WHERE email_key = 'bob@example.net'": 1,
		"automation_runs WHERE email_key = 'eve@example.org'": 1, "custom_events": 4,
		"facts WHERE type = 'automation.started'": 3,
	} {
		if n := w.Count(t, where); n != want {
			t.Errorf("%d %s, want %d", n, where, want)
		}
	}
}

// An automation that reacts to its own mail stops after ten runs, each caused by the previous one.
func TestLimitsLoopThroughOwnMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "$email.delivered"}`, mail)
	w.handleFacts(t, mailFact(event.EmailDelivered, "msg_01kf0m4w7he6x8q2v5b3n9c1ta", "bob@example.net"))
	for range 20 {
		w.drain(t)
		w.handleFacts(t, mailFact(event.EmailDelivered, w.newestEmail(t), "bob@example.net"))
	}
	w.drain(t)
	if n := w.Count(t, "automation_runs"); n != 11 {
		t.Errorf("%d runs caused one another, want 11 with depths 0 to 10", n)
	}
	if n := w.Count(t, `custom_events WHERE matches @> '[{"outcome": "loop_guard"}]' AND depth = 11`); n == 0 {
		t.Error("no event reports that the loop guard stopped it")
	}
}

// The receiver of a webhook step posts an event in response. With the cause from the request, the loop ends
// after ten rounds. The request is signed with the account's secret.
func TestLimitsLoopThroughReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var causes []string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = webhooksig.Verify(w.WebhookSecret(sendingtest.Account).Reveal(), r.Header.Get(webhooksig.Header),
				body, time.Now())
		}
		if err != nil {
			t.Errorf("the step's request: %v", err)
		}
		if key := r.Header.Get("Idempotency-Key"); !strings.HasPrefix(key, "run_") || !strings.HasSuffix(key, "/call") {
			t.Errorf("Idempotency-Key: %q, want run/step", key)
		}
		causes = append(causes, r.Header.Get(proof.CauseHeader))
	}))
	defer receiver.Close()
	w.activate(t, `{"event": "start"}`,
		fmt.Sprintf(`{"key": "call", "type": "webhook", "url": %q, "body": {"user": "{{event.user_id}}"}}`,
			strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)))
	w.post(t, "start", `{}`)
	var last ingest.Result
	for range 15 {
		w.drain(t)
		answer, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: "start", UserID: "u1",
			Data: json.RawMessage(`{}`), Source: "api", Cause: causes[len(causes)-1]})
		if err != nil {
			t.Fatalf("post an event with a cause: %v", err)
		}
		last = answer
	}
	if n := w.Count(t, "automation_runs"); n != 11 || last.Matched != 0 ||
		last.Event.Matches[0].Outcome != ingest.LoopGuard {
		t.Errorf("%d runs, and the last event returned %s %v; want 11 and the loop guard", n, formatCounters(last),
			last.Event.Matches)
	}
	if _, err := w.Post(t.Context(), ingest.Post{AccountID: sendingtest.Account, Name: "start", Source: "api",
		Cause: "run_1.0.forged"}); codeOf(err) != "validation_error" {
		t.Errorf("posting an event with a forged cause returned %v", err)
	}
}

// The bus loses all messages, and facts are published by a process that has not yet seen the automation. Each
// fact takes effect once.
func TestFactsLostByBusTakeEffectOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Bus.Register(w.Consumer())
	if err := w.Bus.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Bus.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop the bus: %v", err)
		}
	})
	if err := w.Consumer().Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.Consumer().Wants(sendingtest.Account) {
		t.Error("facts of an account without automations were sent over the bus")
	}
	w.activate(t, `{"event": "$email.opened"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	if !w.Consumer().Wants(sendingtest.Account) || w.Consumer().Wants(other) {
		t.Error("after the activation, only facts of this account must be sent over the bus")
	}
	deaf := bus.New(w.DB, w.Logger, bus.Options{})
	const facts = 120
	for i := range facts {
		err := w.DB.InTx(t.Context(), func(tx *ent.Tx) error {
			publish := w.Bus.Publish
			if i%2 == 0 {
				publish = deaf.Publish
			}
			if err := publish(t.Context(), tx, mailFact(event.EmailOpened, "msg_01kf0m4w7he6x8q2v5b3n9c1ta",
				fmt.Sprintf("u%d@example.net", i))); err != nil {
				return err
			}
			if i%3 == 0 {
				_, err := tx.ExecContext(t.Context(), `DELETE FROM bus_messages`)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	expect.EventuallyWithin(t, 60*time.Second, "every fact has started a run", func() bool {
		if err := w.events.ApplyBuiltInEvents(t.Context()); err != nil {
			t.Error(err)
		}
		return w.Count(t, "automation_runs") == facts
	})
	if n := w.Count(t, "facts WHERE type = 'automation.started'"); n != facts {
		t.Errorf("%d runs have events, want %d", n, facts)
	}
}

// An event that cannot be applied does not delay others.
func TestBrokenEventDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.activate(t, `{"event": "$email.opened"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	broken := w.activate(t, `{"event": "$email.clicked"}`, `{"key": "d", "type": "delay", "duration": "P1D"}`)
	w.Exec(t,
		`UPDATE automation_versions SET definition = '{"trigger": {"event": "e", "conditions": "1 +"}, "steps": [{"key": "a", "type": "end"}]}' WHERE automation_id = $1`, broken.ID)
	err := w.DB.InTx(t.Context(), func(tx *ent.Tx) error {
		for i, typ := range []event.Type{event.EmailOpened, event.EmailClicked, event.EmailOpened} {
			if err := w.Consumer().Handle(t.Context(), tx,
				mailFact(typ, "msg_01kf0m4w7he6x8q2v5b3n9c1ta", fmt.Sprintf("u%d@example.net", i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.events.ApplyBuiltInEvents(t.Context()); err == nil {
		t.Error("an event with an unreadable version must be reported as an error")
	}
	if n := w.Count(t, "automation_runs"); n != 2 || w.Count(t, "custom_events WHERE pending") != 1 {
		t.Errorf("%d runs and %d pending events, want 2 and 1", n, w.Count(t, "custom_events WHERE pending"))
	}
}
