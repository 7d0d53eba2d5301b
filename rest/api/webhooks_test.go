package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/page"
)

const (
	webhookID         = "wh_01kf0m4w7he6x8q2v5b3n9c1ta"
	webhookDeliveryID = "whd_01kf0m4w7he6x8q2v5b3n9c1ta"
	webhookToken      = "whsec_Zk3v9QpA1mW5rT8yB2nC4xE6uH7jK0sLd3fG9aVqIo"
)

var hookTime = time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)

// fakeWebhooks has one endpoint with one delivery, and records its calls.
type fakeWebhooks struct {
	fail     error
	created  []webhooks.NewEndpoint
	change   webhooks.EndpointChange
	filter   webhooks.Filter
	recovery webhooks.Recovery
	queued   int // calls of Replay and Recover
}

func (f *fakeWebhooks) sample() *ent.Webhook {
	rate := 20
	return &ent.Webhook{ID: webhookID, URL: "https://example.com/hooks", Description: "Order service",
		HeaderNames: []string{"Authorization"}, Filter: &shape.WebhookFilter{DomainIDs: []string{domainID},
			Tags: []shape.TagFilter{{Name: "kind", Value: "receipt"}}},
		Events: []string{"email.bounced", "email.complained"}, Enabled: true, RateLimit: &rate,
		Secret: []byte("never shown"), CreatedAt: hookTime, UpdatedAt: hookTime}
}

func (f *fakeWebhooks) delivery() *ent.WebhookDelivery {
	due := hookTime.Add(5 * time.Second)
	return &ent.WebhookDelivery{ID: webhookDeliveryID, WebhookID: webhookID, EventID: "evt_01kf0m4w7he6x8q2v5b3n9c1ta",
		EventType: "contact.unsubscribed", State: "pending",
		DueAt: &due, Attempts: 1, Error: "no answer within 10s", CreatedAt: hookTime}
}

func (f *fakeWebhooks) known(webhook string) error {
	if webhook != webhookID {
		return fault.NoSuch("webhook", webhook)
	}
	return f.fail
}

func (f *fakeWebhooks) Create(ctx context.Context, account string,
	in webhooks.NewEndpoint) (*ent.Webhook, secret.String, error) {
	if f.fail != nil || account != accountID {
		return nil, secret.String{}, f.fail
	}
	f.created = append(f.created, in)
	if in.Keep != nil {
		return f.sample(), secret.New(webhookToken), in.Keep(ctx, nil, f.sample(), secret.New(webhookToken))
	}
	return f.sample(), secret.New(webhookToken), nil
}

func (f *fakeWebhooks) RotateSecret(ctx context.Context, _, webhook string,
	keep webhooks.StoreResponse) (*ent.Webhook, secret.String, error) {
	if err := f.known(webhook); err != nil {
		return nil, secret.String{}, err
	}
	if keep != nil {
		return f.sample(), secret.New(webhookToken), keep(ctx, nil, f.sample(), secret.New(webhookToken))
	}
	return f.sample(), secret.New(webhookToken), nil
}

func (f *fakeWebhooks) List(context.Context, string, page.Request) (page.Page[*ent.Webhook], error) {
	return page.Page[*ent.Webhook]{Items: []*ent.Webhook{f.sample()}, HasMore: true, NextCursor: "next"}, f.fail
}

func (f *fakeWebhooks) Get(_ context.Context, _, webhook string) (*ent.Webhook, error) {
	return f.sample(), f.known(webhook)
}

func (f *fakeWebhooks) Update(_ context.Context, _, webhook string, c webhooks.EndpointChange) (*ent.Webhook, error) {
	f.change = c
	w := f.sample()
	if c.Enabled != nil && !*c.Enabled {
		w.Enabled, w.DisabledAt, w.DisabledReason = false, &hookTime, webhooks.ReasonCaller
	}
	return w, f.known(webhook)
}

func (f *fakeWebhooks) Delete(_ context.Context, _, webhook string) error { return f.known(webhook) }

func (f *fakeWebhooks) Events(w *ent.Webhook) []string { return w.Events }

func (f *fakeWebhooks) Deliveries(_ context.Context, _, webhook string,
	filter webhooks.Filter) (page.Page[*ent.WebhookDelivery], error) {
	f.filter = filter
	return page.Page[*ent.WebhookDelivery]{Items: []*ent.WebhookDelivery{f.delivery()}, HasMore: true,
		NextCursor: "next"}, f.known(webhook)
}

