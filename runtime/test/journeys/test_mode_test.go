package journeys_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// capturedAnswer is the response of GET /test/inbox/latest.
type capturedAnswer struct {
	CapturedEmail struct {
		ID, Mode, Subject, Text string
		To, Links               []string
	} `json:"captured_email"`
}

// latest waits for an email of test mode.
func latest(t *testing.T, app *harness.App, to string) (got capturedAnswer) {
	t.Helper()
	answer := app.Do(t, http.MethodGet, "/api/test/inbox/latest?wait=20s&to="+url.QueryEscape(to), nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("waiting for the email to %s got %d %s, want 200", to, answer.Status, answer.Body)
	}
	answer.JSON(t, &got)
	return got
}

// An email of a test key is captured, and its outcome and events are those of real mail. The mail host of the recipient
// sees nothing, although the account delivers to it in live mode.
func TestJourneyTestModeCapturesMail(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	test := withKey(app, keyFor(t, app.Do, asked{"name": "tests", "mode": "test"}))
	if !strings.HasPrefix(test.APIKey, "svc_test_") {
		t.Errorf("the test key begins with %.9s, want svc_test_", test.APIKey)
	}
	target, heard := newListener(t)
	wantAnswer(t, "creating an endpoint of test mode",
		test.Do(t, http.MethodPost, "/api/webhooks", asked{"url": target}), http.StatusOK)

	id := test.Send(t, `{"from":"ada@dev.test","to":"bob@example.net","subject":"Reset","text":"Go to https://app.example.com/reset?t=1."}`)
	got := latest(t, test, "bob@example.net").CapturedEmail
	if got.Mode != "test" || got.Subject != "Reset" || len(got.Links) != 1 ||
		got.Links[0] != "https://app.example.com/reset?t=1" {
		t.Errorf("captured %+v, want the email with its link", got)
	}
	wantAnswer(t, "reading the captured email", test.Do(t, http.MethodGet, "/api/test/inbox/"+got.ID, nil), http.StatusOK)
	expect.Eventually(t, "the email is delivered", func() bool {
		return strings.Contains(string(test.Do(t, http.MethodGet, "/api/emails/"+id, nil).Body), `"status":"delivered"`)
	})
	for body := ""; !strings.Contains(body, "email.delivered"); {
		body = (<-heard).body
	}

	test.Send(t, `{"from":"ada@dev.test","to":"bounce@example.net","subject":"s","text":"t"}`)
	test.Send(t, `{"from":"ada@dev.test","to":"complain@example.net","subject":"s","text":"t"}`)
	for _, address := range []string{"bounce@example.net", "complain@example.net"} {
		expect.Eventually(t, address+" is suppressed in test mode", func() bool {
			return test.Do(t, http.MethodGet, "/api/suppressions/"+address, nil).Status == http.StatusOK
		})
		wantAnswer(t, "reading the suppression of "+address+" in live mode",
			app.Do(t, http.MethodGet, "/api/suppressions/"+address, nil), http.StatusNotFound)
	}
	if stats := app.MX.Stats(); stats.Connections != 0 {
		t.Errorf("the mail host of the recipient got %d connections, want none", stats.Connections)
	}
	app.Send(t, `{"from":"ada@dev.test","to":"bounce@example.net","subject":"live","text":"t"}`)
	expect.Eventually(t, "the live email is delivered", func() bool { return app.MX.Stats().Accepted == 1 })
}

