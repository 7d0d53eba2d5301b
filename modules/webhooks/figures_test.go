package webhooks

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
)

// Deliveries are counted for each endpoint of the account and for all together, within the range and no
// others.
func TestFiguresOfEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, _ := w.endpoint(t, ada, "https://a.example/")
	quiet, _ := w.endpoint(t, ada, "https://b.example/")
	theirs, _ := w.endpoint(t, eve, "https://c.example/")
	now := time.Now().UTC().Truncate(time.Second)
	put := func(account, webhook, state string, attempts int, age, took time.Duration) {
		t.Helper()
		w.exec(t, `INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts, replays, error, created_at, settled_at)
			VALUES ($1, $2, $3, $4, 'email.sent', $5, $6, $7, 0, '', $5, $8)`, id.Since(id.WebhookDelivery, now.Add(-age))[:8]+id.New(id.WebhookDelivery)[8:], account, webhook, id.New(id.Fact), now.Add(-age), state, attempts, now.Add(took-age))
	}
	for _, took := range []time.Duration{time.Second, 2 * time.Second, 9 * time.Second} {
		put(ada, mine.ID, "delivered", 1, time.Hour, took)
	}
	put(ada, mine.ID, "failed", 5, time.Hour, 0)
	put(ada, mine.ID, "pending", 2, time.Hour, 0)
	put(ada, mine.ID, "delivered", 1, 48*time.Hour, time.Second)
	put(eve, theirs.ID, "delivered", 1, time.Hour, time.Second)

	all, each, err := w.Figures(t.Context(), ada, "", now.Add(-24*time.Hour), now)
	want := Figures{Deliveries: 5, Succeeded: 3, Failed: 1, Attempts: 10, Half: 2 * time.Second, Most: 9 * time.Second}
	if err != nil || all != want || len(each) != 2 || each[0].Figures != want || each[1].Webhook.ID != quiet.ID || each[1].Figures != (Figures{}) {
		t.Errorf("the figures are %+v, of each %+v, %v; want %+v", all, each, err, want)
	}
	if _, _, err := w.Figures(t.Context(), ada, theirs.ID, now.Add(-time.Hour), now); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the figures of another's endpoint: %v, want not found", err)
	}
	for _, since := range []time.Time{now, now.Add(time.Hour), now.Add(-32 * 24 * time.Hour)} {
		if _, _, err := w.Figures(t.Context(), ada, "", since, now); fault.From(err).Fields["range"] == "" {
			t.Errorf("since %v before the end: %v, want a refusal that names the range", now.Sub(since), err)
		}
	}
}
