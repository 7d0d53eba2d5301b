package journeys_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// disableEndpoint adds an endpoint that responds 410, causes an event, waits until the endpoint is disabled, and
// returns its id.
func disableEndpoint(t *testing.T, app *harness.App, endpoint string) string {
	t.Helper()
	var made struct{ Webhook struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/webhooks",
		map[string]any{"url": endpoint, "events": []string{"suppression.added"}}).JSON(t, &made)
	wantAnswer(t, "a test event",
		app.Do(t, http.MethodPost, "/api/emails/test", asked{"event": "suppression.added"}), http.StatusOK)
	harness.Eventually(t, "the endpoint is disabled", func() bool {
		var got struct {
			Webhook struct{ Enabled bool }
		}
		app.Do(t, http.MethodGet, "/api/webhooks/"+made.Webhook.ID, nil).JSON(t, &got)
		return !got.Webhook.Enabled
	})
	return made.Webhook.ID
}

// latestAlert waits for an alert about an endpoint and returns its text.
func latestAlert(t *testing.T, app *harness.App, address string) string {
	t.Helper()
	query := url.Values{"to": {address}, "subject": {"webhook endpoint was disabled"}, "wait": {"20s"}}
	got := app.Do(t, http.MethodGet, "/dev/inbox/latest?"+query.Encode(), nil)
	var found struct{ Mail struct{ Text string } }
	got.JSON(t, &found)
	return found.Mail.Text
}

// Journey: an endpoint responds 410. The owner and a developer get an email with a link to it, unless they switched
// this off in their profile.
func TestJourneyAnAlertAboutAnEndpoint(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	bob := invite(t, app, ada, "developer")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
	}))
	t.Cleanup(s.Close)
	wantAnswer(t, "ada switching the alert off",
		ada.Do(t, http.MethodPatch, "/api/user", asked{"alerts": asked{"webhooks": false}}), http.StatusOK)
	var session struct {
		User struct{ Alerts map[string]bool }
	}
	ada.Do(t, http.MethodGet, "/api/session", nil).JSON(t, &session)
	if a := session.User.Alerts; len(a) != 5 || a["webhooks"] || !a["deliverability"] || !a["domains"] || !a["rates"] ||
		!a["usage"] {
		t.Errorf("the alerts of ada are %v, want all but webhooks", a)
	}
	endpoint := disableEndpoint(t, app, s.URL)
	for _, want := range []string{"127.0.0.1", "410 Gone", "/webhooks/" + endpoint, "/profile"} {
		if text := latestAlert(t, app, "bob@example.com"); !strings.Contains(text, want) {
			t.Errorf("the mail to bob is %q, want it to contain %q", text, want)
		}
	}
	// Ada's mail about this endpoint would have been stored with bob's, so the next one is her first.
	wantAnswer(t, "ada switching the alert on",
		ada.Do(t, http.MethodPatch, "/api/user", asked{"alerts": asked{"webhooks": true}}), http.StatusOK)
	wantAnswer(t, "bob switching the alert off",
		bob.Do(t, http.MethodPatch, "/api/user", asked{"alerts": asked{"webhooks": false}}), http.StatusOK)
	next := disableEndpoint(t, app, s.URL)
	if text := latestAlert(t, app, app.Owner.Email); !strings.Contains(text, "/webhooks/"+next) {
		t.Errorf("the mail to ada is %q, want one about %s only", text, next)
	}
}
