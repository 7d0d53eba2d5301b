package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/webhookattempt"
	"github.com/postrider/postrider/ent/webhookdelivery"
	module "github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// fakeWebhooks has two endpoints of ada and one of bob, each with one delivery.
type fakeWebhooks struct{ *calls }

func someWebhooks() []*ent.Webhook {
	var rows []*ent.Webhook
	for i, n := range []int{2, 1, 999} {
		rate, at := 20, day
		row := &ent.Webhook{ID: fmt.Sprintf("wh_%03d", n), AccountID: []string{ada, ada, bob}[i],
			URL: "https://example.com/hooks", Enabled: true, RateLimit: &rate,
			Secret: []byte("never shown"), CreatedAt: day, UpdatedAt: day}
		if n == 1 {
			row.Enabled, row.DisabledAt, row.DisabledReason, row.RateLimit = false, &at, module.ReasonGone, nil
		}
		rows = append(rows, row)
	}
	return rows
}

func (f fakeWebhooks) List(_ context.Context, accountID string, r page.Request) (page.Page[*ent.Webhook], error) {
	out, err := paged(someWebhooks(), func(w *ent.Webhook) (string, string) { return w.AccountID, w.ID }, "webhooks",
		accountID, r)
	return out, orElse(err, f.call("webhooks.List"))
}

func (f fakeWebhooks) ListFiltered(ctx context.Context, accountID string, of module.EndpointFilter,
	r page.Request) (page.Page[*ent.Webhook], error) {
	out, err := f.List(ctx, accountID, r)
	out.Items = slices.DeleteFunc(out.Items,
		func(w *ent.Webhook) bool { return of.Enabled != nil && *of.Enabled != w.Enabled })
	return out, err
}

func (f fakeWebhooks) Count(ctx context.Context, accountID string, of module.EndpointFilter, most int) (int, error) {
	n, err := lengthOf(f.ListFiltered(ctx, accountID, of, whole))
	return min(n, most), err
}

func (f fakeWebhooks) CountDeliveries(ctx context.Context, accountID, webhookID string, q module.Filter,
	most int) (int, error) {
	q.Request = whole
	n, err := lengthOf(f.Deliveries(ctx, accountID, webhookID, q))
	return min(n, most), err
}

func (f fakeWebhooks) Get(_ context.Context, accountID, id string) (*ent.Webhook, error) {
	for _, w := range someWebhooks() {
		if w.ID == id && w.AccountID == accountID {
			return w, f.call("webhooks.Get")
		}
	}
	return nil, fault.NoSuch("webhook", id)
}

func (f fakeWebhooks) GetMany(_ context.Context, accountID string, ids ...string) (map[string]*ent.Webhook, error) {
	out := map[string]*ent.Webhook{}
	for _, w := range someWebhooks() {
		if slices.Contains(ids, w.ID) && w.AccountID == accountID {
			out[w.ID] = w
		}
	}
	return out, f.call("Webhooks.Several")
}

// DeliveriesOfEvents returns a delivery of each event.
func (f fakeWebhooks) DeliveriesOfEvents(_ context.Context, accountID string,
	ids ...string) (map[string][]*ent.WebhookDelivery, error) {
	out := map[string][]*ent.WebhookDelivery{}
	for _, id := range ids {
		out[id] = []*ent.WebhookDelivery{{ID: "whd_of_" + id, AccountID: accountID, WebhookID: "wh_001", EventID: id,
			EventType: "email.delivered", EventCreatedAt: day, State: "delivered", CreatedAt: day}}
	}
	return out, f.call("DeliveriesOfEvents")
}

// DeliveriesOfSubjects returns a delivery about each subject.
func (f fakeWebhooks) DeliveriesOfSubjects(_ context.Context, accountID string,
	ids ...string) (map[string][]*ent.WebhookDelivery, error) {
	out := map[string][]*ent.WebhookDelivery{}
	for _, id := range ids {
		out[id] = []*ent.WebhookDelivery{{ID: "whd_of_" + id, AccountID: accountID, WebhookID: "wh_001",
			EventType: "email.received", State: "delivered", CreatedAt: day}}
	}
	return out, f.call("DeliveriesOfSubjects")
}

// Latest returns the requested number of deliveries to each endpoint, all in the state.
func (f fakeWebhooks) Latest(_ context.Context, accountID, state string, most int,
	ids ...string) (map[string][]*ent.WebhookDelivery, error) {
	out := map[string][]*ent.WebhookDelivery{}
	for _, id := range ids {
		for n := range most {
			out[id] = append(out[id], &ent.WebhookDelivery{ID: fmt.Sprintf("whd_%d_of_%s", n, id), AccountID: accountID,
				WebhookID: id, EventType: "email.bounced", State: webhookdelivery.State(state), CreatedAt: day})
		}
	}
	return out, f.call("Latest")
}

