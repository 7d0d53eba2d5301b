package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/runtimetest"
	"github.com/postrider/postrider/runtime/setting"
)

// In a real browser: the link that `make run` prints, a passkey, a password, and every page by which
// people get in, judged by axe in both themes.
func TestPeopleGetInByABrowser(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, nil)
	runtimetest.Script(t, "people.mjs", "LINK="+app.DashboardURL, "EMAIL="+app.Owner.Email, "PASSWORD="+app.Owner.Password)
}

// In a real browser: mail appears live, failures stand there in the words of the other server, mail from
// strangers runs nothing, and every screen is judged by axe.
func TestTheDashboardInABrowser(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	mx := s.server(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "nobody@seen.test", smtptest.Reply(550, "5.1.1", "No such user"))
	s.mailHosts(t, "seen.test", 20)
	look(t, s.App, "live.mjs", "DOMAIN=seen.test", "REFUSED=nobody@seen.test", "WORDS=No such user")
	look(t, s.App, "hostile.mjs", "DOMAIN=seen.test")
	look(t, s.App, "screens.mjs")
}

// In a real browser: a viewer sees every screen, and nothing on it that would change something.
func TestAViewerInABrowser(t *testing.T) {
	t.Parallel()
	app := captured(t)
	invite(t, app, owner(t, app), "viewer")
	look(t, app, "viewer.mjs", "EMAIL=bob@example.com", "PASSWORD="+bobsPassword, "OWNER_EMAIL="+app.Owner.Email, "OWNER_PASSWORD="+app.Owner.Password)
}

// In a real browser: what belongs to modules that are off is not there, and what is left works.
func TestModulesOffInABrowser(t *testing.T) {
	t.Parallel()
	for what, off := range map[string]string{
		"beside sending": "inbound,automations,webhooks,tracking,statistics,apilog,sms,relay,billing",
		"sending":        "sending,templates,automations,suppression,outbound,bounces,relay,eventlog,retention",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			app := captured(t, func(s setting.Texts) { s["POSTRIDER_MODULES"] = "-" + strings.ReplaceAll(off, ",", ",-") })
			look(t, app, "modules.mjs", "OFF="+off)
		})
	}
}

// In a real browser: twelve tabs are live on one stream; a service that goes away, a session that ends and
// a clock that is wrong lose nothing; two who write the same are told.
func TestTheDashboardKeepsUpInABrowser(t *testing.T) {
	t.Parallel()
	app := captured(t)
	for _, script := range []string{"tabs.mjs", "away.mjs", "together.mjs"} {
		look(t, app, script)
	}
}

// look runs a script that looks at the dashboard of an app; as its owner, unless the variables say otherwise.
func look(t *testing.T, app *runtimetest.App, script string, variables ...string) {
	t.Helper()
	if strings.Contains(string(home(t, app)), "was not built") {
		t.Skip("the dashboard was not built; make dashboard builds it, with Node.js")
	}
	all := []string{"LINK=" + app.DashboardURL, "KEY=" + app.APIKey, "EMAIL=" + app.Owner.Email, "PASSWORD=" + app.Owner.Password}
	runtimetest.Script(t, script, append(all, variables...)...)
}

// home is what stands at / for a browser.
func home(t *testing.T, app *runtimetest.App) []byte {
	t.Helper()
	answer := app.Do(t, http.MethodGet, "/", nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("/ answers %d", answer.Status)
	}
	return answer.Body
}
