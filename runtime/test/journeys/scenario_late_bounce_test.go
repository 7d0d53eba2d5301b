package journeys_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/returnpath"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// bounceReport is a delivery status notification for one recipient.
func bounceReport(to, about, action, status, diagnostic string) string {
	return strings.ReplaceAll(`From: Mail Delivery System <MAILER-DAEMON@inner.example.net>
To: `+to+`
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain

This is the mail system at host inner.example.net.

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; inner.example.net

Final-Recipient: rfc822; `+about+`
Action: `+action+`
Status: `+status+`
Remote-MTA: dns; store.example.net
Diagnostic-Code: smtp; `+diagnostic+`

--b1
Content-Type: text/rfc822-headers

From: ada@dev.test
To: `+about+`
Subject: s

--b1--
`, "\n", "\r\n")
}

// conversation is a connection to the inbound listener.
type conversation struct {
	net.Conn
	replies *bufio.Reader
}

// dialInbound connects like a mail server.
func dialInbound(t *testing.T, app *harness.App) *conversation {
	t.Helper()
	if app.InboundAddr == nil {
		t.Fatal("the ready file has no inbound_addr")
	}
	c, err := net.Dial("tcp", *app.InboundAddr) // loopback
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(5 * expect.Patience)); err != nil {
		t.Fatal(err)
	}
	talk := &conversation{c, bufio.NewReader(c)}
	talk.say(t, "")
	talk.say(t, "EHLO inner.example.net\r\n")
	return talk
}

// say returns the last line of the reply.
func (c *conversation) say(t *testing.T, text string) string {
	t.Helper()
	if _, err := fmt.Fprint(c, text); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := c.replies.ReadString('\n')
		if err != nil {
			t.Fatalf("after %.40q: %v", text, err)
		}
		if line[3] == ' ' {
			return strings.TrimSpace(line)
		}
	}
}

// deliver sends a message to the inbound listener like a mail server, and returns the replies to RCPT and,
// if that was accepted, to the message.
func deliver(t *testing.T, app *harness.App, from, to, message string) (rcpt, data string) {
	t.Helper()
	c := dialInbound(t, app)
	defer c.Close()
	c.say(t, "MAIL FROM:<"+from+">\r\n")
	if rcpt = c.say(t, "RCPT TO:<"+to+">\r\n"); rcpt[0] != '2' {
		return rcpt, ""
	}
	c.say(t, "DATA\r\n")
	return rcpt, c.say(t, message+".\r\n")
}

// senderOf returns the envelope sender that the scripted MX received for a recipient.
func senderOf(t *testing.T, app *harness.App, to string) (sender string) {
	t.Helper()
	harness.Eventually(t, to+" got the email", func() bool {
		for _, m := range app.MX.Messages() {
			if m.To[0] == to {
				sender = m.From
			}
		}
		return sender != ""
	})
	return sender
}

func timelineOf(t *testing.T, app *harness.App, id string) string {
	t.Helper()
	var got struct {
		Email struct{ Timeline []struct{ Type string } }
	}
	app.Query(t, `{ email(id: "`+id+`") { timeline { type } } }`, &got)
	var types []string
	for _, e := range got.Email.Timeline {
		types = append(types, e.Type)
	}
	return strings.Join(types, " ")
}

