package journeys_test

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// In a real browser: the link that `make run` prints, a passkey, a password, and every page for signing in,
// checked by axe in both themes.
func TestSignInInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := harness.Start(t, nil)
	harness.Script(t, "people.mjs", "LINK="+app.DashboardURL, "EMAIL="+app.Owner.Email, "PASSWORD="+app.Owner.Password)
}

// In a real browser: the API reference loads the parts that it shows, and can be read without its script.
func TestTheReferenceInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := harness.Start(t, nil)
	harness.Script(t, "reference.mjs", "BASE="+app.BaseURL)
}

// In a real browser: the empty screens, and the first minutes of a new user.
func TestTheFirstMinutesInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	runScript(t, app, "screens.mjs", "EMPTY=1")
	t.Log(runScript(t, app, "commands.mjs"))
	app = startCaptured(t)
	runScript(t, app, "quickstart.mjs")
}

// In a real browser, in development: open, send, see it delivered, add a domain, receive a webhook. FILM is a folder
// for the frames. TestTheFirstTwoMinutesInProduction is the same in production.
func TestTheFirstTwoMinutesInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	runScript(t, app, "film.mjs", "ZONE="+harness.ServeZone(t, app.DNS))
}

// In a real browser: questions of a new user are answered with few actions.
func TestQuestionsOfANewUserInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	addReports(t, app)
	t.Log(runScript(t, app, "questions.mjs"))
}

// addReports stores 20 days of DMARC reports about dev.test: mail of this installation, of a newsletter service that
// signs as itself, and of a forger.
func addReports(t *testing.T, app *harness.App) {
	t.Helper()
	handle := openDatabase(t, app)
	for _, statement := range []string{
		`INSERT INTO mail_sources (source, name, ours, checked_at) VALUES ('192.0.2.25', 'out.postrider.test', true, now()),
			('198.51.100.7', 'o1.sendgrid.net', false, now()), ('203.0.113.9', '', false, now())`,
		`INSERT INTO dmarc_counts (domain_id, day, receiver, source, disposition, dkim, spf, signed, permitted, messages)
			SELECT d.id, to_char(now() AT TIME ZONE 'UTC' - n * interval '1 day', 'YYYY-MM-DD'), 'google.com', s.source, 'none',
				s.passes, s.passes, s.authentic, s.authentic, s.messages
			FROM domains d, generate_series(1, 20) n,
				(VALUES ('192.0.2.25', true, true, 50), ('198.51.100.7', false, true, 10), ('203.0.113.9', false, false, 2))
					s (source, passes, authentic, messages)
			WHERE d.name = 'dev.test'`,
	} {
		if _, err := handle.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// In a real browser: mail appears live, failures show the text of the other server, untrusted mail runs no
// script, and every screen is checked by axe.
func TestTheDashboardInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	s := newScenario(t)
	mx := s.startServer(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "nobody@seen.test", smtptest.Reply(550, "5.1.1", "No such user"))
	s.mailHosts(t, "seen.test", 20)
	runScript(t, s.App, "live.mjs", "DOMAIN=seen.test", "REFUSED=nobody@seen.test", "WORDS=No such user")
	s.mailHosts(t, "hostile.test", 30)
	runScript(t, s.App, "hostile.mjs", "MX="+s.serverAddr(30), "INBOUND="+*s.InboundAddr)
	runScript(t, s.App, "screens.mjs")
}

// In a real browser: a viewer sees every screen, without any control that changes data.
func TestAViewerInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	invite(t, app, signInOwner(t, app), "viewer")
	runScript(t, app, "viewer.mjs", "EMAIL=bob@example.com", "PASSWORD="+bobsPassword, "OWNER_EMAIL="+app.Owner.Email,
		"OWNER_PASSWORD="+app.Owner.Password)
}

// In a real browser: the screens of disabled modules are absent, and the rest works.
func TestModulesOffInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	for what, off := range map[string]string{
		"next to sending": "inbound,automations,webhooks,tracking,statistics,apilog,sms,relay,billing",
		"sending":         "sending,templates,automations,suppression,outbound,bounces,relay,eventlog,retention",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			app := startCaptured(t, func(s setting.RawValues) {
				s["POSTRIDER_MODULES"] = "-" +
					strings.ReplaceAll(off, ",", ",-")
			})
			runScript(t, app, "modules.mjs", "OFF="+off)
		})
	}
}

// In a real browser: twelve tabs are live on one stream; a service that stops, a session that ends and a
// wrong clock lose nothing; two users who edit the same record are warned.
func TestTheDashboardKeepsUpInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	for _, script := range []string{"tabs.mjs", "outage.mjs", "conflicts.mjs"} {
		runScript(t, app, script)
	}
}

