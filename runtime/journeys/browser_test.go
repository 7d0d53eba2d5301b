package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/runtimetest"
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
	if strings.Contains(string(home(t, s.App)), "was not built") {
		t.Skip("the dashboard was not built; make dashboard builds it, with Node.js")
	}
	mx := s.server(t, 20, smtptest.Config{})
	mx.Always(smtptest.Rcpt, "nobody@seen.test", smtptest.Reply(550, "5.1.1", "No such user"))
	s.mailHosts(t, "seen.test", 20)
	runtimetest.Script(t, "dashboard.mjs", "LINK="+s.DashboardURL, "KEY="+s.APIKey, "DOMAIN=seen.test", "REFUSED=nobody@seen.test", "WORDS=No such user")
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