// A test key sees nothing of live mode and changes nothing of the live account, and a live key sees nothing of test
// mode.
func TestModesAreSeparate(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	test := withKey(app, keyFor(t, app.Do, asked{"name": "tests", "mode": "test"}))
	emails := map[*harness.App]string{
		app:  app.Send(t, `{"from":"ada@dev.test","to":"bob@example.net","subject":"live","text":"t"}`),
		test: test.Send(t, `{"from":"ada@dev.test","to":"bob@example.net","subject":"test","text":"t"}`),
	}
	for own, id := range emails {
		for other := range emails {
			want := http.StatusOK
			if other != own {
				want = http.StatusNotFound
			}
			wantAnswer(t, "reading the email "+id, other.Do(t, http.MethodGet, "/api/emails/"+id, nil), want)
			listed := strings.Contains(string(other.Do(t, http.MethodGet, "/api/emails", nil).Body), id)
			if listed != (other == own) {
				t.Errorf("the email %s is listed in the other mode", id)
			}
		}
	}
	domain := idOfDomain(t, app, "dev.test")
	wantAnswer(t, "reading a domain in test mode", test.Do(t, http.MethodGet, "/api/domains/"+domain, nil), http.StatusOK)
	wantAnswer(t, "deleting a domain in test mode", test.Do(t, http.MethodDelete, "/api/domains/"+domain, nil),
		http.StatusForbidden, "insufficient_scope")
	wantAnswer(t, "creating a key in test mode", test.Do(t, http.MethodPost, "/api/api-keys", asked{"name": "n"}),
		http.StatusForbidden, "insufficient_scope")
	wantAnswer(t, "reading the account in test mode", test.Do(t, http.MethodGet, "/api/account", nil), http.StatusOK)
	wantAnswer(t, "reading the test inbox with a live key", app.Do(t, http.MethodGet, "/api/test/inbox", nil),
		http.StatusForbidden, "insufficient_scope")
	latest(t, test, "bob@example.net")
	var inbox struct {
		CapturedEmails []struct{ Subject string } `json:"captured_emails"`
	}
	test.Do(t, http.MethodGet, "/api/test/inbox", nil).JSON(t, &inbox)
	if len(inbox.CapturedEmails) != 1 || inbox.CapturedEmails[0].Subject != "test" {
		t.Errorf("the test inbox lists %+v, want only the email of test mode", inbox.CapturedEmails)
	}
}

// An event of a test key starts the automation of the account: its emails are captured, its webhook step reaches no
// receiver, an event about its mail resumes it, and its run belongs to test mode.
func TestJourneyTestModeRunsAutomations(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	target, heard := newListener(t)
	test := withKey(app, keyFor(t, app.Do, asked{"name": "tests", "mode": "test"}))
	var made struct{ Automation struct{ ID string } }
	answer := app.Do(t, http.MethodPost, "/api/automations", json.RawMessage(`{"name": "Welcome", "trigger": {"event": "user.created"}, "steps": [
		{"key": "hello", "type": "send_email", "from": "ada@dev.test", "subject": "Hi {{event.data.name}}", "text": "Hello"},
		{"key": "delivered", "type": "wait_for_event", "event": "$email.delivered", "timeout": "P1D", "on_timeout": "fail"},
		{"key": "hook", "type": "webhook", "url": "`+target+`"},
		{"key": "thanks", "type": "send_email", "from": "ada@dev.test", "subject": "Thank you", "text": "Bye"}]}`))
	if answer.Status != http.StatusOK {
		t.Fatalf("creating an automation got %d %s, want 200", answer.Status, answer.Body)
	}
	answer.JSON(t, &made)
	wantAnswer(t, "activating it", app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		asked{"action": "activate"}), http.StatusOK)
	wantAnswer(t, "pausing it with a test key", test.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		asked{"action": "pause"}), http.StatusForbidden, "insufficient_scope")
	if got := postEvent(t, test, `{"name": "user.created", "user_id": "u1", "email": "bob@example.net", "data": {"name": "Bob"}}`); got.MatchedAutomations != 1 {
		t.Errorf("the event of test mode started %d automations, want 1", got.MatchedAutomations)
	}
	for _, subject := range []string{"Hi Bob", "Thank you"} {
		wantAnswer(t, "waiting for the email "+subject, test.Do(t, http.MethodGet,
			"/api/test/inbox/latest?wait=30s&to=bob@example.net&subject="+url.QueryEscape(subject), nil), http.StatusOK)
	}
	runs := func(client *harness.App) string {
		return string(client.Do(t, http.MethodGet, "/api/automations/"+made.Automation.ID+"/runs", nil).Body)
	}
	expect.Eventually(t, "the run of test mode completes",
		func() bool { return strings.Contains(runs(test), `"status":"completed"`) })
	if live := runs(app); strings.Contains(live, `"run_`) {
		t.Errorf("live mode lists the run of test mode: %s", live)
	}
	select {
	case got := <-heard:
		t.Errorf("the webhook step called the receiver: %s", got.body)
	default:
	}
	if n := app.MX.Stats().Connections; n != 0 {
		t.Errorf("the mail host got %d connections, want none", n)
	}
	postEvent(t, app, `{"name": "user.created", "user_id": "u2", "email": "carol@example.net", "data": {"name": "Carol"}}`)
	expect.Eventually(t, "a live run sends and calls", func() bool { return app.MX.Stats().Accepted == 2 && len(heard) == 1 })
}

