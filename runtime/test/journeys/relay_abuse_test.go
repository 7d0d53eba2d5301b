package journeys_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// abuser is a client without permission to send, or with permission to send as another user.
type abuser struct {
	name  string
	begin func() *submitter
	from  string // an address that this client may use
}

// abuse is a message that no client may send.
type abuse struct{ name, from, message string }

// The relay never forwards messages of clients without permission, from an address that is not theirs, or to
// an address that hides another: every combination is rejected, nothing reaches a mail server, and no email
// is recorded.
func TestRelayRejectsAbuse(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	app.MailDomain(t, "dev.test")
	stranger := app.Stranger(t, "stranger")
	verifyDomain(t, stranger, "stranger.example")
	verifyDomain(t, app, "other.example")
	tried := 0
	check := func(name, got string) {
		tried++
		if !strings.HasPrefix(got, "5") && !strings.HasPrefix(got, "4") {
			t.Errorf("%s: the relay replied %s, want 4xx or 5xx", name, got)
		}
	}
	recipients := map[string]string{"ordinary": "bob@example.net", "our own": "bob@dev.test",
		"quoted": `"bob smith"@example.net`, "tagged": "bob+x@example.net"}
	for _, who := range newAbusers(t, app) {
		s := who.begin() // once each: clients with many failures are delayed
		for kind, to := range recipients {
			check(who.name+" to "+kind, s.submit(who.from, []string{to}, plainMessage(who.from, to)))
		}
	}
	allowed := signIn(t, app)
	for _, a := range forgeries() {
		for kind, to := range recipients {
			if allowed.needsReconnect(20) {
				allowed = signIn(t, app)
			}
			check(a.name+" to "+kind, allowed.submit(a.from, []string{to}, a.message))
		}
	}
	for name, to := range map[string]string{"percent hack": "bob%example.net@dev.test",
		"bang path": "example.net!bob@dev.test", "route in quotes": `"bob@example.net"@dev.test`,
		"source route": "@dev.test:bob%elsewhere.example@example.net", "literal": "bob@[127.0.0.1]", "no domain": "bob",
		"two":     "bob@example.net,dan@example.net",
		"control": "bob\x01@example.net", "space": "bob smith@example.net", "one label": "bob@localhost"} {
		for _, from := range []string{"ada@dev.test", "ada+x@dev.test"} {
			s := signIn(t, app)
			check(name+" as recipient", s.submit(from, []string{to}, plainMessage(from, "bob@example.net")))
			_ = s.Close()
		}
	}
	if tried < 200 {
		t.Errorf("only %d combinations were tried", tried)
	}
	var list struct{ Emails []struct{ ID string } }
	app.Do(t, http.MethodGet, "/api/emails", nil).JSON(t, &list)
	var other struct{ Emails []struct{ ID string } }
	stranger.Do(t, http.MethodGet, "/api/emails", nil).JSON(t, &other)
	if len(list.Emails)+len(other.Emails) != 0 || len(app.MX.Messages()) != 0 {
		t.Errorf("%d and %d emails are recorded, %d arrived", len(list.Emails), len(other.Emails),
			len(app.MX.Messages()))
	}
	// Positive control: the same connection relays valid messages.
	allowed = signIn(t, app)
	id := allowed.mustRelay("ada@dev.test", []string{"bob@example.net"},
		plainMessage("ada@dev.test", "bob@example.net"))
	waitForStatus(t, app, id, "delivered")
}

func plainMessage(from, to string) string {
	return fmt.Sprintf("From: %s\nTo: %s\nSubject: s\n\nHello\n", from, to)
}

// newAbusers are clients that may not send at all, or not from this address.
func newAbusers(t *testing.T, app *harness.App) []abuser {
	t.Helper()
	revokedID, revoked := newCredential(t, app, map[string]any{"name": "revoked"})
	if got := app.Do(t, http.MethodDelete, "/api/smtp-credentials/"+revokedID, nil); got.Status != http.StatusOK {
		t.Fatalf("revoking the credential got status %d and %s, want 200", got.Status, got.Body)
	}
	openID, open := newCredential(t, app, map[string]any{"name": "revoked while open"})
	_, elsewhere := newCredential(t, app,
		map[string]any{"name": "bound", "domain_ids": []string{idOfDomain(t, app, "other.example")}})
	_, reading := newKey(t, app, "read")
	with := func(username, password string) func() *submitter {
		return func() *submitter { // the rejection of AUTH is checked by the next command
			s := dialRelay(t, app)
			s.auth(username, password)
			s.answer()
			return s
		}
	}
	none, dot := func() *submitter { return dialRelay(t, app) }, "ada@dev.test"
	return []abuser{
		{"no AUTH", none, dot},
		{"no AUTH, null sender", none, ""},
		{"in clear", func() *submitter { return dialClear(t, app) }, dot},
		{"AUTH in clear", func() *submitter {
			s := dialClear(t, app)
			s.auth(app.Relay.Username, app.Relay.Password)
			if got := s.answer(); !strings.HasPrefix(got, "538 5.7.11") {
				t.Errorf("AUTH in clear: %s", got)
			}
			return s
		}, dot},
		{"wrong password", with("postrider", "svs_0000000000000000000000000000000000000000000"), dot},
		{"no password", with("postrider", ""), dot},
		{"API key that may only read", with("postrider", reading), dot},
		{"revoked", with("postrider", revoked), dot},
		{"revoked while open", func() *submitter {
			s := dialRelay(t, app)
			s.auth("postrider", open)
			if got := s.answer(); strings.HasPrefix(got, "235") {
				app.Do(t, http.MethodDelete, "/api/smtp-credentials/"+openID, nil)
			}
			return s
		}, dot},
		{"of another domain", with("postrider", elsewhere), dot},
		{"for another identity", func() *submitter {
			s := dialRelay(t, app)
			s.say("AUTH PLAIN %s\r\n", encodeBase64("root\x00postrider\x00"+app.Relay.Password))
			s.answer()
			return s
		}, dot},
		{"half an exchange", func() *submitter {
			s := dialRelay(t, app)
			s.say("AUTH LOGIN\r\n")
			s.expect("334 ")
			s.say("*\r\n")
			s.answer()
			return s
		}, dot},
	}
}

