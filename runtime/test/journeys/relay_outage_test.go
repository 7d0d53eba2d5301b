package journeys_test

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// While the database is frozen or down, clients get temporary errors in time, never permanent ones: for
// AUTH, for MAIL, and for the final dot of a message in progress, which is not stored. Afterwards everything
// works again, including on connections that stayed open.
func TestRelayDefersWithoutDatabaseAndRecovers(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]struct{ begin, end func(*dbtest.Server) }{
		"frozen":  {(*dbtest.Server).Freeze, (*dbtest.Server).Thaw},
		"stopped": {(*dbtest.Server).Stop, (*dbtest.Server).Start},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.NewServer(t)
			app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = server.URL() })
			app.MailDomain(t, "example.net")
			first := signIn(t, app)
			id := first.mustRelay("ada@dev.test", []string{"bob@example.net"},
				plainMessage("ada@dev.test", "bob@example.net"))
			waitForStatus(t, app, id, "delivered")
			underWay := signIn(t, app).beginMessage("bob@example.net")
			signing, asking := dialRelay(t, app), signIn(t, app)

			outage.begin(server)
			underWay.refusedInTime(".\r\n", "451 4.3.0 ")
			signing.refusedInTime("AUTH PLAIN "+authPlain(app.Relay.Username, app.Relay.Password)+"\r\n", "454 4.7.0 ")
			signing.refusedInTime("AUTH PLAIN "+authPlain(app.Relay.Username, "svs_wrong")+"\r\n", "454 4.7.0 ")
			harness.Eventually(t, "the cached credential has expired", func() bool { return !asking.mayBegin() })
			asking.refusedInTime("MAIL FROM:<ada@dev.test>\r\n", "451 4.3.0 ")
			first.refusedInTime("MAIL FROM:<ada@dev.test>\r\n", "451 4.3.0 ")
			outage.end(server)

			harness.Eventually(t, "signs in again", func() bool {
				s := dialRelay(t, app)
				defer s.Close() // the relay limits the connections of one address
				s.auth(app.Relay.Username, app.Relay.Password)
				return strings.HasPrefix(s.answer(), "235 ")
			})
			if got := storedEmails(t, app); name == "stopped" && len(got) != 1 {
				t.Errorf("stored emails are %v", got)
			}
			var again string
			harness.Eventually(t, "accepts again", func() bool {
				again = underWay.submit("ada@dev.test", []string{"bob@example.net"}, keyedMessage("bob@example.net"))
				return strings.HasPrefix(again, "250 2.0.0 OK msg_")
			})
			app.MX.Wait(t, "delivery continues", func(s smtptest.Stats) bool { return s.Accepted == 2 })
			if got := storedEmails(t, app); len(got) != 2 || "250 2.0.0 OK "+got[0] != again || got[1] != id {
				t.Errorf("stored emails are %v", got)
			}
		})
	}
}

// beginMessage starts a transaction whose message lacks its final dot.
func (s *submitter) beginMessage(to string) *submitter {
	s.t.Helper()
	s.say("MAIL FROM:<ada@dev.test>\r\nRCPT TO:<%s>\r\nDATA\r\n", to)
	s.expect("250 ")
	s.expect("250 ")
	s.expect("354 ")
	s.say("%s", toWire(keyedMessage(to)))
	return s
}

func keyedMessage(to string) string {
	return "X-Postrider-Idempotency-Key: to " + to + "\n" + plainMessage("ada@dev.test", to)
}

// mayBegin reports whether MAIL is accepted, and resets the transaction.
func (s *submitter) mayBegin() bool {
	s.t.Helper()
	s.say("MAIL FROM:<ada@dev.test>\r\n")
	got := s.answer()
	if strings.HasPrefix(got, "5") {
		s.t.Errorf("answered %q", got)
	}
	if !strings.HasPrefix(got, "250 ") {
		return false
	}
	s.say("RSET\r\n")
	s.expect("250 ")
	return true
}

func (s *submitter) refusedInTime(command, want string) {
	s.t.Helper()
	begin := time.Now()
	s.say("%s", command)
	if got := s.answer(); !strings.HasPrefix(got, want) {
		s.t.Errorf("%q got the reply %q, want %q", command, got, want)
	}
	if took := time.Since(begin); took > outageLimit {
		s.t.Errorf("%q took %s", command, took)
	}
}

// storedEmails returns the ids of the development account's emails, newest first.
func storedEmails(t *testing.T, app *harness.App) []string {
	t.Helper()
	var list struct{ Emails []struct{ ID string } }
	app.Do(t, http.MethodGet, "/api/emails", nil).JSON(t, &list)
	var ids []string
	for _, e := range list.Emails {
		ids = append(ids, e.ID)
	}
	return ids
}

// A stop lets a message in progress finish: a client that got 250 finds it stored, even if the stop comes in
// the middle of the commit. Idle clients are disconnected immediately.
func TestStopFinishesRelayedMessagesInProgress(t *testing.T) {
	t.Parallel()
	for range 5 {
		if stopEndsMessages(t) {
			return
		}
	}
	t.Error("on this machine no stop finished within the time that a commit may wait")
}

// stopEndsMessages returns false if the commit took so long that the message was rejected, which proves
// nothing.
func stopEndsMessages(t *testing.T) bool {
	t.Helper()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	conn, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	idle, half, committing := signIn(t, app), signIn(t, app).beginMessage("bob@example.net"), signIn(t, app).
		beginMessage("carol@example.net")
	tx, err := conn.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // it has ended by then
	if _, err := tx.ExecContext(t.Context(), `LOCK TABLE emails IN SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	committing.say(".\r\n")
	harness.Eventually(t, "the message waits for its commit", func() bool {
		return len(queryColumn(t, conn, `SELECT 'x' FROM pg_locks WHERE NOT granted AND relation = 'emails'::regclass
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)) > 0
	})

	ended := make(chan error, 1)
	go func() { ended <- app.Stop() }()
	idle.expect("421 4.3.2 ") // while the others are in progress
	select {
	case err := <-ended:
		t.Fatalf("stopped with messages in progress: %v", err)
	default:
	}
	half.say(".\r\n")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if held := time.Since(begin); held > 3*time.Second {
		t.Logf("the commit was held up for %s", held)
		return false
	}
	answered := []string{half.expect("250 2.0.0 OK msg_"), committing.expect("250 2.0.0 OK msg_")}
	half.expect("421 4.3.2 ")
	if err := <-ended; err != nil {
		t.Fatalf("stop: %v", err)
	}
	stored := strings.Join(queryColumn(t, conn, `SELECT id FROM emails`), " ")
	for _, a := range answered {
		if !strings.Contains(stored, strings.TrimPrefix(a, "250 2.0.0 OK ")) {
			t.Errorf("got the reply %q, stored emails are %s", a, stored)
		}
	}
	return true
}

// A client that never finishes a message does not delay a stop forever: its connection is cut without a
// reply, and the message is not stored.
func TestStopCutsOffEndlessMessage(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	stuck := signIn(t, app).beginMessage("bob@example.net")
	begin := time.Now()
	if err := app.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	// a stop has 23 seconds, and does not wait for the client's limit, which is minutes
	if took := time.Since(begin); took > 20*time.Second+expect.Patience {
		t.Errorf("the stop took %s", took)
	}
	if line, err := stuck.r.ReadString('\n'); strings.HasPrefix(line, "250") {
		t.Errorf("got the reply %q %v", line, err)
	}
	conn, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := queryColumn(t, conn, `SELECT id FROM emails`); len(got) != 0 {
		t.Errorf("stored emails are %v", got)
	}
}
