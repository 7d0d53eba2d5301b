package journeys_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// webhookOf waits for an event about an email at a webhook and skips earlier ones.
func webhookOf(t *testing.T, heard <-chan hook, event, emailID string) (data json.RawMessage) {
	t.Helper()
	over := time.After(expect.Patience)
	for {
		select {
		case got := <-heard:
			var e struct {
				Type string
				Data json.RawMessage
			}
			if err := json.Unmarshal([]byte(got.body), &e); err != nil {
				t.Fatal(err)
			}
			if e.Type == event && strings.Contains(string(e.Data), emailID) {
				return e.Data
			}
		case <-over:
			t.Fatalf("received no webhook %s for the email %s", event, emailID)
		}
	}
}

// startSimulated starts Postrider in development mode with default settings, so mail is captured.
func startSimulated(t *testing.T) (s *scenario, heard <-chan hook) {
	t.Helper()
	s = scenarioOf(t, harness.Start(t, func(c setting.RawValues) { c["POSTRIDER_OUTBOUND"] = "" }))
	target, heard := newListener(t)
	if answer := s.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": target}); answer.Status >= 300 {
		t.Fatalf("the webhook was not created: %d %s", answer.Status, answer.Body)
	}
	return s, heard
}

func (s *scenario) reasonOf(t *testing.T, address string) string {
	t.Helper()
	var got suppressed
	s.Do(t, http.MethodGet, "/api/suppressions/"+url.PathEscape(address), nil).JSON(t, &got)
	return got.Suppression.Reason
}

