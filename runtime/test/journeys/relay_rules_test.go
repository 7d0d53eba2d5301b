package journeys_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dkim"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Each rejection has a code that determines what the client does: retry, give up, or sign in.
func TestRelayRejectionCodes(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	from, bob := "ada@dev.test", []string{"bob@example.net"}
	whole := func(fields string) string { return "From: ada@dev.test\n" + fields + "Subject: s\n\nHello\n" }
	for name, c := range map[string]struct {
		from string
		to   []string
		text string
		want string
	}{
		"foreign envelope":  {"ada@elsewhere.example", bob, whole(""), "550 5.7.1 "},
		"foreign From":      {from, bob, "From: ada@elsewhere.example\n\nx\n", "550 5.7.1 "},
		"null sender":       {"", bob, whole(""), "550 5.7.1 "},
		"two Subjects":      {from, bob, whole("Subject: t\n"), "550 5.6.0 Subject: "},
		"refused field":     {from, bob, whole("Resent-To: x@example.net\n"), "550 5.7.1 Resent-To: "},
		"tag":               {from, bob, whole("X-Postrider-Tag: a b=c\n"), "550 5.6.0 X-Postrider-Tag: "},
		"tag without value": {from, bob, whole("X-Postrider-Tag: a\n"), "550 5.6.0 X-Postrider-Tag: "},
		"time":              {from, bob, whole("X-Postrider-Scheduled-At: tomorrow\n"), "550 5.6.0 X-Postrider-Scheduled-At: "},
		"past":              {from, bob, whole("X-Postrider-Scheduled-At: 2020-01-01T00:00:00Z\n"), "550 5.6.0 X-Postrider-Scheduled-At: "},
		"yes and no":        {from, bob, whole("X-Postrider-Unsubscribe: maybe\n"), "550 5.6.0 X-Postrider-Unsubscribe: "},
		"unknown of ours":   {from, bob, whole("X-Postrider-Tags: a=b\n"), "550 5.6.0 X-Postrider-Tags: "},
		"key":               {from, bob, whole("X-Postrider-Idempotency-Key: " + strings.Repeat("x", 300) + "\n"), "550 5.6.0 X-Postrider-Idempotency-Key: "},
		"two lists":         {from, bob, whole("X-Postrider-Unsubscribe: true\nList-Unsubscribe: <mailto:x@dev.test>\n"), "550 5.7.1 List-Unsubscribe: "},
		"blocked file":      {from, bob, whole("Content-Type: text/plain; name=a.exe\n"), "550 5.7.1 An attachment "},
		"file and schedule": {from, bob, whole("X-Postrider-Scheduled-At: " + time.Now().Add(time.Hour).UTC().
			Format(time.RFC3339) + "\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment\n"),
			"550 5.7.1 An attachment"},
		"long signed line": {from, bob, whole("Content-Type: multipart/signed; boundary=b\n") + "--b\n\n" +
			strings.Repeat("x", 999) + "\n--b--\n", "554 5.6.0 The message cannot be sent: line 8 has more than 998"},
		"long word":     {from, bob, whole("X-A: " + strings.Repeat("x", 999) + "\n"), "550 5.6.0 X-A: "},
		"no address":    {from, bob, whole("Reply-To: us\n"), "550 5.6.0 Reply-To: "},
		"recipient":     {from, []string{"bob@localhost"}, whole(""), "550 5.1.3 "},
		"percent":       {from, []string{"a%b@example.net"}, whole(""), "550 5.7.1 "},
		"51 recipients": {from, strings.Split(strings.TrimSuffix(strings.Repeat("bob@example.net,", 51), ","), ","), whole(""), "452 4.5.3 "},
	} {
		if got := signIn(t, app).submit(c.from, c.to, c.text); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s := signIn(t, app)
	s.say("MAIL FROM:<ada@dev.test> SIZE=41943041\r\n")
	s.expect("552 5.3.4 ")
	s = dialRelay(t, app)
	s.say("MAIL FROM:<ada@dev.test>\r\n")
	s.expect("530 5.7.0 ")
	s.auth("postrider", "svs_wrong")
	s.expect("535 5.7.8 ")
	s = dialClear(t, app)
	s.auth("postrider", app.Relay.Password)
	s.expect("538 5.7.11 ")
	s.say("MAIL FROM:<ada@dev.test>\r\n")
	s.expect("530 5.7.0 ")
	// Five wrong passwords end the connection; the limit by address is higher.
	s = dialRelay(t, app)
	for range 4 {
		s.auth("postrider", "wrong")
		s.expect("535 5.7.8 ")
	}
	s.auth("postrider", "wrong")
	s.expect("535 5.7.8 ")
	s.expect("421 ")
	// A client with too many failures must wait, even with the right password.
	for range 4 {
		s = dialRelay(t, app)
		for range 4 {
			s.auth("postrider", "wrong")
			s.answer()
		}
	}
	s = dialRelay(t, app)
	s.auth("postrider", app.Relay.Password)
	s.expect("454 4.7.0 ")
}

// A revoked credential cannot sign in, and open connections end at their next message. The use of a
// credential is recorded; other accounts do not see it.
func TestRevokedCredentialCannotSend(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), dbtest.URL(t)
	same := func(s setting.RawValues) { s["POSTRIDER_DATA_DIR"], s["DATABASE_URL"] = dir, url }
	app := harness.Start(t, same)
	app.MailDomain(t, "example.net")
	id, password := newCredential(t, app, map[string]any{"name": "shop"})
	s := dialRelay(t, app)
	s.auth("postrider", password)
	s.expect("235 ")
	s.mustRelay("ada@dev.test", []string{"bob@example.net"}, plainMessage("ada@dev.test", "bob@example.net"))
	s.say("MAIL FROM:<ada@dev.test>\r\n")
	s.expect("250 ")
	if got := app.Do(t, http.MethodDelete, "/api/smtp-credentials/"+id, nil); got.Status != http.StatusOK {
		t.Fatalf("revoking the credential got status %d and %s, want 200", got.Status, got.Body)
	}
	s.say("RSET\r\nMAIL FROM:<ada@dev.test>\r\n")
	s.expect("250 ")
	s.expect("535 5.7.8 ")
	const nobodys = "smtp_01kf0m4w7he6x8q2v5b3n9c1tb"
	if got := app.Do(t, http.MethodDelete, "/api/smtp-credentials/"+nobodys, nil); got.Status != http.StatusNotFound ||
		!strings.Contains(string(got.Body), "No such SMTP credential: "+nobodys) {
		t.Errorf("revoking an unknown credential got status %d and %s, want 404", got.Status, got.Body)
	}
	s = dialRelay(t, app)
	s.auth("postrider", password)
	s.expect("535 5.7.8 ")
	if err := app.Stop(); err != nil { // a stop writes the last use at the latest
		t.Fatal(err)
	}
	again := harness.Start(t, same)
	var got struct {
		SMTPCredential struct {
			LastUsedAt, RevokedAt *string
			Host                  string
		} `json:"smtp_credential"`
	}
	body := again.Do(t, http.MethodGet, "/api/smtp-credentials/"+id, nil)
	body.JSON(t, &got)
	if strings.Contains(string(body.Body), `"last_used_at":null`) ||
		strings.Contains(string(body.Body), `"revoked_at":null`) || got.SMTPCredential.Host != "127.0.0.1" {
		t.Errorf("after a restart the credential is %s, want the times of its last use and its end", body.Body)
	}
}

