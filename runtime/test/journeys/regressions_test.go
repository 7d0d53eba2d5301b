package journeys_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A program that submits mail for a suppressed recipient gets an error that names the recipient and the id
// of the record.
func TestRelayRejectsSuppressedRecipients(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	if got := app.Do(t, http.MethodPost, "/api/suppressions",
		map[string]any{"email": "gone@example.net"}); got.Status != http.StatusOK {
		t.Fatalf("suppressing an address got status %d and %s, want 200", got.Status, got.Body)
	}
	const message = "From: ada@dev.test\nTo: bob@example.net\nSubject: s\nX-Postrider-Idempotency-Key: k1\n\nHello\n"
	for _, what := range []string{"the first time", "again under the same key"} {
		got := signIn(t, app).submit("ada@dev.test", []string{"bob@example.net", "gone@example.net"}, message)
		rest, found := strings.CutPrefix(got, "550 5.7.1 Not sent, recorded as msg_")
		if !found || !strings.HasSuffix(rest, ": suppressed gone@example.net") {
			t.Errorf("%s the relay replied %q, want 550 5.7.1 with the id and the address", what, got)
			continue
		}
		id := "msg_" + strings.TrimSuffix(rest, ": suppressed gone@example.net")
		var kept struct {
			Email struct {
				Status    string
				LastEvent string `json:"last_event"`
			}
		}
		app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &kept)
		if kept.Email.Status != "failed" || kept.Email.LastEvent != "email.suppressed" {
			t.Errorf("%s the email %s is %+v, want it failed with email.suppressed", what, id, kept.Email)
		}
	}
}

func TestUnsubscribePlaceholderIsFoundInEveryEncoding(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	for name, body := range map[string]string{
		"plain":            "\nBye: {{unsubscribe_url}}\n",
		"quoted-printable": "Content-Transfer-Encoding: quoted-printable\n\nBye: {{unsub=\nscribe=5Furl}}\n",
		"base64":           "Content-Transfer-Encoding: base64\n\n" + encodeBase64("Bye: {{unsubscribe_url}}\r\n") + "\n",
	} {
		fields := "From: ada@dev.test\nTo: bob@example.net\nSubject: s\n"
		if got := signIn(t, app).submit("ada@dev.test", []string{"bob@example.net"},
			fields+body); !strings.HasPrefix(got, "550 5.6.0 X-Postrider-Unsubscribe: ") {
			t.Errorf("%s: a message with an unused link placeholder got %q, want 550 5.6.0", name, got)
		}
		if got := signIn(t, app).submit("ada@dev.test", []string{"bob@example.net"}, fields+
			"X-Postrider-Unsubscribe: true\n"+body); !strings.HasPrefix(got, "250 ") {
			t.Errorf("%s: with X-Postrider-Unsubscribe it got %q, want 250", name, got)
		}
	}
	// Each placeholder becomes a link ten times as long, in every text of the message.
	part := "--b\nContent-Type: text/plain\n\n" + strings.Repeat("{{unsubscribe_url}}\n", 60)
	many := "From: ada@dev.test\nTo: bob@example.net\nSubject: s\nX-Postrider-Unsubscribe: true\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" + part + part + "--b--\n"
	if got := signIn(t, app).submit("ada@dev.test", []string{"bob@example.net"}, many); !strings.HasPrefix(got,
		"550 5.6.0 X-Postrider-Unsubscribe: cannot be true: the message cannot contain {{unsubscribe_url}} more than 100 times") {
		t.Errorf("two texts with 60 link placeholders each got %q, want 550 5.6.0", got)
	}
}

func newKey(t *testing.T, app *harness.App, scope string) (id, secret string) {
	t.Helper()
	var made struct {
		APIKey struct{ ID string } `json:"api_key"`
		Secret string
	}
	app.Do(t, http.MethodPost, "/api/api-keys", map[string]any{"name": scope, "scope": scope}).JSON(t, &made)
	return made.APIKey.ID, made.Secret
}

func TestRelayAcceptsSendingAPIKeys(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	keyID, sending := newKey(t, app, "sending")
	_, reading := newKey(t, app, "read")
	for _, username := range []string{"postrider", "POSTRIDER", "resend", ""} {
		for what, password := range map[string]string{"the credential": app.Relay.Password,
			"a key of scope sending": sending, "a key of scope full": app.APIKey} {
			s := dialRelay(t, app)
			s.auth(username, password)
			if got := s.answer(); !strings.HasPrefix(got, "235 ") {
				t.Errorf("%s with %s got %q, want 235", username, what, got)
				continue
			}
			s.mustRelay("ada@dev.test", []string{"bob@example.net"}, plainMessage("ada@dev.test", "bob@example.net"))
		}
	}
	for what, c := range map[string][2]string{"a key that may only read": {"postrider", reading},
		"an unknown key": {"postrider", "svc_0123456789abcdefghijklmnopqrstuv"}, "half a key": {"postrider", "svc_"}} {
		s := dialRelay(t, app)
		s.auth(c[0], c[1])
		if got := s.answer(); !strings.HasPrefix(got, "535 5.7.8 ") {
			t.Errorf("%s got %q, want 535", what, got)
		}
	}
	// Revoking it ends open connections.
	s := dialRelay(t, app)
	s.auth("postrider", sending)
	s.expect("235 ")
	if got := app.Do(t, http.MethodDelete, "/api/api-keys/"+keyID, nil); got.Status != http.StatusOK {
		t.Fatalf("revoking the key got status %d and %s, want 200", got.Status, got.Body)
	}
	s.say("MAIL FROM:<ada@dev.test>\r\n")
	s.expect("535 5.7.8 ")
}