// idOfDomain returns the id of an existing domain.
func idOfDomain(t *testing.T, app *harness.App, name string) string {
	t.Helper()
	var list struct{ Domains []struct{ ID, Name string } }
	app.Do(t, http.MethodGet, "/api/domains", nil).JSON(t, &list)
	for _, d := range list.Domains {
		if d.Name == name {
			return d.ID
		}
	}
	t.Fatalf("the domain %s does not exist", name)
	return ""
}

// forgeries are messages of an authorized client in another's name.
func forgeries() []abuse {
	right, body := "ada@dev.test", "To: bob@example.net\nSubject: s\n\nHello\n"
	header := func(fields string) string { return fields + "\n" + body }
	all := []abuse{
		{"foreign envelope", "ada@elsewhere.example", header("From: ada@dev.test")},
		{"another tenant's envelope", "ada@stranger.example", header("From: ada@dev.test")},
		{"null sender", "", header("From: ada@dev.test")},
		{"envelope below ours", "ada@sub.dev.test", header("From: ada@dev.test")},
		{"envelope that ends like ours", "ada@evildev.test", header("From: ada@dev.test")},
		{"percent in the envelope", "ada%elsewhere.example@dev.test", header("From: ada@dev.test")},
		{"bang in the envelope", "elsewhere.example!ada@dev.test", header("From: ada@dev.test")},
		{"quoted route in the envelope", `"ada@elsewhere.example"@dev.test`, header("From: ada@dev.test")},
		{"literal in the envelope", "ada@[127.0.0.1]", header("From: ada@dev.test")},
		{"no From", right, body},
		{"foreign From", right, header("From: ada@elsewhere.example")},
		{"another tenant's From", right, header("From: ada@stranger.example")},
		{"both another tenant's", "ada@stranger.example", header("From: ada@stranger.example")},
		{"From below ours", right, header("From: ada@sub.dev.test")},
		{"two Froms", right, header("From: ada@dev.test\nFrom: ada@dev.test")},
		{"two Froms, one foreign", right, header("From: ada@dev.test\nfrom: ceo@elsewhere.example")},
		{"two addresses in From", right, header("From: ada@dev.test, ceo@elsewhere.example")},
		{"group in From", right, header("From: team: ada@dev.test;")},
		{"empty group in From", right, header("From: team:;")},
		{"source route in From", right, header("From: <@elsewhere.example:ada@dev.test>")},
		{"percent in From", right, header("From: ceo%elsewhere.example@dev.test")},
		{"bang in From", right, header("From: elsewhere.example!ceo@dev.test")},
		{"quoted route in From", right, header(`From: "ceo@elsewhere.example"@dev.test`)},
		{"comment in From", right, header("From: ada@dev.test (ceo@elsewhere.example)")},
		{"address after the address", right, header("From: <ada@dev.test> <ceo@elsewhere.example>")},
		{"empty From", right, header("From: ")},
		{"From without a domain", right, header("From: ada")},
		{"space before the colon", right, header("From: ada@dev.test\nFrom : ceo@elsewhere.example")},
		{"folded before From", right, " X: y\n" + header("From: ada@dev.test")},
		{"line break in a word", right, header("From: ada@dev.test\nX-A: =?utf-8?q?a=0D=0ABcc:_x@elsewhere.example?=")},
		{"line break in the subject", right, "From: ada@dev.test\nSubject: =?utf-8?b?YQ0KQmNjOiB4?=\n\nHello\n"},
		{"two subjects", right, header("From: ada@dev.test\nSubject: t")},
		{"two Message-IDs", right, header("From: ada@dev.test\nMessage-ID: <a@dev.test>\nMessage-ID: <b@dev.test>")},
		{"no header", right, "\nHello\n"},
		{"our own field, mistyped", right, header("From: ada@dev.test\nX-Postrider-Schedule-At: 2030-01-01T00:00:00Z")},
		{"blocked file", right, header("From: ada@dev.test\nMIME-Version: 1.0\nContent-Type: application/x-msdownload; name=\"run.exe\"")},
		{"long line in a signed message", right, "From: ada@dev.test\nSubject: t\nMIME-Version: 1.0\nContent-Type: multipart/signed; " +
			"micalg=pgp-sha256; protocol=\"application/pgp-signature\"; boundary=b\n\n--b\n\n" + strings.Repeat("x", 1200) +
			"\n--b\nContent-Type: application/pgp-signature\n\nx\n--b--\n"},
		{"NUL", right, header("From: ada@dev.test") + "a\x00b\n"},
	}
	for _, name := range []string{"Resent-From", "Resent-To", "Resent-Bcc", "Resent-Sender", "ARC-Seal",
		"Authentication-Results", "Delivered-To", "Errors-To", "Return-Receipt-To",
		"Disposition-Notification-To", "X-Original-To", "Received-SPF"} {
		all = append(all, abuse{name, right, header("From: ada@dev.test\n" + name + ": ceo@elsewhere.example")})
	}
	return all
}
