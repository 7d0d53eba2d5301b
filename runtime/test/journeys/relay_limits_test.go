package journeys_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A message over the plan's cap gets a temporary error, and neither it nor its key is stored: the same
// message is accepted when the limit allows it again.
func TestRelayedMessagesCountForThePlan(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net") // otherwise it bounces, and a suppressed recipient does not count
	conn, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	change := func(statement string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	change(`WITH p AS (UPDATE plans SET requests_per_second = 1000, daily_emails = 2) UPDATE accounts SET unmetered = false`)
	harness.Eventually(t, "the account is limited", func() bool {
		return app.Do(t, http.MethodGet, "/api/emails", nil).Header.Get("ratelimit-limit") == "2000"
	})
	s, to := signIn(t, app), []string{"bob@example.net"}
	for range 2 {
		s.mustRelay("ada@dev.test", to, plainMessage("ada@dev.test", to[0]))
	}
	keyed := "X-Postrider-Idempotency-Key: k\n" + plainMessage("ada@dev.test", to[0])
	for _, message := range []string{plainMessage("ada@dev.test", to[0]), keyed, keyed} {
		if got := s.submit("ada@dev.test", to, message); !strings.HasPrefix(got, "450 4.2.1 ") ||
			!strings.Contains(got, "2 emails per day") {
			t.Errorf("over the cap: %q", got)
		}
	}
	if got := queryColumn(t, conn,
		`SELECT 'email ' || id FROM emails UNION ALL SELECT 'to ' || address FROM recipients UNION ALL SELECT 'key ' || key FROM idempotency_keys`); len(got) != 4 {
		t.Errorf("stored emails are %q", got)
	}
	change(`UPDATE plans SET requests_per_second = 900, daily_emails = 3`)
	harness.Eventually(t, "the limit allows a message again", func() bool {
		return app.Do(t, http.MethodGet, "/api/emails", nil).Header.Get("ratelimit-limit") == "1800"
	})
	s.mustRelay("ada@dev.test", to, keyed)
}

// Messages and requests of an account share one limit; a client that sends too fast must wait.
func TestRelayedMessagesCountForTheRateOfTheAccount(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	s := signIn(t, app)
	begin := limitRate(t, url, app)
	var admitted, refused int
	// more rounds if each takes a second
	for round := 0; round < 8 || refused == 0 && time.Since(begin) < expect.Patience; round++ {
		switch got := s.submit("ada@dev.test", []string{"bob@example.net"},
			plainMessage("ada@dev.test", "bob@example.net")); {
		case strings.HasPrefix(got, "250 "):
			admitted++
		case strings.HasPrefix(got, "450 4.2.1 "):
			refused++
		default:
			t.Errorf("answered %q", got)
		}
	}
	// Two at first, one of which meter has used, and one more for every second since.
	if limit := 1 + int(time.Since(begin).Seconds()); admitted > limit || refused == 0 {
		t.Errorf("%d were admitted and %d rejected; one shared limit admits %d in this time", admitted, refused, limit)
	}
	conn, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := queryColumn(t, conn, `SELECT id FROM emails`); len(got) != admitted {
		t.Errorf("%d were admitted and %d are stored", admitted, len(got))
	}
}

// A message may have MaxMessage bytes and not one more, with or without a declared size. A transaction has
// at most 50 recipients, and continues with these when more are named.
func TestRelayAcceptsMessagesUpToItsLimits(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	s := signIn(t, app)
	head := "From: ada@dev.test\r\nX-Postrider-Scheduled-At: " + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) +
		"\r\n\r\n"
	line := append(bytes.Repeat([]byte("x"), 998), '\r', '\n')
	for _, c := range []struct {
		size int
		mail string
		want string
	}{
		{relay.MaxMessage + 1, "MAIL FROM:<ada@dev.test>", "552 5.3.4 "},
		{relay.MaxMessage, fmt.Sprintf("MAIL FROM:<ada@dev.test> SIZE=%d", relay.MaxMessage), "250 2.0.0 OK msg_"},
	} {
		message := append([]byte(head), bytes.Repeat(line, c.size/len(line)+1)...)
		message = append(message[:c.size-2], '\r', '\n')
		if bytes.HasSuffix(message, []byte("\r\r\n")) || bytes.HasSuffix(message, []byte("\n\r\n")) {
			t.Fatal("the test's message has an invalid end")
		}
		s.say("%s\r\nRCPT TO:<bob@example.net>\r\nDATA\r\n", c.mail)
		s.expect("250 ")
		s.expect("250 ")
		s.expect("354 ")
		s.say("%s.\r\n", message)
		s.expect(c.want)
	}
	if got := storedEmails(t, app); len(got) != 1 {
		t.Errorf("%d emails are stored", len(got))
	}
	s.say("MAIL FROM:<ada@dev.test> SIZE=%d\r\n", relay.MaxMessage+1)
	s.expect("552 5.3.4 ")

	s.say("MAIL FROM:<ada@dev.test>\r\n")
	s.expect("250 ")
	for n := range 52 {
		s.say("RCPT TO:<user%d@example.net>\r\n", n)
		want := "250 "
		if n >= 50 {
			want = "452 4.5.3 "
		}
		s.expect(want)
	}
	s.say("DATA\r\n")
	s.expect("354 ")
	s.say("%sx\r\n.\r\n", head)
	id := strings.TrimPrefix(s.expect("250 2.0.0 OK msg_"), "250 2.0.0 OK ")
	var got relayedRecord
	app.Do(t, http.MethodGet, "/api/emails/"+id, nil).JSON(t, &got)
	if len(got.Email.BCC) != 50 || got.Email.BCC[49] != "user49@example.net" {
		t.Errorf("%d recipients: %q", len(got.Email.BCC), got.Email.BCC)
	}
}