func (f fakeWebhooks) QueryStatistics(_ context.Context, _, _ string,
	q timeseries.Query) (module.DeliveryStatistics, error) {
	figures := module.DeliveryCounts{Deliveries: 4, Succeeded: 2, Failed: 1, Attempts: 5, Half: time.Second,
		Most: 2 * time.Second}
	return module.DeliveryStatistics{Totals: figures,
		Buckets:   []timeseries.Bucket[module.DeliveryCounts]{{Start: q.Range.Since, Figures: figures}},
		Endpoints: []module.EndpointFigures{{Webhook: someWebhooks()[0], Figures: figures}}}, f.call("Ask")
}

func (f fakeWebhooks) Events(*ent.Webhook) []string { return []string{"email.bounced"} }

func (f fakeWebhooks) Deliveries(ctx context.Context, accountID, webhookID string,
	q module.Filter) (page.Page[*ent.WebhookDelivery], error) {
	if _, err := f.Get(ctx, accountID, webhookID); err != nil {
		return page.Page[*ent.WebhookDelivery]{}, err
	}
	if _, err := codec.Open(page.List{Name: "webhook deliveries/" + webhookID, AccountID: accountID},
		q.Request); err != nil {
		return page.Page[*ent.WebhookDelivery]{}, err
	}
	d, err := f.Delivery(ctx, accountID, "whd"+webhookID[2:])
	if q.State != "" {
		d.EventType = q.State
	}
	out := page.Page[*ent.WebhookDelivery]{Items: []*ent.WebhookDelivery{d}, Cursors: []string{d.ID}}
	for n := 1; n < q.Limit && n < 3; n++ {
		more := *d
		more.ID = fmt.Sprintf("%s_%d", d.ID, n)
		out.Items, out.Cursors = append(out.Items, &more), append(out.Cursors, more.ID)
	}
	return out, err
}

func (f fakeWebhooks) Delivery(_ context.Context, accountID, id string) (*ent.WebhookDelivery, error) {
	at, status := day, 500
	for _, w := range someWebhooks() {
		if "whd"+w.ID[2:] == id && w.AccountID == accountID {
			return &ent.WebhookDelivery{ID: id, AccountID: accountID, WebhookID: w.ID, EventID: "evt_001",
				EventType: "email.bounced", State: "failed", Attempts: 5,
				StatusCode: &status, CreatedAt: day, SettledAt: &at}, f.call("Delivery")
		}
	}
	return nil, fault.NoSuch("webhook delivery", id)
}

func (f fakeWebhooks) Summaries(_ context.Context, _ string, ids ...string) (map[string]module.Summary, error) {
	found := map[string]module.Summary{}
	for _, id := range ids {
		found[id] = module.Summary{EmailID: "msg_001", Recipient: "bob@example.net", Subject: "Hello"}
	}
	return found, f.call("webhooks.Summaries")
}

func (f fakeWebhooks) Attempts(_ context.Context, _ string, ids ...string) (map[string][]*ent.WebhookAttempt, error) {
	outcome, status, took := webhookattempt.OutcomeFailed, 500, 12
	found := map[string][]*ent.WebhookAttempt{}
	for _, id := range ids {
		found[id] = []*ent.WebhookAttempt{
			{Number: 1, StartedAt: day, FinishedAt: &day, Outcome: &outcome, StatusCode: &status, Response: "broken",
				ResponseHeaders: "Retry-After: 3\nX-Request-Id: r-1\n",
				RemoteAddr:      "203.0.113.7:443", DurationMs: &took},
			{Number: 2, StartedAt: day},
		}
	}
	return found, f.call("webhooks.Attempts")
}

func TestWebhooksAnswerEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ webhook(id: "wh_001") `+everything(t, "Webhook")+` webhooks(first: 1) `+
		everything(t, "WebhookConnection")+
		` webhookDelivery(id: "whd_001") `+everything(t, "WebhookDelivery")+
		` webhookDeliveries(webhookId: "wh_002", first: 1) `+everything(t, "WebhookDeliveryConnection")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of webhooks got status %d and %s, want 200 without errors", a.status, a.body)
	}
	expect.Golden(t, "webhooks.json", indented(t, a.body))
	a = s.ask(t, `{ webhookDeliveries(webhookId: "wh_999") { nodes { id } } }`, nil)
	same(t, "bob's", map[string]any{"webhookDeliveries": nil}, a.Data)
	a = s.ask(t,
		`{ webhookDeliveries(webhookId: "wh_001", filter: {state: FAILED}, first: 1) { nodes { eventType } } }`, nil)
	same(t, "filtered",
		map[string]any{"webhookDeliveries": map[string]any{"nodes": []any{map[string]any{"eventType": "failed"}}}},
		a.Data)
}

// The attempts of a page of deliveries are loaded once.
func TestAttemptsOfDeliveriesAreAskedForOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t,
		`{ webhookDeliveries(webhookId: "wh_001", first: 3) { nodes { id attempts { number } again: attempts { outcome } } } }`, nil)
	if a.status != 200 || len(a.Errors) != 0 || strings.Count(a.body, `"number":2`) != 3 {
		t.Errorf("the attempts of a page of deliveries got status %d and %s, want 200 with a second attempt for each of 3", a.status, a.body)
	}
	if n := s.calls.counted()["webhooks.Attempts"]; n != 1 {
		t.Errorf("asked %d times", n)
	}
}
