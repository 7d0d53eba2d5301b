package journeys_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// receivedHook is a webhook as shown by the receiver of development mode.
type receivedHook struct {
	Number         int64
	EventID        string `json:"event_id"`
	EventType      string `json:"event_type"`
	Attempt        int
	Verified       bool
	SignatureError string  `json:"signature_error"`
	WebhookID      *string `json:"webhook_id"`
	AnswerStatus   int     `json:"answer_status"`
	Body           string
}

// atReceiver queries the receiver of an account; query begins with ? or is empty.
func atReceiver(t *testing.T, app *harness.App, query string) (url string, got []receivedHook) {
	t.Helper()
	var shown struct {
		URL      string
		Requests []receivedHook
	}
	app.Do(t, http.MethodGet, "/dev/webhooks.json"+query, nil).JSON(t, &shown)
	return shown.URL, shown.Requests
}

// Journey: a developer points a webhook at the receiver of development mode, sees an event arrive with its
// signature, makes the receiver return 500 until the delivery has failed, replays it, and sees it succeed.
// Other accounts see none of it.
func TestDevelopmentModeReceivesWebhooks(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, func(c setting.RawValues) { c["POSTRIDER_OUTBOUND"] = "" })
	url, none := atReceiver(t, app, "")
	if len(none) != 0 || !strings.HasPrefix(url, app.BaseURL+"/dev/webhooks/in/"+app.AccountID+"/") {
		t.Fatalf("initially the receiver %q has %+v", url, none)
	}
	var made struct{ Webhook struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/webhooks",
		map[string]any{"url": url, "events": []string{"email.delivered", "email.bounced"}}).JSON(t, &made)

	id := app.Send(t, `{"from":"hello@dev.test","to":"bob@dev.test","subject":"Hello","text":"Hello"}`)
	_, got := atReceiver(t, app, "?type=email.delivered&wait=30s")
	if len(got) != 1 || !got[0].Verified || got[0].WebhookID == nil || *got[0].WebhookID != made.Webhook.ID ||
		got[0].AnswerStatus != http.StatusOK || !strings.Contains(got[0].Body, id) {
		t.Fatalf("the receiver got %+v, want email.delivered of %s, signed by %s", got, id, made.Webhook.ID)
	}

	wantAnswer(t, "another answer", app.Do(t, http.MethodPost, "/dev/webhooks/answer", map[string]any{"status": 500}),
		http.StatusOK)
	app.Send(t, `{"from":"hello@dev.test","to":"bounce+hook@dev.test","subject":"Hello","text":"Hello"}`)
	var deliveries struct {
		Deliveries []struct {
			ID, State    string
			AttemptCount int `json:"attempt_count"`
			StatusCode   int `json:"status_code"`
		}
	}
	expect.Eventually(t, "a delivery that gets the response 500 has failed", func() bool {
		app.Do(t, http.MethodGet, "/api/webhooks/"+made.Webhook.ID+"/deliveries?state=failed", nil).JSON(t, &deliveries)
		return len(deliveries.Deliveries) == 1
	})
	failed := deliveries.Deliveries[0]
	_, tries := atReceiver(t, app, "?type=email.bounced")
	if failed.AttemptCount != 5 || failed.StatusCode != http.StatusInternalServerError || len(tries) != 5 ||
		tries[0].Attempt != 5 || tries[4].EventID != tries[0].EventID {
		t.Fatalf("the delivery failed as %+v and the receiver got %d attempts, want 5 of one event", failed, len(tries))
	}
	wantAnswer(t, "another answer", app.Do(t, http.MethodPost, "/dev/webhooks/answer", map[string]any{"status": 200}),
		http.StatusOK)
	wantAnswer(t, "a replay", app.Do(t, http.MethodPost, "/api/webhook-deliveries/"+failed.ID+"/replay", nil),
		http.StatusOK)
	if _, got = atReceiver(t, app, "?type=email.bounced&wait=30s&after="+
		strconv.FormatInt(tries[0].Number, 10)); len(got) != 1 || got[0].AnswerStatus != http.StatusOK ||
		got[0].EventID != tries[0].EventID || !got[0].Verified {
		t.Errorf("after the replay the receiver got %+v, want the same event with response 200", got)
	}

	wantAnswer(t, "a webhook with no signature", app.Do(t, http.MethodPost, strings.TrimPrefix(url, app.BaseURL),
		`{"type":"by.hand"}`), http.StatusOK)
	if _, got = atReceiver(t, app, "?type=by.hand"); len(got) != 1 || got[0].Verified ||
		!strings.Contains(got[0].SignatureError, "missing") {
		t.Errorf("a request without a signature is shown as %+v", got)
	}
	wantAnswer(t, "a guessed receiver", app.Do(t, http.MethodPost, "/dev/webhooks/in/"+app.AccountID+"/x", `{}`),
		http.StatusNotFound)
	wantAnswer(t, "an invalid response status",
		app.Do(t, http.MethodPost, "/dev/webhooks/answer", map[string]any{"status": 99}),
		http.StatusUnprocessableEntity, "status")
	wantAnswer(t, "an invalid query", app.Do(t, http.MethodGet, "/dev/webhooks.json?page=2&limit=x", nil),
		http.StatusUnprocessableEntity, "page", "limit")
	wantAnswer(t, "a request without a key", app.Do(t, http.MethodGet, "/dev/webhooks.json", nil, "Authorization", ""),
		http.StatusUnauthorized)

	stranger := app.Stranger(t, "stranger")
	if other, seen := atReceiver(t, stranger, ""); len(seen) != 0 || other == url {
		t.Errorf("another account sees %+v at the receiver %s", seen, other)
	}
	wantAnswer(t, "another account that clears its own", stranger.Do(t, http.MethodPost, "/dev/webhooks/clear", nil),
		http.StatusOK)
	if _, got = atReceiver(t, app, ""); len(got) != 8 {
		t.Errorf("after another account cleared its requests, %d are left, want 8", len(got))
	}
}