// A server accepts an email and later cannot deliver it: the email changes to bounced, and the recipient is
// suppressed.
func TestScenarioDelayedBounce(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	id := send(t, app, `{"from":"ada@dev.test","to":["gone@example.net","here@example.net"],"subject":"s","text":"t"}`)
	waitForStatus(t, app, id, "delivered")
	sender := senderOf(t, app, "gone@example.net")

	message := bounceReport(sender, "gone@example.net", "failed", "5.1.1", "550 5.1.1 <gone@example.net>: user unknown")
	for range 2 { // the reporting server did not receive our reply
		if rcpt, data := deliver(t, app, "", sender, message); !strings.HasPrefix(data, "250 ") {
			t.Fatalf("got the replies %s, %s", rcpt, data)
		}
	}
	got := waitForStatus(t, app, id, "bounced")
	if got.Email.BouncedAt == nil || got.Email.LastEvent != "email.bounced" ||
		!strings.Contains(*got.Email.BounceReason, "user unknown") {
		t.Errorf("record: %+v", got.Email)
	}
	// A second report about the same recipient is not a second bounce.
	deliver(t, app, "", strings.ToUpper(sender),
		bounceReport(sender, "gone@example.net", "failed", "5.2.1", "550 5.2.1 disabled"))
	if types := timelineOf(t, app, id); types != "email.sent email.delivered email.delivered email.bounced" {
		t.Errorf("timeline: %s", types)
	}
	var shown struct {
		Email struct {
			Status     string
			Recipients []struct{ Address, State, EnhancedCode string }
		}
	}
	app.Query(t, `{ email(id: "`+id+`") { status recipients { address state enhancedCode } } }`, &shown)
	states := map[string]string{}
	for _, r := range shown.Email.Recipients {
		states[r.Address] = strings.ToLower(r.State)
	}
	if diff := cmp.Diff(map[string]string{"gone@example.net": "bounced", "here@example.net": "delivered"},
		states); diff != "" {
		t.Errorf("GraphQL (-want +got):\n%s", diff)
	}
	harness.Eventually(t, "the recipient is suppressed", func() bool {
		return app.Do(t, http.MethodGet, "/api/suppressions/gone@example.net", nil).Status == http.StatusOK
	})
	checkBlocked(t, app, "gone@example.net", true)

	// An erasure also removes the traces of the reports.
	app.Do(t, http.MethodDelete, "/api/contacts/gone@example.net/data", nil)
	for _, row := range rowsWith(t, url, "gone@example.net") {
		t.Errorf("still there: %s", row)
	}
	if rcpt, _ := deliver(t, app, "", sender, ""); !strings.HasPrefix(rcpt, "550 5.1.1") {
		t.Errorf("the return path of an erased recipient got the reply %s", rcpt)
	}
}

// A report about a refusal of the sender or the message fails the email and suppresses no address. A report in any
// language that has a code next to our recipient is a bounce.
func TestScenarioReportAboutSender(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	plain := func(to, text string) string {
		return "From: MAILER-DAEMON@mx.example.jp\r\nTo: " + to +
			"\r\nSubject: =?utf-8?B?6YWN5L+h?=\r\nMIME-Version: 1.0\r\n" +
			"Content-Type: text/plain; charset=utf-8\r\n\r\n" + text + "\r\n"
	}
	for local, c := range map[string]struct {
		message func(sender, to string) string
		status  string
	}{
		"policy": {func(sender, to string) string {
			return bounceReport(sender, to, "failed", "5.1.1", "550 5.7.1 Not authorized")
		}, "failed"},
		"dot": {func(sender, to string) string {
			return plain(sender, "<"+to+">: host mx.example.jp said: 550 No (in reply to end of DATA command)")
		}, "failed"},
		"address": {func(sender, to string) string {
			return plain(sender, to+
				"\r\nSMTP error from remote mail server after initial connection:\r\n571 No reverse name for: 203.0.113.22")
		}, "failed"},
		"language": {func(sender, to string) string { return plain(sender, "<"+to+">: \u5b9b\u5148 (550 5.1.1)") }, "bounced"},
		"opensmtpd": {func(sender, to string) string {
			return plain(sender,
				"An error has occurred while attempting to deliver a message for\r\nthe following list of recipients:\r\n\r\n"+to+": 550 5.1.1 no such mailbox")
		}, "bounced"},
	} {
		t.Run(local, func(t *testing.T) {
			t.Parallel()
			to := local + "@example.net"
			id := send(t, app, `{"from":"ada@dev.test","to":"`+to+`","subject":"s","text":"t"}`)
			waitForStatus(t, app, id, "delivered")
			sender := senderOf(t, app, to)
			if rcpt, data := deliver(t, app, "", sender, c.message(sender, to)); !strings.HasPrefix(data, "250 ") {
				t.Fatalf("the report got the replies %s, %s", rcpt, data)
			}
			if got := waitForStatus(t, app, id, c.status); got.Email.LastEvent != "email."+c.status {
				t.Errorf("the last event is %s, want email.%s", got.Email.LastEvent, c.status)
			}
			if c.status == "bounced" {
				harness.Eventually(t, to+" is suppressed", func() bool {
					return app.Do(t, http.MethodGet, "/api/suppressions/"+to, nil).Status == http.StatusOK
				})
			} else {
				checkBlocked(t, app, to, false)
			}
		})
	}
}