// Options without a place in a message are requested in the header: they take effect, and their fields are
// removed.
func TestRelayedMessagesSupportAPIFeatures(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	s := signIn(t, app)
	text := "From: ada@dev.test\nTo: bob@example.net\nSubject: leave {{unsubscribe_url}}\nX-Postrider-Unsubscribe: true\nX-Postrider-Category: News\nX-Postrider-Tag: a=b\n" +
		"X-Postrider-Idempotency-Key: k1\nMIME-Version: 1.0\nContent-Type: text/html; charset=iso-8859-1\n\n<p>caf\xe9 <a href=\"{{unsubscribe_url}}\">leave</a></p>\n"
	id := s.mustRelay("ada@dev.test", []string{"bob@example.net"}, text)
	if again := s.mustRelay("ada@dev.test", []string{"bob@example.net"}, text); again != id {
		t.Errorf("the same key returned %s and %s", id, again)
	}
	if got := s.submit("ada@dev.test", []string{"dan@example.net"}, text); !strings.HasPrefix(got, "550 5.7.1 ") {
		t.Errorf("the key of another message: %s", got)
	}
	waitForStatus(t, app, id, "delivered")
	if n := len(app.MX.Messages()); n != 1 {
		t.Fatalf("%d arrived", n)
	}
	raw := app.MX.Messages()[0].Data
	m, err := message.Read(bytes.NewReader(raw))
	if err != nil || m.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" ||
		!strings.HasPrefix(m.Get("List-Unsubscribe"), "<http") || m.Get("Message-ID") == "" || m.Get("Date") == "" {
		t.Errorf("parsing the relayed message returned %v, want the links to unsubscribe in its header:\n%s", err, raw)
	}
	link := strings.Trim(m.Get("List-Unsubscribe"), "<>")
	if m.Subject != "leave "+link || !strings.Contains(m.HTML, "<p>café <a href=\""+link) ||
		bytes.Contains(raw, []byte("X-Postrider")) {
		t.Errorf("the relayed message has the subject %q and the HTML %s, want the unsubscribe link in both and no X-Postrider field in\n%s", m.Subject, m.HTML, raw)
	}
	if signatures, err := dkim.Verify(raw, publishedKeys(t, app)); err != nil || len(signatures) != 1 ||
		signatures[0].Err != nil {
		t.Errorf("the relayed message has the signatures %+v, %v, want one valid", signatures, err)
	}
	visit(t, http.MethodPost, link, "List-Unsubscribe=One-Click")
	refused := s.submit("ada@dev.test", []string{"bob@example.net"}, strings.ReplaceAll(text, "k1", "k2"))
	_, rest, told := strings.Cut(refused, "550 5.7.1 Not sent, recorded as ")
	blocked, whom, _ := strings.Cut(rest, ": ")
	if !told || whom != "suppressed bob@example.net" {
		t.Fatalf("for an unsubscribed recipient the relay replied %q, want 550 with the id and the address", refused)
	}
	var record relayedRecord
	app.Do(t, http.MethodGet, "/api/emails/"+blocked, nil).JSON(t, &record)
	if record.Email.Status != "failed" {
		t.Errorf("for an unsubscribed recipient: %+v", record)
	}
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	scheduled := s.mustRelay("ada@dev.test", []string{"eve@example.net"}, "X-Postrider-Scheduled-At: "+at+"\n"+
		plainMessage("ada@dev.test", "eve@example.net"))
	waitForStatus(t, app, scheduled, "scheduled")
	if got := app.Do(t, http.MethodPatch, "/api/emails/"+scheduled,
		map[string]any{"cancel": true}); got.Status != http.StatusOK {
		t.Errorf("canceling the scheduled email got status %d and %s, want 200", got.Status, got.Body)
	}
	var shown struct {
		Email struct{ Content struct{ HTML string } }
	}
	app.Query(t, fmt.Sprintf(`{email(id:%q){content{html attachments{name}}}}`, id), &shown)
	if !strings.Contains(shown.Email.Content.HTML, "<p>café ") {
		t.Errorf("GraphQL shows the relayed email as %+v, want its HTML", shown)
	}
	resent := app.Do(t, http.MethodPost, "/api/emails/"+scheduled+"/resend", nil)
	var receipt struct{ ID string }
	resent.JSON(t, &receipt)
	if resent.Status != http.StatusOK {
		t.Fatalf("resending the canceled email got status %d and %s, want 200", resent.Status, resent.Body)
	}
	waitForStatus(t, app, receipt.ID, "delivered")
}