// Each failure is reported to the sender as with a real server: in the attempts, the events, the webhooks
// and on the suppression list.
func TestDevelopmentModeSimulatesFailures(t *testing.T) { //nolint:tparallel // the subtests share one endpoint
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	s, heard := startSimulated(t)
	for _, domain := range []string{"dev.test", "sandbox.postrider.test"} {
		t.Run("bounce@"+domain, func(t *testing.T) {
			to := "bounce+1@" + domain
			id := s.sendMessage(t, []string{to})
			said := s.expect(t, id, bouncedStory("550 5.1.1", true, "bounced rcpt 550 5.1.1 127"))
			if !strings.Contains(said, "<"+to+">: no such mailbox") {
				t.Errorf("the attempt has the text %q, want the server's", said)
			}
			if data := string(webhookOf(t, heard, "email.bounced", id)); !strings.Contains(data, "no such mailbox") ||
				!strings.Contains(data, `"recipient":"`+to+`"`) {
				t.Errorf("the webhook received %s, want the server's text", data)
			}
			if got := s.reasonOf(t, to); got != "bounce" {
				t.Errorf("%s is suppressed for %q, want bounce", to, got)
			}
		})
		t.Run("soft-bounce@"+domain, func(t *testing.T) {
			to := "Soft-Bounce+a.b@" + domain
			id := s.sendMessage(t, []string{to})
			data := string(webhookOf(t, heard, "email.bounced", id))
			for _, want := range []string{`"type":"transient"`, `"code":452`, `"enhanced_code":"4.2.2"`, "over quota",
				"store." + domain} {
				if !strings.Contains(data, want) {
					t.Errorf("the webhook received %s, which lacks %s", data, want)
				}
			}
			waitForStatus(t, s.App, id, "bounced")
			harness.Eventually(t, to+" is suppressed", func() bool { return s.reasonOf(t, to) == "bounce" })
		})
		t.Run("complain@"+domain, func(t *testing.T) {
			to := "complain+1@" + domain
			id := s.sendMessage(t, []string{to})
			if data := string(webhookOf(t, heard, "email.complained", id)); !strings.Contains(data, `"type":"abuse"`) ||
				!strings.Contains(data, "Postrider-Test-Mode") {
				t.Errorf("the webhook received %s, want a complaint of development mode's feedback loop", data)
			}
			waitForStatus(t, s.App, id, "delivered")
			harness.Eventually(t, to+" is suppressed", func() bool { return s.reasonOf(t, to) == "complaint" })
			checkBlocked(t, s.App, to, true)
			checkBlocked(t, s.App, "complain+2@"+domain, false)
		})
		t.Run("delay@"+domain, func(t *testing.T) {
			id := s.sendMessage(t, []string{"delay+1@" + domain})
			if data := string(webhookOf(t, heard, "email.delivery_delayed", id)); !strings.Contains(data,
				"greylisted") {
				t.Errorf("the webhook received %s, want the server's text", data)
			}
			s.expect(t, id, deferredStory("451 4.7.1", "deferred rcpt 451 4.7.1 127"))
			s.passTime(t, id, time.Minute)
			s.expect(t, id, arrivedLate("deferred rcpt 451 4.7.1 127", "delivered dot 250 2.0.0 127"))
		})
		t.Run("suppress@"+domain, func(t *testing.T) {
			for _, to := range []string{"suppress@" + domain, "suppress+anything@" + domain} {
				var receipt struct{ ID, Status string }
				s.Do(t, http.MethodPost, "/api/emails", `{"from":"ada@dev.test","to":"`+to+
					`","subject":"s","text":"t"}`).JSON(t, &receipt)
				if receipt.Status != "failed" {
					t.Errorf("an email to %s returned %+v, want it failed immediately", to, receipt)
				}
				if data := string(webhookOf(t, heard, "email.suppressed", receipt.ID)); !strings.Contains(data, to) {
					t.Errorf("the webhook received %s, want it to report that %s is suppressed", data, to)
				}
				if got := s.reasonOf(t, to); got != "manual" {
					t.Errorf("%s is suppressed for %q, want manual", to, got)
				}
			}
		})
	}
	t.Run("slow", func(t *testing.T) {
		id, beside := s.sendMessage(t, []string{"slow+1@dev.test"}), s.sendMessage(t, []string{"bob@example.net"})
		waitForStatus(t, s.App, beside, "delivered") // a slow receiver does not delay others
		expect.Eventually(t, "the slow receiver accepts the mail", func() bool {
			var got emailAnswer
			s.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &got)
			return got.Email.Status == "delivered"
		})
	})
	// The inbox API returns captured mail to tests, but not rejected mail.
	for query, want := range map[string]int{"to=slow+1@dev.test&wait=10s": http.StatusOK,
		"to=delay%2B1@sandbox.postrider.test&subject=hello": http.StatusOK,
		"to=bounce+1@dev.test":                              http.StatusNotFound,
		"to=nobody":                                         http.StatusUnprocessableEntity, "wait=2m": http.StatusUnprocessableEntity} {
		if answer := s.Do(t, http.MethodGet, "/dev/inbox/latest?"+query, nil); answer.Status != want {
			t.Errorf("latest?%s returned %d %s, want %d", query, answer.Status, answer.Body, want)
		}
	}
}

// A client that waits for mail does not delay a stop.
func TestStopEndsWaitsForMail(t *testing.T) {
	t.Parallel()
	s, _ := startSimulated(t)
	answered := make(chan int, 1)
	waiting, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+
		"/dev/inbox/latest?to=nobody@example.net&wait=60s", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		res, err := http.DefaultClient.Do(waiting)
		if err != nil {
			answered <- 0
			return
		}
		res.Body.Close()
		answered <- res.StatusCode
	}()
	harness.Eventually(t, "the request is being served", func() bool {
		// and this request
		return strings.Contains(string(s.Do(t, http.MethodGet, "/metrics", nil).Body),
			"postrider_http_requests_in_flight 2")
	})
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if status := <-answered; status != http.StatusServiceUnavailable {
		t.Errorf("a wait that a stop ended returned %d, want 503", status)
	}
}

// Without the development inbox, or with real delivery, no failures are simulated.
func TestNoFailuresAreSimulatedForRealDelivery(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "dev.test")
	for _, to := range []string{"bounce@dev.test", "suppress+1@dev.test"} {
		id := send(t, app, `{"from":"ada@dev.test","to":"`+to+`","subject":"s","text":"t"}`)
		waitForStatus(t, app, id, "delivered")
	}
}
