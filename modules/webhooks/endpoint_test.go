package webhooks

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/webhooksig"
	"github.com/postrider/postrider/runtime/work/event"
)

// Forbidden URLs are rejected on create and update. The dialer rejects them too, because the name may resolve
// differently by then.
func TestRefusesPrivateEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.PlainLoopback, c.Allow = false, nil }).run(t)
	good, _ := w.addEndpoint(t, ada, "https://hooks.example.com/x")
	for _, bad := range []string{
		"", "https://", "/hook", "mailto:a@example.com", "ftp://example.com/", "http://example.com/",
		"http://127.0.0.1/", "https://127.0.0.1/", "https://localhost:8443/",
		"https://[::1]/", "https://10.1.2.3/", "https://169.254.169.254/latest", "https://100.64.0.1/",
		"https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a00:1]/", "https://127.1/",
		"https://2130706433/", "https://0x7f000001/", "https://user:pw@example.com/", "https://example.com/#x",
		"https://example.com:0/", "https://exa mple.com/",
		"https://example.com/" + strings.Repeat("x", 2048),
	} {
		if _, _, err := w.Create(t.Context(), ada, NewEndpoint{URL: bad}); err == nil || fault.Classify(err).
			Fields["url"] == "" {
			t.Errorf("Create accepted %.60q: %v", bad, err)
		}
		if _, err := w.Update(t.Context(), ada, good.ID, EndpointChange{URL: &bad}); err == nil || fault.Classify(err).
			Fields["url"] == "" {
			t.Errorf("Update accepted %.60q: %v", bad, err)
		}
	}
	r := newReceiver(t)
	w.exec(t, `UPDATE webhooks SET url = $1`, strings.Replace(r.URL, "http:", "https:", 1)) // as if DNS had changed
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the dial is refused", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_attempts WHERE error = 'the host resolves to a private, local or reserved address'`) == 1
	})
	if len(r.received()) != 0 {
		t.Error("the private address received the POST")
	}
}

func TestValidatesEndpointInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	zero := 0
	_, _, err := w.Create(t.Context(), ada,
		NewEndpoint{URL: "https://example.com", Events: []string{"email.sent", "email.eaten", "email.rescheduled"},
			RateLimit: &zero})
	if got := fault.Classify(err).Fields; got["events[1]"] == "" || got["events[2]"] == "" || got["events[0]"] != "" ||
		got["rate_limit"] == "" {
		t.Errorf("invalid endpoint: error fields %v, want events[1], events[2] and rate_limit", got)
	}
	made, token := w.addEndpoint(t, ada, "https://example.com", "email.sent", "email.bounced", "email.sent")
	if got := w.Events(made); len(got) != 2 || !strings.HasPrefix(token.Reveal(), webhooksig.SecretPrefix) {
		t.Errorf("new endpoint has events %v and secret %s, want 2 events and prefix %s", got, token,
			webhooksig.SecretPrefix)
	}
	for range MaxEndpoints - 1 {
		w.addEndpoint(t, ada, "https://example.com")
	}
	if _, _, err := w.Create(t.Context(), ada,
		NewEndpoint{URL: "https://example.com"}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("one endpoint over the limit: %v, want a conflict", err)
	}
	list, err := w.List(t.Context(), ada, page.Request{Limit: 30})
	if err != nil || len(list.Items) != 30 || !list.HasMore {
		t.Errorf("List returned %d endpoints, %v; want 30 and HasMore", len(list.Items), err)
	}
	if _, err := w.Get(t.Context(), eve, made.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Get of another account's endpoint returned %v, want not found", err)
	}
}

func TestBothSecretsSignForOneDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	made, first := w.addEndpoint(t, ada, r.URL)
	rotate := func() (s string) {
		_, token, err := w.RotateSecret(t.Context(), ada, made.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		return token.Reveal()
	}
	rotate()
	_, third, err := w.RotateSecret(t.Context(), ada, made.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the event to be delivered", func() bool { return len(r.received()) == 1 })
	got := r.received()[0]
	if header := got.header.Get("Service-Signature"); strings.Count(header, "v1=") != 2 ||
		!strings.HasPrefix(header, computeSignature(t, got, third)) ||
		strings.Contains(header, strings.SplitN(computeSignature(t, got, first), "v1=", 2)[1]) {
		t.Errorf("signature header %s, want the new and the previous secret only", header)
	}
	w.exec(t, `UPDATE webhooks SET previous_secret_until = now() - interval '1 second'`)
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the second event is delivered", func() bool { return len(r.received()) == 2 })
	if got := r.received()[1]; got.header.Get("Service-Signature") != computeSignature(t, got, third) {
		t.Errorf("after a day the signature header is %s, want only the new secret",
			got.header.Get("Service-Signature"))
	}
}

func TestDisablesEndpointOnGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	r.setAnswer(http.StatusGone, "")
	made, _ := w.addEndpoint(t, ada, r.URL)
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the endpoint is disabled",
		func() bool { got, err := w.Get(t.Context(), ada, made.ID); return err == nil && !got.Enabled })
	got, err := w.Get(t.Context(), ada, made.ID)
	if err != nil || got.DisabledReason != ReasonGone || got.DisabledAt == nil || w.onlyDelivery(t, made.ID).
		State != "failed" {
		t.Errorf("after 410 the endpoint is %+v, %v; want it disabled as gone and its delivery failed", got, err)
	}
}