// Opens and clicks are counted in relayed mail: its HTML changes, and every other part is unchanged.
func TestTrackingChangesOnlyHTMLOfRelayedMessage(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	if got := app.Do(t, http.MethodPatch, "/api/domains/"+idOfDomain(t, app, "dev.test"),
		map[string]any{"open_tracking": true, "click_tracking": true}); got.Status != http.StatusOK {
		t.Fatalf("enabling tracking got status %d and %s, want 200", got.Status, got.Body)
	}
	const head = "From: ada@dev.test\nTo: bob@example.net\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
	const file = "\n--b\nContent-Type: application/octet-stream; name=a.bin\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\naGVs\nbG8=\n--b--\n"
	id := signIn(t, app).mustRelay("ada@dev.test", []string{"bob@example.net"},
		head+
			"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n<html><body><p>Grüße = <a href=\"https://example.com/?a=1&amp;b=2\">here</a></p></body></html>"+file)
	waitForStatus(t, app, id, "delivered")
	raw := app.MX.Messages()[0].Data
	m, err := message.Read(bytes.NewReader(raw))
	if err != nil || !strings.Contains(m.HTML, "Grüße = <a href=\"http") ||
		strings.Contains(m.HTML, "example.com/?a") || !strings.Contains(m.HTML, "<img") {
		t.Errorf("parsing the tracked message returned %v, want its letters kept, its link rewritten and a pixel:\n%s",
			err, raw)
	}
	if !bytes.HasSuffix(raw, toWire(file)) {
		t.Errorf("the file has changed:\n%s", raw)
	}
	if signatures, err := dkim.Verify(raw, publishedKeys(t, app)); err != nil || len(signatures) != 1 || signatures[0].Err != nil {
		t.Errorf("the tracked message has the signatures %+v, %v, want one valid", signatures, err)
	}
}

