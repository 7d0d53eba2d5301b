package journeys_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// While the database is frozen or down, senders get temporary errors in time, never permanent ones. Nothing
// is stored without a 250 reply, and mail is accepted again automatically.
func TestInboundMailIsDeferredWithoutDatabase(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]struct {
		begin, end func(*dbtest.Server)
		most       int // messages that may be stored in addition: a frozen server executes earlier requests later
	}{
		"frozen":  {(*dbtest.Server).Freeze, (*dbtest.Server).Thaw, 1},
		"stopped": {(*dbtest.Server).Stop, (*dbtest.Server).Start, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.NewServer(t)
			app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = server.URL() })
			known := dialInbound(t, app)
			known.say(t, "MAIL FROM:<juergen@example.net>\r\n")
			if got := known.say(t, "RCPT TO:<support@dev.test>\r\n"); !strings.HasPrefix(got, "250 ") {
				t.Fatalf("RCPT: %s", got)
			}

			outage.begin(server)
			known.say(t, "DATA\r\n")
			begin := time.Now()
			if got := known.say(t, questionMessage+".\r\n"); !strings.HasPrefix(got, "451 4.3.0 ") {
				t.Errorf("the message got the reply %s", got)
			}
			if took := time.Since(begin); took > outageLimit {
				t.Errorf("the message got its reply after %s", took)
			}
			stranger := dialInbound(t, app)
			stranger.say(t, "MAIL FROM:<juergen@example.net>\r\n")
			begin = time.Now()
			if got := stranger.say(t, "RCPT TO:<support@never-asked-for.example>\r\n"); !strings.HasPrefix(got,
				"451 4.3.0 ") {
				t.Errorf("RCPT got the reply %s", got)
			}
			if took := time.Since(begin); took > outageLimit {
				t.Errorf("RCPT got its reply after %s", took)
			}
			outage.end(server)

			harness.Eventually(t, "mail is accepted again", func() bool {
				_, data := deliver(t, app, "juergen@example.net", "support@dev.test", questionMessage)
				return strings.HasPrefix(data, "250 ")
			})
			var list struct {
				ReceivedEmails []struct{ ID string } `json:"received_emails"`
			}
			app.Do(t, http.MethodGet, "/api/received-emails", nil).JSON(t, &list)
			if n := len(list.ReceivedEmails); n < 1 || n > 1+outage.most {
				t.Errorf("%d messages are stored", n)
			}
			if got, _ := deliver(t, app, "juergen@example.net", "support@never-asked-for.example",
				""); !strings.HasPrefix(got, "550 5.1.2 ") {
				t.Errorf("an unknown address got the reply %s", got)
			}
		})
	}
}

// Return paths and other addresses cannot share a transaction. The second kind is deferred, and the message
// goes only to the first.
func TestTransactionHasOneKindOfRecipients(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	id := send(t, app, anEmail)
	waitForStatus(t, app, id, "delivered")
	app.MX.Wait(t, "it is delivered", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	path := senderOf(t, app, "bob@example.net")
	bounced := bounceReport(path, "bob@example.net", "failed", "5.1.1", "550 5.1.1 No such user")
	received := func() int {
		var list struct {
			ReceivedEmails []struct{ ID string } `json:"received_emails"`
		}
		app.Do(t, http.MethodGet, "/api/received-emails", nil).JSON(t, &list)
		return len(list.ReceivedEmails)
	}

	c := dialInbound(t, app)
	talk := func(first, second, message string) {
		t.Helper()
		for _, step := range []struct{ text, want string }{
			{"MAIL FROM:<>\r\n", "250 "}, {"RCPT TO:<" + first + ">\r\n", "250 "}, {"RCPT TO:<" + second + ">\r\n", "452 4.5.3 "},
			{"RCPT TO:<" + first + ">\r\n", "250 "}, {"DATA\r\n", "354 "}, {message + ".\r\n", "250 "},
		} {
			if got := c.say(t, step.text); !strings.HasPrefix(got, step.want) {
				t.Errorf("%.60q: %s, want %s", step.text, got, step.want)
			}
		}
	}
	talk("support@dev.test", path, questionMessage)
	if n := received(); n != 1 {
		t.Errorf("%d messages were received, want 1", n)
	}
	waitForStatus(t, app, id, "delivered") // a message to support is not a report
	talk(path, "support@dev.test", bounced)
	waitForStatus(t, app, id, "bounced")
	if n := received(); n != 1 {
		t.Errorf("the report was received too: %d messages", n)
	}
}