// Other endpoints of the account receive one event about a disabled endpoint. Those of other accounts do not.
func TestAnnouncesDisabledEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	gone, watching, foreign := newReceiver(t), newReceiver(t), newReceiver(t)
	gone.setAnswer(http.StatusGone, "")
	made, _ := w.addEndpoint(t, ada, gone.URL)
	w.addEndpoint(t, ada, watching.URL, string(event.WebhookDisabled))
	w.addEndpoint(t, eve, foreign.URL)
	w.publishSample(t, ada, event.EmailSent)
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the event is received", func() bool { return len(watching.received()) > 0 })
	var got struct {
		Type event.Type
		Data event.DisabledWebhook
	}
	if err := json.Unmarshal([]byte(watching.received()[0].body), &got); err != nil {
		t.Fatal(err)
	}
	want := event.DisabledWebhook{WebhookID: made.ID, URL: gone.URL, Reason: ReasonGone}
	if got.Type != event.WebhookDisabled || got.Data != want {
		t.Errorf("the other endpoint received %+v, want %s with %+v", got, event.WebhookDisabled, want)
	}
	if n := w.count(t, `SELECT count(*) FROM facts WHERE type = 'webhook.disabled'`); n != 1 {
		t.Errorf("%d events about the disabled endpoint, want 1", n)
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.account_id = $1`, eve); n != 0 {
		t.Errorf("another account got %d deliveries, want 0", n)
	}
}

// Thirty consecutive failed deliveries disable an endpoint; twenty-nine do not. Enabling it again restarts the
// count.
func TestDisablesFailingEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	r.setAnswer(http.StatusBadGateway, "")
	made, _ := w.addEndpoint(t, ada, r.URL)
	// The endpoint may also receive webhook.disabled, if it is enabled again soon.
	const failedSQL = `SELECT count(*) FROM webhook_deliveries WHERE state = 'failed' AND event_type = 'email.sent'`
	fail := func(n int) {
		t.Helper()
		before := w.count(t, failedSQL)
		for range n {
			w.publishSample(t, ada, event.EmailSent)
		}
		eventually(t, "all deliveries failed", func() bool {
			w.exec(t,
				`UPDATE webhook_works SET round = 4, due_at = now() WHERE id IN (SELECT q.id FROM webhook_works q
					WHERE NOT EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = q.id AND a.outcome IS NULL) FOR UPDATE SKIP LOCKED)`)
			return w.count(t, failedSQL) == before+n
		})
	}
	enabled := func() bool { return w.count(t, `SELECT count(*) FROM webhooks WHERE enabled`) == 1 }
	fail(failingAfter - 1)
	if !enabled() {
		t.Fatal("disabled after 29 failures")
	}
	fail(1)
	if enabled() {
		t.Fatal("still enabled after 30 failures")
	}
	yes := true
	if got, err := w.Update(t.Context(), ada, made.ID, EndpointChange{Enabled: &yes}); err != nil ||
		got.DisabledReason != "" ||
		got.DisabledAt != nil {
		t.Fatalf("re-enabled endpoint is %+v, %v; want no disabled_reason and no disabled_at", got, err)
	}
	fail(1)
	if !enabled() {
		t.Error("disabled again after a single failure")
	}
}

// Recover queues failed deliveries and missed events exactly once, and nothing else.
func TestRecoverQueuesMissedEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	made, _ := w.addEndpoint(t, ada, r.URL, "email.sent", "email.bounced")
	began := time.Now().Add(-time.Second)
	w.publishSample(t, ada, event.EmailSent)
	eventually(t, "the event is queued", func() bool { return w.count(t, `SELECT count(*) FROM webhook_deliveries`) == 1 })
	eventually(t, "the first event is delivered",
		func() bool { return w.onlyDelivery(t, made.ID).State == "delivered" })
	no, yes := false, true
	if _, err := w.Update(t.Context(), ada, made.ID, EndpointChange{Enabled: &no}); err != nil {
		t.Fatal(err)
	}
	missed := w.publishSample(t, ada, event.EmailBounced)
	w.publishSample(t, ada, event.EmailOpened) // the endpoint does not subscribe to this one
	w.publishSample(t, eve, event.EmailBounced)
	eventually(t, "the bus has handled all messages", func() bool { return w.count(t, `SELECT count(*) FROM bus_messages`) == 0 })
	if _, err := w.Recover(t.Context(), ada, made.ID, Recovery{Since: began}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Recover of a disabled endpoint returned %v, want a conflict", err)
	}
	if _, err := w.Update(t.Context(), ada, made.ID, EndpointChange{Enabled: &yes}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1, 0} { // only failed ones, then all, then all again
		if got, err := w.Recover(t.Context(), ada, made.ID, Recovery{Since: began, OnlyFailed: i == 0}); err != nil ||
			got.Count != want || got.HasMore {
			t.Errorf("recover %d: %+v, %v", i, got, err)
		}
	}
	eventually(t, "the missed event is delivered", func() bool { return len(r.received()) == 2 })
	if got := r.received()[1].header.Get("Service-Event-Id"); got != missed.ID {
		t.Errorf("delivered %s, want the missed %s", got, missed.ID)
	}
}