// In a real browser, with the mouse and with the keyboard alone: the tasks of users who send mail.
func TestTasksInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	runScript(t, app, "search.mjs")
	runScript(t, app, "tasks.mjs", "ZONE="+harness.ServeZone(t, app.DNS))
}

// In a real browser: the template editor previews while the author types, saves, completes and emulates devices.
func TestTemplatesAreEditedInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	app := startCaptured(t)
	runScript(t, app, "templates.mjs")
	runScript(t, app, "layouts.mjs")
}

// In a real browser: a user sets the goal of an automation, and sees which runs reach it.
func TestGoalsInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	runScript(t, startCaptured(t), "goals.mjs")
}

// In a real browser: the page of an API key, new secrets, and every copy button.
func TestKeysInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	t.Log(runScript(t, startCaptured(t), "keys.mjs"))
}

// Test mode has a banner on every page, an inbox, and only its own data.
func TestTestModeInABrowser(t *testing.T) {
	expect.SkipWhenQuick(t, "make ui-test")
	t.Parallel()
	runScript(t, startCaptured(t), "test-mode.mjs")
}

// In a real browser: a very long list of emails. make ui-million runs it; POSTRIDER_UI_ROWS is the number.
func TestAVeryLongListInABrowser(t *testing.T) {
	rows, err := strconv.Atoi(os.Getenv("POSTRIDER_UI_ROWS"))
	if err != nil {
		t.Skip("make ui-million runs it")
	}
	s := scenarioOf(t, startCaptured(t))
	s.exec(t, `INSERT INTO emails (id, account_id, domain_id, "from", from_address, "to", subject, message_id, status, last_event, created_at, sent_at)
		SELECT 'msg_01' || lpad(i::text, 24, '0'), d.account_id, d.id, 'ada@dev.test', 'ada@dev.test', jsonb_build_array('reader' || i || '@example.net'), 'Receipt ' || i,
			i || '@dev.test', 'delivered', 'email.delivered', now() - i * interval '1 second', now() - i * interval '1 second'
		FROM generate_series(1, $1::int) i, (SELECT id, account_id FROM domains WHERE account_id = $2) d`, rows, s.AccountID)
	s.exec(t, `ANALYZE emails`)
	t.Log(runScript(t, s.App, "scroll.mjs"))
}

// Screenshots of every screen with the data of a small shop. make screenshots runs it; SHOTS is the folder.
func TestScreenshotsInABrowser(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("make screenshots runs it")
	}
	s := scenarioOf(t, startCaptured(t))
	made := strings.TrimSpace(runScript(t, s.App, "pictures.mjs", "SHOTS=", "INBOUND="+*s.InboundAddr))
	expect.EventuallyWithin(t, 3*time.Minute, "the mail is counted", func() bool {
		var counted bool
		if err := s.db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT FROM statistics_days)`).Scan(&counted); err != nil {
			t.Fatal(err)
		}
		return counted
	})
	// The same day repeated for a month, with gaps. The chunks of a row cannot be multiplied in SQL.
	columns := `key, domain_id, api_key_id, template_id, automation_id, event_size, email_size, domains, tags, sender_domains, sender_tags, event_figures, event_latencies, email_figures, email_latencies`
	s.exec(t, `INSERT INTO statistics_days (account_id, kind, start, `+columns+`) SELECT account_id, kind, start - i * interval '1 day', `+columns+`
		FROM statistics_days, generate_series(1, 34) i WHERE i % 7 <> 3 ON CONFLICT DO NOTHING`)
	runScript(t, s.App, "pictures.mjs", "IDS="+made)
}

// runScript runs a script on the dashboard of an app, as its owner unless the variables specify another user. It
// returns the output of the script.
func runScript(t *testing.T, app *harness.App, script string, variables ...string) (said string) {
	t.Helper()
	if strings.Contains(string(fetchHome(t, app)), "was not built") {
		t.Skip("the dashboard was not built; make dashboard builds it, with Node.js")
	}
	all := []string{"LINK=" + app.DashboardURL, "KEY=" + app.APIKey, "EMAIL=" + app.Owner.Email, "PASSWORD=" +
		app.Owner.Password}
	return harness.Script(t, script, append(all, variables...)...)
}

// fetchHome returns the page at / for a browser.
func fetchHome(t *testing.T, app *harness.App) []byte {
	t.Helper()
	answer := app.Do(t, http.MethodGet, "/", nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("/ returned %d", answer.Status)
	}
	return answer.Body
}