func (f *fakeWebhooks) Delivery(_ context.Context, _, delivery string) (*ent.WebhookDelivery, error) {
	if delivery != webhookDeliveryID {
		return nil, fault.NoSuch("webhook delivery", delivery)
	}
	return f.delivery(), f.fail
}

func (f *fakeWebhooks) Attempts(context.Context, string, ...string) (map[string][]*ent.WebhookAttempt, error) {
	ended, outcome, took := hookTime.Add(10*time.Second), webhookattempt.OutcomeFailed, 10_000
	return map[string][]*ent.WebhookAttempt{webhookDeliveryID: {{Number: 1, StartedAt: hookTime, FinishedAt: &ended,
		Outcome: &outcome, Error: "no answer within 10s", ResponseHeaders: "Retry-After: 3\n",
		RemoteAddr: "203.0.113.7:443", DurationMs: &took}}}, nil
}

func (f *fakeWebhooks) Body(context.Context, *ent.WebhookDelivery) (json.RawMessage, error) {
	return json.RawMessage(`{"type":"contact.unsubscribed","created_at":"2026-01-15T09:30:00.000Z","data":{"email":"bob@example.net","source":"one_click",` +
		`"scope":"category","category":"product-news","category_label":"Product news","suppression_id":null,"category_opt_out_id":"opt_01kf0m4w7he6x8q2v5b3n9c1ta","email_id":null}}`), nil
}

func (f *fakeWebhooks) Replay(ctx context.Context, account, delivery string,
	keep webhooks.StoreReplayResponse) (*ent.WebhookDelivery, error) {
	d, err := f.Delivery(ctx, account, delivery)
	if f.queued++; err == nil && keep != nil {
		err = keep(ctx, nil, d)
	}
	return d, err
}

func (f *fakeWebhooks) Recover(ctx context.Context, _, webhook string,
	in webhooks.Recovery) (webhooks.RecoveryResult, error) {
	f.recovery = in
	done, err := webhooks.RecoveryResult{Count: 42}, f.known(webhook)
	if f.queued++; err == nil && in.Keep != nil {
		err = in.Keep(ctx, nil, done)
	}
	return done, err
}

func TestWebhookAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path, body string
		status             int
	}{
		"webhook_created":      {"POST", "/webhooks", `{"url":"https://example.com/hooks","events":["email.bounced"],"rate_limit":20}`, 200},
		"webhook_bad_types":    {"POST", "/webhooks", `{"url":1,"events":["email.sent",2],"rate_limit":"x","evnts":[]}`, 400},
		"webhook_no_url":       {"POST", "/webhooks", `{}`, 400},
		"webhook_list":         {"GET", "/webhooks", "", 200},
		"webhook":              {"GET", "/webhooks/" + webhookID, "", 200},
		"webhook_unknown":      {"GET", "/webhooks/wh_1", "", 404},
		"webhook_off":          {"PATCH", "/webhooks/" + webhookID, `{"enabled":false}`, 200},
		"webhook_no_change":    {"PATCH", "/webhooks/" + webhookID, `{}`, 200},
		"webhook_all_events":   {"PATCH", "/webhooks/" + webhookID, `{"events": null}`, 200},
		"webhook_empty_events": {"PATCH", "/webhooks/" + webhookID, `{"events": []}`, 400},
		"webhook_new_empty":    {"POST", "/webhooks", `{"url": "https://example.com/hooks", "events": []}`, 400},
		"webhook_null":         {"PATCH", "/webhooks/" + webhookID, `{"url":null}`, 400},
		"webhook_deleted":      {"DELETE", "/webhooks/" + webhookID, "", 200},
		"webhook_rotated":      {"POST", "/webhooks/" + webhookID + "/rotate-secret", "", 200},
		"webhook_recovered": {"POST", "/webhooks/" + webhookID + "/recover",
			`{"since":"2026-01-15T09:00:00Z","until":"2026-01-15T10:00:00Z","only_failed":true}`, 200},
		"webhook_recover_never": {"POST", "/webhooks/" + webhookID + "/recover", `{"until":"yesterday"}`, 400},
		"webhook_deliveries":    {"GET", "/webhooks/" + webhookID + "/deliveries?state=failed&limit=3", "", 200},
		"webhook_bad_state":     {"GET", "/webhooks/" + webhookID + "/deliveries?state=lost", "", 400},
		"webhook_delivery":      {"GET", "/webhook-deliveries/" + webhookDeliveryID, "", 200},
		"webhook_no_delivery":   {"GET", "/webhook-deliveries/whd_1", "", 404},
		"webhook_replayed":      {"POST", "/webhook-deliveries/" + webhookDeliveryID + "/replay", "", 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundleFor(t, "/api"+c.path)
			got := b.do(t, request{method: c.method, path: "/api" + c.path, body: c.body})
			if got.status != c.status {
				t.Errorf("status %d, want %d: %s", got.status, c.status, got.body)
			}
			expect.Golden(t, "answers/"+name+".json", got.body)
		})
	}
}

