package webhooks

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// addDelivery inserts a delivery that was created at the given time and settled after took.
func (w *world) addDelivery(t *testing.T, account, webhook, state string, attempts int, at time.Time,
	took time.Duration) {
	t.Helper()
	least := id.Since(id.WebhookDelivery, at)
	w.exec(t, `INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts, replays, error, created_at, settled_at, failed)
		VALUES ($1, $2, $3, $4, 'email.sent', $5, $6::varchar, $7, 0, '', $5, $8, CASE WHEN $6::varchar = 'failed' THEN true END)`, least[:len(least)-12]+id.New(id.WebhookDelivery)[len(least)-12:], account, webhook, id.New(id.Fact), at, state, attempts, at.Add(took))
}

// Deliveries in the range are counted in total and per endpoint of the account.
func TestEndpointStatistics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, _ := w.addEndpoint(t, ada, "https://a.example/")
	quiet, _ := w.addEndpoint(t, ada, "https://b.example/")
	theirs, _ := w.addEndpoint(t, eve, "https://c.example/")
	now := time.Now().UTC().Truncate(time.Second)
	put := func(account, webhook, state string, attempts int, age, took time.Duration) {
		t.Helper()
		w.addDelivery(t, account, webhook, state, attempts, now.Add(-age), took)
	}
	for _, took := range []time.Duration{time.Second, 2 * time.Second, 9 * time.Second} {
		put(ada, mine.ID, "delivered", 1, time.Hour, took)
	}
	put(ada, mine.ID, "failed", 5, time.Hour, 0)
	put(ada, mine.ID, "pending", 2, time.Hour, 0)
	put(ada, mine.ID, "delivered", 1, 48*time.Hour, time.Second)
	put(eve, theirs.ID, "delivered", 1, time.Hour, time.Second)

	ask := func(webhookID string, since time.Time) (DeliveryStatistics, error) {
		return w.QueryStatistics(t.Context(), ada, webhookID,
			timeseries.Query{Range: timeseries.Range{Since: since, Until: now},
				Interval: timeseries.Hour, Timezone: "UTC"})
	}
	got, err := ask("", now.Add(-24*time.Hour))
	all, each := got.Totals, got.Endpoints
	want := DeliveryCounts{Deliveries: 5, Succeeded: 3, Failed: 1, Attempts: 10, Half: 2 * time.Second,
		Most: 9 * time.Second}
	if err != nil || all != want || len(each) != 2 || each[0].Figures != want || each[1].Webhook.ID != quiet.ID ||
		each[1].Figures != (DeliveryCounts{}) {
		t.Errorf("totals %+v, endpoints %+v, %v; want %+v", all, each, err, want)
	}
	if one, err := ask(quiet.ID, now.Add(-time.Hour)); err != nil || len(one.Endpoints) != 1 ||
		one.Totals != (DeliveryCounts{}) {
		t.Errorf("statistics of an endpoint without deliveries: %+v, %v; want zeros", one, err)
	}
	if _, err := ask(theirs.ID, now.Add(-time.Hour)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("statistics of another account's endpoint returned %v, want not found", err)
	}
	for _, since := range []time.Time{now, now.Add(time.Hour), now.Add(-32 * 24 * time.Hour)} {
		if _, err := ask("", since); fault.Classify(err).Fields["range"] == "" {
			t.Errorf("since %v before the end returned %v, want an error in field range", now.Sub(since), err)
		}
	}
}