// A report that is not a final failure, or not from a system that saw the message, changes nothing.
func TestScenarioReportsThatChangeNothing(t *testing.T) {
	t.Parallel()
	url, key := dbtest.URL(t), secret.NewKey()
	app := harness.Start(t, func(s setting.RawValues) {
		s["DATABASE_URL"], s["POSTRIDER_MASTER_KEY"], s["POSTRIDER_MODULES"] = url, key.Setting().Reveal(), "-inbound"
	})
	app.MailDomain(t, "example.net")
	id := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`)
	waitForStatus(t, app, id, "delivered")
	sender := senderOf(t, app, "bob@example.net")

	for what, message := range map[string]string{
		"delay":     bounceReport(sender, "bob@example.net", "delayed", "4.4.1", "451 connection timed out"),
		"delivered": bounceReport(sender, "bob@example.net", "relayed", "2.0.0", "250 ok"),
		"automatic": "From: Bob <bob@example.net>\r\nTo: " + sender +
			"\r\nSubject: Out of office: s\r\nAuto-Submitted: auto-replied\r\n\r\nI am away and could not be delivered.\r\n",
		"unreadable": "From: Bob <bob@example.net>\r\nSubject: Hello\r\n\r\nHello!\r\n",
	} {
		if rcpt, data := deliver(t, app, "bob@example.net", sender, message); !strings.HasPrefix(data, "250 ") {
			t.Errorf("%s got the replies %s, %s", what, rcpt, data)
		}
		if rows := rowsWith(t, url, ","+what+",f,"); len(rows) != 1 {
			t.Errorf("%s is recorded %d times", what, len(rows))
		}
	}
	box, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := returnpath.New(box.DeriveEach("return path")...)
	if err != nil {
		t.Fatal(err)
	}
	number := recipientIDs(t, app, id)["bob@example.net"]
	made := func(m returnpath.Mark, age time.Duration) string {
		address, err := paths.Address(m, "dev.test", time.Now().Add(-age))
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	forged := []byte(sender)
	forged[20] ^= 1
	for address, answer := range map[string]string{
		string(forged): "550 5.1.1",
		made(returnpath.Mark{EmailID: id, RecipientID: number}, 40*24*time.Hour): "550 5.1.1", // expired
		made(returnpath.Mark{EmailID: id, RecipientID: number + 1000}, 0):        "550 5.1.1", // no such recipient
		strings.Replace(sender, "@rp.dev.test", "@rp.other.test", 1):             "550 5.1.1",
		"bounce@rp.dev.test": "550 5.7.1", "bob@example.net": "550 5.7.1", "abuse@dev.test": "550 5.7.1",
	} {
		if rcpt, _ := deliver(t, app, "", address, ""); !strings.HasPrefix(rcpt, answer) {
			t.Errorf("%s got the reply %s, want %s", address, rcpt, answer)
		}
	}
	if types := timelineOf(t, app, id); types != "email.sent email.delivered" {
		t.Errorf("timeline: %s", types)
	}
	waitForStatus(t, app, id, "delivered")
	checkBlocked(t, app, "bob@example.net", false)
}

// The reply to the final dot was lost and the email waits for another attempt; a bounce that arrives in the
// meantime ends it.
func TestScenarioBounceEndsRetries(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	app.MX.Always(smtptest.Dot, "bob@example.net", smtptest.Reply(451, "4.3.0", "Perhaps"))
	id := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`)
	sender := senderOf(t, app, "bob@example.net")
	if _, data := deliver(t, app, "", sender, bounceReport(sender, "bob@example.net", "failed", "4.4.7",
		"451 4.4.7 delivery time expired")); !strings.HasPrefix(data, "250 ") {
		t.Fatalf("answered %s", data)
	}
	waitForStatus(t, app, id, "bounced")
	var got struct {
		Email struct {
			Recipients []struct{ NextAttemptAt *time.Time }
		}
	}
	app.Query(t, `{ email(id: "`+id+`") { recipients { nextAttemptAt } } }`, &got)
	if got.Email.Recipients[0].NextAttemptAt != nil {
		t.Errorf("another attempt is due at %s", got.Email.Recipients[0].NextAttemptAt)
	}
}