// Clients that pipeline commands, send in chunks, or use raw UTF-8 are supported. Go's net/smtp is an
// independent client.
func TestRelayServesEveryKindOfClient(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	s := signIn(t, app)
	s.say("MAIL FROM:<ada@dev.test>\r\nRCPT TO:<bob@example.net>\r\nDATA\r\n")
	s.expect("250 ")
	s.expect("250 ")
	s.expect("354 ")
	s.say("From: Adä <ada@dev.test>\r\nSubject: Grüße\r\nTo: Bob Ünï <bob@example.net>\r\n\r\n..dot\r\n.\r\nMAIL FROM:<ada@dev.test>\r\nRCPT TO:<bob@example.net>\r\nBDAT 30\r\nFrom: ada@dev.test\r\n\r\nno end o")
	s.expect("250 2.0.0 OK msg_")
	s.expect("250 ")
	s.expect("250 ")
	s.expect("250 ")
	s.say("BDAT 8 LAST\r\nf a line")
	s.expect("250 2.0.0 OK msg_")
	c, err := smtp.Dial(app.Relay.Addr)
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{c.StartTLS(&tls.Config{InsecureSkipVerify: true}),
		c.Auth(smtp.PlainAuth("", "postrider", app.Relay.Password, "127.0.0.1")), c.Mail("ada@dev.test"),
		c.Rcpt("bob@example.net")}
	w, err := c.Data()
	if err == nil {
		_, err = io.WriteString(w, "From: ada@dev.test\r\nSubject: go\r\n\r\n.x\r\n")
		err = firstError(err, w.Close(), c.Quit())
	}
	if err = firstError(append(steps, err)...); err != nil {
		t.Fatal(err)
	}
	app.MX.Wait(t, "three messages", func(s smtptest.Stats) bool { return s.Accepted == 3 })
	bodies := map[string]bool{}
	for _, m := range app.MX.Messages() {
		header, body, _ := bytes.Cut(m.Data, []byte("\r\n\r\n"))
		bodies[string(body)] = true
		if m.SMTPUTF8 || bytes.ContainsFunc(header, func(r rune) bool { return r > 127 }) {
			t.Errorf("the header is not ASCII:\n%s", header)
		}
	}
	for _, want := range []string{".dot\r\n", "no end of a line\r\n", ".x\r\n"} {
		if !bodies[want] {
			t.Errorf("no body %q in %v", want, bodies)
		}
	}
}

// firstError returns the first error.
func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// A suspended account cannot send, not even on open connections.
func TestSuspendedAccountCannotSendOverSMTP(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "suspended")
	verifyDomain(t, stranger, "suspended.example")
	_, password := newCredential(t, stranger, map[string]any{"name": "x"})
	s := dialRelay(t, app)
	s.auth("postrider", password)
	s.expect("235 ")
	s.mustRelay("a@suspended.example", []string{"bob@example.net"},
		plainMessage("a@suspended.example", "bob@example.net"))
	stranger.Change(t, accounts.AccountChange{Suspended: new(true)})
	harness.Eventually(t, "MAIL is refused", func() bool {
		s.say("MAIL FROM:<a@suspended.example>\r\n")
		got := s.answer()
		if strings.HasPrefix(got, "250 ") {
			s.say("RSET\r\n")
			s.expect("250 ")
		}
		return strings.HasPrefix(got, "550 5.7.1 ")
	})
}

// The password identifies the account, whatever user name a client keeps from another service.
func TestRelayAcceptsAnyUserName(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	_, sending := newKey(t, app, "sending")
	for _, password := range []string{app.Relay.Password, sending} {
		for _, name := range []string{"postrider", "POSTRIDER", "resend", "apikey", "ada@dev.test", password} {
			s := dialRelay(t, app)
			s.auth(name, password)
			s.expect("235 ")
			s = dialRelay(t, app)
			s.say("AUTH LOGIN\r\n")
			s.expect("334 ")
			s.say("%s\r\n", encodeBase64(name))
			s.expect("334 ")
			s.say("%s\r\n", encodeBase64(password))
			s.expect("235 ")
		}
	}
}