// Results have one bucket per period in the time zone, including empty ones. Deliveries outside the periods are
// not counted.
func TestStatisticsByPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, _ := w.addEndpoint(t, ada, "https://a.example/")
	other, _ := w.addEndpoint(t, ada, "https://b.example/")
	theirs, _ := w.addEndpoint(t, eve, "https://c.example/")
	day := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	vienna := day.Add(-time.Hour) // midnight in Vienna
	for _, d := range []struct {
		account, webhook, state string
		attempts                int
		at                      time.Time
		took                    time.Duration
	}{
		{ada, mine.ID, "delivered", 1, vienna.Add(-time.Second), time.Hour}, // the day before
		{ada, mine.ID, "delivered", 1, vienna, time.Second},
		{ada, other.ID, "failed", 8, vienna.Add(24*time.Hour - time.Second), 0},
		{ada, other.ID, "delivered", 2, vienna.Add(48 * time.Hour), 3 * time.Second},
		{ada, mine.ID, "pending", 1, vienna.Add(50 * time.Hour), 0},
		{ada, mine.ID, "delivered", 1, vienna.Add(72 * time.Hour), time.Hour}, // the day after
		{eve, theirs.ID, "delivered", 1, vienna, time.Hour},
	} {
		w.addDelivery(t, d.account, d.webhook, d.state, d.attempts, d.at, d.took)
	}
	q := timeseries.Query{Range: timeseries.Range{Since: day.Add(9 * time.Hour),
		Until: day.Add(48*time.Hour + time.Minute)}, Interval: timeseries.Day, Timezone: "Europe/Vienna"}
	got, err := w.QueryStatistics(t.Context(), ada, "", q)
	want := DeliveryStatistics{
		Totals: DeliveryCounts{Deliveries: 4, Succeeded: 2, Failed: 1, Attempts: 12, Half: time.Second,
			Most: 3 * time.Second},
		Buckets: []timeseries.Bucket[DeliveryCounts]{
			{Start: vienna, Figures: DeliveryCounts{Deliveries: 2, Succeeded: 1, Failed: 1, Attempts: 9, Half: time.Second, Most: time.Second}},
			{Start: vienna.Add(24 * time.Hour)},
			{Start: vienna.Add(48 * time.Hour), Figures: DeliveryCounts{Deliveries: 2, Succeeded: 1, Attempts: 3,
				Half: 3 * time.Second, Most: 3 * time.Second}},
		},
		Endpoints: []EndpointFigures{
			{Webhook: mine, Figures: DeliveryCounts{Deliveries: 2, Succeeded: 1, Attempts: 2, Half: time.Second, Most: time.Second}},
			{Webhook: other, Figures: DeliveryCounts{Deliveries: 2, Succeeded: 1, Failed: 1, Attempts: 10, Half: 3 * time.Second, Most: 3 * time.Second}},
		},
	}
	byID := cmp.Comparer(func(a, b *ent.Webhook) bool { return a.ID == b.ID })
	if diff := cmp.Diff(want, got, byID); err != nil || diff != "" {
		t.Errorf("Ask returned error %v, result (-want +got):\n%s", err, diff)
	}
	alone, err := w.QueryStatistics(t.Context(), ada, other.ID, q)
	if err != nil || len(alone.Endpoints) != 1 || alone.Totals != want.Endpoints[1].Figures ||
		alone.Buckets[0].Figures.Deliveries != 1 {
		t.Errorf("Ask for one endpoint returned %+v, %v", alone, err)
	}
	if _, err := w.QueryStatistics(t.Context(), ada, theirs.ID, q); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Ask for another account's endpoint returned %v, want not found", err)
	}
	for field, change := range map[string]func(*timeseries.Query){
		"range":    func(q *timeseries.Query) { q.Range.Until = q.Range.Since },
		"range ":   func(q *timeseries.Query) { q.Range.Since = q.Range.Until.AddDate(0, 0, -32) },
		"interval": func(q *timeseries.Query) { q.Interval = "minute" },
		"timezone": func(q *timeseries.Query) { q.Timezone = "Mars/Olympus" },
	} {
		asked := q
		change(&asked)
		if _, err := w.QueryStatistics(t.Context(), ada, "", asked); fault.Classify(err).
			Fields[strings.TrimSpace(field)] == "" {
			t.Errorf("invalid %s returned %v, want an error in that field", field, err)
		}
	}
}