func TestSettingsAndEventsOfDisabledModulesAreRejected(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, setModules("-tracking,-inbound,-automations"))
	for what, c := range map[string]struct {
		method, path, body, want string
	}{
		"open tracking": {http.MethodPatch, "/api/domains/" + devDomainID(t, app), `{"open_tracking":true}`,
			`"open_tracking":"requires the module tracking, which is disabled in this installation"`},
		"no click tracking": {http.MethodPatch, "/api/domains/" + devDomainID(t, app), `{"click_tracking":false}`,
			`"click_tracking":"requires the module tracking`},
		"receiving": {http.MethodPatch, "/api/domains/" + devDomainID(t, app), `{"inbound_enabled":true}`,
			`"inbound_enabled":"requires the module inbound`},
		"a domain that would": {http.MethodPost, "/api/domains", `{"name":"new.example.org","inbound_enabled":true}`,
			`"inbound_enabled":"requires the module inbound`},
		"clicks": {http.MethodPost, "/api/webhooks",
			`{"url":"http://127.0.0.1:1/","events":["email.sent","email.clicked"]}`,
			`"events[1]":"is an event of the module tracking, which is disabled`},
		"runs": {http.MethodPost, "/api/webhooks",
			`{"url":"http://127.0.0.1:1/","events":["automation.failed"]}`,
			`"events[0]":"is an event of the module automations`},
		"a test of runs":      {http.MethodPost, "/api/emails/test", `{"event":"automation.started"}`, `"event":"is an event of the module automations`},
		"a test of receiving": {http.MethodPost, "/api/emails/test", `{"event":"email.received"}`, `"event":"is an event of the module inbound`},
	} {
		if got := app.Do(t, c.method, c.path, c.body); got.Status != http.StatusBadRequest ||
			!strings.Contains(string(got.Body), c.want) || !strings.Contains(string(got.Body), "validation_error") {
			t.Errorf("%s got status %d and %s, want 400 with %s", what, got.Status, got.Body, c.want)
		}
	}
	if got := app.Do(t, http.MethodPost, "/api/emails/test",
		`{"event":"email.sent","deliver":false}`); got.Status != http.StatusOK {
		t.Errorf("a test of a supported event got status %d and %s, want 200", got.Status, got.Body)
	}
}

func TestTestEventsRequireWebhooks(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, setModules("-webhooks"))
	if got := app.Do(t, http.MethodPost, "/api/emails/test",
		`{"event":"email.sent"}`); got.Status != http.StatusNotFound && got.Status != http.StatusMethodNotAllowed {
		t.Errorf("without webhooks a test event got status %d and %s, want 404", got.Status, got.Body)
	}
	if document := app.Do(t, http.MethodGet, "/api/openapi.json", nil).
		Body; strings.Contains(string(document), "/emails/test") {
		t.Error("without webhooks the document has /emails/test")
	}
}

func TestEmailIsReturnedWithAllFields(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	id := send(t, app, `{"from":"ada@dev.test","to":["bob@example.net"],"cc":"carol@example.net","bcc":["dave@example.net"],"subject":"s","html":"<p>Hello</p>","text":"Hello",
		"headers":{"X-Order":"42"},"attachments":[{"name":"note.txt","content_type":"text/plain","data":"aGVsbG8="}]}`)
	type recipient struct {
		Address, State string
		Code           *int
	}
	type whole struct {
		HTML, Text  *string
		Headers     map[string]string
		Attachments []struct {
			Name, Data  string
			ContentType string `json:"content_type"`
			Size        int
		}
		Recipients []recipient
	}
	var got whole
	harness.Eventually(t, "all three have received it", func() bool {
		var one struct{ Email whole }
		app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &one)
		got = one.Email
		return !slices.ContainsFunc(got.Recipients, func(r recipient) bool { return r.State != "delivered" })
	})
	if got.HTML == nil || *got.HTML != "<p>Hello</p>" || got.Text == nil || *got.Text != "Hello" ||
		!maps.Equal(got.Headers, map[string]string{"X-Order": "42"}) {
		t.Errorf("the body is html %v, text %v with headers %v, want those sent", got.HTML, got.Text, got.Headers)
	}
	if len(got.Attachments) != 1 || got.Attachments[0].Name != "note.txt" ||
		got.Attachments[0].ContentType != "text/plain" || got.Attachments[0].Size != 5 ||
		got.Attachments[0].Data != "" {
		t.Errorf("the files are %+v, want note.txt of 5 bytes without its data", got.Attachments)
	}
	var to []string
	for _, r := range got.Recipients {
		to = append(to, r.Address+" "+r.State)
		if r.Code == nil || *r.Code != 250 {
			t.Errorf("%s got the reply %v, want 250", r.Address, r.Code)
		}
	}
	if want := []string{"bob@example.net delivered", "carol@example.net delivered",
		"dave@example.net delivered"}; !slices.Equal(to, want) {
		t.Errorf("the recipients are %v, want %v", to, want)
	}
	var list struct{ Emails []map[string]any }
	app.Do(t, http.MethodGet, "/api/emails", nil).JSON(t, &list)
	for _, field := range []string{"html", "text", "headers", "attachments", "recipients"} {
		if _, has := list.Emails[0][field]; has {
			t.Errorf("a list has %s of each email, want it only in the single email", field)
		}
	}
}

func setModules(spec string) func(setting.RawValues) {
	return func(s setting.RawValues) { s["POSTRIDER_MODULES"] = spec }
}
