package journeys_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// hook is a POST that an endpoint received.
type hook struct {
	header http.Header
	body   string
}

// newListener returns an endpoint that passes on the requests it receives.
func newListener(t *testing.T) (url string, heard <-chan hook) {
	t.Helper()
	all := make(chan hook, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		all <- hook{r.Header, string(body)}
		if _, err := w.Write(body); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

// POST /emails, delivered over SMTP, reported to an endpoint with a signature that its owner can verify, and
// shown in the log.
func TestJourneyDeliveryIsReportedToWebhook(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	url, heard := newListener(t)
	var made struct {
		Webhook struct {
			ID     string
			Events []string
		}
		Secret string
	}
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": url}).JSON(t, &made)
	if len(made.Webhook.Events) != 33 || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Fatalf("the new webhook is %+v, want the 33 events of the enabled modules, and a secret", made)
	}
	id := send(t, app,
		`{"from":"ada@dev.test","to":"bob@example.net","subject":"Your receipt","text":"x","tags":{"kind":"receipt"}}`)
	told := map[string]hook{}
	for len(told) < 2 {
		got := <-heard
		if strings.HasPrefix(got.body, `{"type":"domain.`) { // events from domain checks at the start
			continue
		}
		stamp, signature, _ := strings.Cut(strings.TrimPrefix(got.header.Get("Service-Signature"), "t="), ",v1=")
		mac := hmac.New(sha256.New, []byte(made.Secret))
		mac.Write([]byte(stamp + "." + got.body))
		if hex.EncodeToString(mac.Sum(nil)) != signature {
			t.Errorf("signature %s is invalid", got.header.Get("Service-Signature"))
		}
		var event struct {
			Type string
			Data struct {
				EmailID   string `json:"email_id"`
				Recipient string
				Status    string
			}
		}
		if err := json.Unmarshal([]byte(got.body), &event); err != nil || event.Data.EmailID != id {
			t.Errorf("the webhook received %s, %v, want an event of the email %s", got.body, err, id)
		}
		told[event.Type] = got
	}
	if _, sent := told["email.sent"]; !sent ||
		!strings.Contains(told["email.delivered"].body, `"recipient":"bob@example.net"`) {
		t.Errorf("reported: %v", told)
	}
	harness.Eventually(t, "the log contains both", func() bool {
		list := string(app.Do(t, http.MethodGet, "/api/webhooks/"+made.Webhook.ID+"/deliveries?state=delivered", nil).
			Body)
		return strings.Count(list, `"event_type":"email.`) == 2
	})
	if strings.Contains(app.Log.String(), made.Secret) {
		t.Error("the log contains the secret")
	}
}

// An erased recipient is in no delivery, no test event and no response of an endpoint.
func TestErasedRecipientIsRemovedFromWebhooks(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	target, heard := newListener(t)
	var made struct{ Webhook struct{ ID string } }
	events := []string{"email.sent", "email.delivered", "email.bounced"} // excluding events about domain checks
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": target, "events": events}).JSON(t, &made)
	id := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"one","text":"x"}`)
	shared := send(t, app,
		`{"from":"ada@dev.test","to":["bob@example.net","carol@example.net"],"subject":"two","text":"x"}`)
	waitForStatus(t, app, id, "delivered")
	waitForStatus(t, app, shared, "delivered")
	app.Do(t, http.MethodPost, "/api/emails/test", map[string]any{"event": "email.bounced", "email_id": id})
	for range 6 { // two sent, three delivered, one test
		<-heard
	}
	harness.Eventually(t, "everything is settled", func() bool {
		var list struct {
			Deliveries []struct{ State string }
		}
		app.Do(t, http.MethodGet, "/api/webhooks/"+made.Webhook.ID+"/deliveries?state=delivered", nil).JSON(t, &list)
		return len(list.Deliveries) == 6
	})
	if len(rowsWith(t, url, "bob@example.net")) == 0 {
		t.Fatal("nothing to erase")
	}
	app.Do(t, http.MethodDelete, "/api/contacts/bob@example.net/data", nil)
	for _, row := range rowsWith(t, url, "bob@example.net") {
		t.Errorf("still there: %s", row)
	}
	if got := rowsWith(t, url, "carol@example.net"); len(got) == 0 {
		t.Error("carol was erased too")
	}
}

// An endpoint with a rate limit receives all events, no faster than its limit, while one without receives
// them immediately.
func TestEndpointRateIsRespected(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	limited, slow := newListener(t)
	free, fast := newListener(t)
	const rate, burst, events = 5, 4, 16
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": limited, "events": []string{"email.sent"},
		"rate_limit": rate})
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": free, "events": []string{"email.sent"}})
	var emails []map[string]any
	for range events {
		emails = append(emails, map[string]any{"from": "ada@dev.test", "to": "bob@example.net", "subject": "s",
			"text": "t"})
	}
	began := time.Now()
	if got := app.Do(t, http.MethodPost, "/api/emails/batch",
		map[string]any{"emails": emails}); got.Status != http.StatusOK {
		t.Fatalf("sending the batch got status %d and %s, want 200", got.Status, got.Body)
	}
	ids := map[string]bool{}
	for n := range events {
		got := <-slow
		ids[got.header.Get("Service-Event-Id")] = true
		// A slow machine may be later than this, but never earlier.
		if earliest := time.Duration(max(0, n+1-burst)) * time.Second / rate; time.Since(began) < earliest {
			t.Errorf("delivery %d arrived after %s, want at least %s", n+1, time.Since(began), earliest)
		}
	}
	if len(ids) != events {
		t.Errorf("%d different events were received at the limited endpoint", len(ids))
	}
	harness.Eventually(t, "the other endpoint received all", func() bool { return len(fast) == events })
}