// Mail that is submitted over SMTP in test mode is captured and never leaves: with a credential of test mode, and with
// a test key as the password.
func TestJourneyTestModeCapturesRelayedMail(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	test := withKey(app, keyFor(t, app.Do, asked{"name": "tests", "mode": "test"}))
	id, password := newCredential(t, app, asked{"name": "staging", "mode": "test"})
	if !strings.HasPrefix(password, "svs_test_") {
		t.Errorf("the password begins with %.9s, want svs_test_", password)
	}
	if got := string(app.Do(t, http.MethodGet, "/api/smtp-credentials/"+id, nil).Body); !strings.Contains(got, `"mode":"test"`) {
		t.Errorf("the credential is %s, want it with its mode", got)
	}
	wantAnswer(t, "reading the credential in test mode", test.Do(t, http.MethodGet, "/api/smtp-credentials/"+id, nil),
		http.StatusForbidden, "insufficient_scope")
	wantAnswer(t, "creating a credential in test mode",
		test.Do(t, http.MethodPost, "/api/smtp-credentials", asked{"name": "x"}), http.StatusForbidden, "insufficient_scope")

	for to, secret := range map[string]string{"bob@example.net": password, "carol@example.net": test.APIKey} {
		s := dialRelay(t, app)
		s.auth("anyone", secret)
		s.expect("235 ")
		email := s.mustRelay("ada@dev.test", []string{to}, "From: ada@dev.test\nTo: "+to+"\nSubject: Relayed\n\nHello\n")
		if got := latest(t, test, to).CapturedEmail; got.Mode != "test" || got.Subject != "Relayed" {
			t.Errorf("captured %+v, want the relayed email", got)
		}
		waitForStatus(t, test, email, "delivered")
		wantAnswer(t, "reading the email in live mode", app.Do(t, http.MethodGet, "/api/emails/"+email, nil), http.StatusNotFound)
	}
	if stats := app.MX.Stats(); stats.Connections != 0 {
		t.Errorf("the mail host of the recipients got %d connections, want none", stats.Connections)
	}

	wantAnswer(t, "revoking the credential", app.Do(t, http.MethodDelete, "/api/smtp-credentials/"+id, nil), http.StatusOK)
	s := dialRelay(t, app)
	s.auth("anyone", password)
	s.expect("535 ")
	reader := withKey(app, keyFor(t, app.Do, asked{"name": "reader", "mode": "test", "scope": "read"}))
	s = dialRelay(t, app)
	s.auth("anyone", reader.APIKey)
	s.expect("535 ")
	live := signIn(t, app)
	live.mustRelay("ada@dev.test", []string{"bob@example.net"}, "From: ada@dev.test\nTo: bob@example.net\nSubject: Live\n\nHello\n")
	expect.Eventually(t, "the live email is delivered", func() bool { return app.MX.Stats().Accepted == 1 })
}