// Requests with the same key create one endpoint and return the same response, and the secret is never stored in plain
// text.
func TestWebhookSecretIsReplayedAndStoredSealed(t *testing.T) {
	t.Parallel()
	b := newBundleFor(t, "/api/webhooks")
	q := request{method: "POST", path: "/api/webhooks", body: `{"url":"https://example.com/hooks"}`,
		header: map[string]string{"Idempotency-Key": "k1"}}
	first, second := b.do(t, q), b.do(t, q)
	if first.status != 200 || first.body != second.body || !strings.Contains(first.body, webhookToken) ||
		len(b.webhooks.created) != 1 {
		t.Errorf("%s\n%s\n%d created", first.body, second.body, len(b.webhooks.created))
	}
	for key, kept := range b.store.answers {
		if strings.Contains(string(kept.Body), "whsec_") {
			t.Errorf("the answer under %s holds the secret", key)
		}
	}
}

// With an idempotency key, a delivery is queued again only once, and missed events are recovered only once.
func TestReplayAndRecoverOncePerIdempotencyKey(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{
		"/api/webhook-deliveries/" + webhookDeliveryID + "/replay": "",
		"/api/webhooks/" + webhookID + "/recover":                  `{"since":"2026-01-15T09:00:00Z"}`,
	} {
		b := newBundleFor(t, path)
		q := request{method: "POST", path: path, body: body, header: map[string]string{"Idempotency-Key": "k1"}}
		first, second := b.do(t, q), b.do(t, q)
		if first.status != 200 || first.body != second.body || b.webhooks.queued != 1 {
			t.Errorf("%s: %d\n%s\n%s\n%d times", path, first.status, first.body, second.body, b.webhooks.queued)
		}
		q.header = nil
		if b.do(t, q); b.webhooks.queued != 2 {
			t.Errorf("%s without a key: %d times", path, b.webhooks.queued)
		}
	}
}

// A change sets and clears the filter, the description and the header fields.
func TestWebhookChangesSetAndClearOptions(t *testing.T) {
	t.Parallel()
	none := ""
	for body, want := range map[string]webhooks.EndpointChange{
		`{"filter":{"domain_ids":["` + domainID + `"],"tags":[{"name":"kind"},{"name":"env","value":"prod"}]}}`: {
			Filter: &shape.WebhookFilter{DomainIDs: []string{domainID},
				Tags: []shape.TagFilter{{Name: "kind"}, {Name: "env", Value: "prod"}}}},
		`{"filter":null}`:      {Filter: &shape.WebhookFilter{}},
		`{"description":null}`: {Description: &none},
		`{"headers":{"Authorization":"Bearer x","X-A":"********"}}`: {
			Headers: &map[string]string{"Authorization": "Bearer x", "X-A": "********"}},
		`{"headers":null}`: {Headers: &map[string]string{}},
	} {
		b := newBundleFor(t, "/api/webhooks")
		got := b.do(t, request{method: "PATCH", path: "/api/webhooks/" + webhookID, body: body})
		if diff := cmp.Diff(want, b.webhooks.change); got.status != 200 || diff != "" {
			t.Errorf("%s: %d %s\n%s", body, got.status, got.body, diff)
		}
	}
	b := newBundleFor(t, "/api/webhooks")
	for _, wrong := range []string{`{"headers":{"X":1}}`, `{"headers":[]}`, `{"filter":{"tags":["kind"]}}`, `{"filter":{"x":[]}}`} {
		if got := b.do(t, request{method: "PATCH", path: "/api/webhooks/" + webhookID, body: wrong}); got.status != 400 {
			t.Errorf("PATCH with %s returned %d %s, want 400", wrong, got.status, got.body)
		}
	}
}
