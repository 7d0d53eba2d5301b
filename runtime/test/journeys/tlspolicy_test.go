package journeys_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// The TLS mode of a domain applies to delivery: mail that requires TLS is not sent without it, and other
// mail is.
func TestEnforcedTLSFailsWithoutSTARTTLS(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	body := `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`

	waitForStatus(t, app, send(t, app, body), "delivered") // opportunistic: the MX has no STARTTLS
	setTLSMode(t, app, "enforced")
	id := send(t, app, body)
	if got := waitForStatus(t, app, id, "failed"); got.Email.LastEvent != "email.failed" {
		t.Errorf("record: %+v", got.Email)
	}
	if n := app.MX.Stats().Messages; n != 1 {
		t.Errorf("%d messages arrived, want only the opportunistic one", n)
	}
	var timeline struct {
		Email struct {
			Timeline []struct {
				Type string
				Data struct{ Failure struct{ Code, Reason string } }
			}
			Attempts []struct{ TLSPolicy *string }
		}
	}
	app.Query(t, `{ email(id: "`+id+`") { timeline { type data } attempts { tlsPolicy } } }`, &timeline)
	if a := timeline.Email.Attempts; len(a) != 1 || a[0].TLSPolicy == nil || *a[0].TLSPolicy != "enforced" {
		t.Errorf("attempts: %+v", a)
	}
	last := timeline.Email.Timeline[len(timeline.Email.Timeline)-1]
	if last.Type != "email.failed" || last.Data.Failure.Code != "tls_required" ||
		!strings.Contains(last.Data.Failure.Reason, "verified TLS is enforced") {
		t.Errorf("timeline: %+v", timeline.Email.Timeline)
	}
}

// TLS results are counted for the operator.
func TestTLSSessionsAreCounted(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	waitForStatus(t, app, send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`),
		"delivered")
	app.MX.Wait(t, "a session", func(s smtptest.Stats) bool { return s.Accepted == 1 })
	const line = `postrider_smtp_tls_sessions_total{policy="opportunistic",result="starttls-not-supported",testing="false"} 1`
	if got := string(app.Do(t, http.MethodGet, "/metrics", nil).Body); !strings.Contains(got, line) {
		t.Errorf("metrics lack %s", line)
	}
}

func setTLSMode(t *testing.T, app *harness.App, mode string) {
	t.Helper()
	var list struct{ Domains []struct{ ID, Name string } }
	app.Do(t, http.MethodGet, "/api/domains", nil).JSON(t, &list)
	for _, d := range list.Domains {
		if d.Name == "dev.test" {
			if got := app.Do(t, http.MethodPatch, "/api/domains/"+d.ID, `{"tls_mode":"`+mode+
				`"}`); got.Status != http.StatusOK {
				t.Fatalf("PATCH of the domain returned %d %s", got.Status, got.Body)
			}
			return
		}
	}
	t.Fatalf("the domain dev.test does not exist: %+v", list)
}
