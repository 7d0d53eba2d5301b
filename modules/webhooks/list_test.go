package webhooks

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/page"
)

func TestFiltersEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all, _ := w.addEndpoint(t, ada, "https://a.example/")
	off, _ := w.addEndpoint(t, ada, "https://b.example/")
	w.exec(t, `UPDATE webhooks SET enabled = false, events = '["email.bounced"]' WHERE id = $1`, off.ID)
	w.addEndpoint(t, eve, "https://c.example/")
	yes, no := true, false
	for name, c := range map[string]struct {
		filter EndpointFilter
		want   string
	}{
		"all":                    {EndpointFilter{}, off.ID + " " + all.ID},
		"enabled":                {EndpointFilter{Enabled: &yes}, all.ID},
		"disabled":               {EndpointFilter{Enabled: &no}, off.ID},
		"with an event":          {EndpointFilter{Event: "email.bounced"}, off.ID + " " + all.ID},
		"with another event":     {EndpointFilter{Event: "email.opened"}, all.ID},
		"disabled with an event": {EndpointFilter{Event: "email.opened", Enabled: &no}, ""},
	} {
		found, err := w.ListFiltered(t.Context(), ada, c.filter, page.Request{Limit: 10})
		var ids []string
		for _, e := range found.Items {
			ids = append(ids, e.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		if n, err := w.Count(t.Context(), ada, c.filter, 10); err != nil || n != len(found.Items) {
			t.Errorf("%s: Count = %d, %v; List returned %d", name, n, err, len(found.Items))
		}
	}
	for _, event := range []string{"email.nothing", "\x00"} {
		if _, err := w.ListFiltered(t.Context(), ada, EndpointFilter{Event: event},
			page.Request{Limit: 10}); fault.Classify(err).Fields["event"] == "" {
			t.Errorf("event %q returned %v, want an error in field event", event, err)
		}
	}
}

// Deliveries can be filtered by state, event and time. Latest and DeliveriesOfSubjects cover several endpoints
// or subjects in one call. None of them returns deliveries of another account.
func TestFiltersDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, _ := w.addEndpoint(t, ada, "https://a.example/")
	b, _ := w.addEndpoint(t, ada, "https://b.example/")
	theirs, _ := w.addEndpoint(t, eve, "https://c.example/")
	now := time.Now().UTC().Truncate(time.Second)
	for i, state := range []string{"delivered", "failed", "failed", "delivered"} {
		w.addDelivery(t, ada, a.ID, state, 1, now.Add(-time.Duration(4-i)*time.Hour), time.Second)
	}
	w.addDelivery(t, ada, b.ID, "failed", 1, now.Add(-time.Hour), time.Second)
	w.addDelivery(t, eve, theirs.ID, "failed", 1, now.Add(-time.Hour), time.Second)

	since, until := now.Add(-3*time.Hour), now.Add(-time.Hour)
	for name, c := range map[string]struct {
		filter Filter
		want   int
	}{
		"all": {Filter{}, 4}, "failed": {Filter{State: "failed"}, 2}, "delivered": {Filter{State: "delivered"}, 2},
		"pending": {Filter{State: "pending"}, 0}, "with the event": {Filter{Event: "email.sent"}, 4}, "with another event": {Filter{Event: "email.bounced"}, 0},
		"since": {Filter{Since: &since}, 3}, "until": {Filter{Until: &until}, 3}, "between": {Filter{Since: &since, Until: &until}, 2},
	} {
		c.filter.Request = page.Request{Limit: 10}
		found, err := w.Deliveries(t.Context(), ada, a.ID, c.filter)
		if n, failed := w.CountDeliveries(t.Context(), ada, a.ID, c.filter, 10); err != nil || failed != nil ||
			len(found.Items) != c.want || n != c.want {
			t.Errorf("%s: %d listed (%v), %d counted (%v), want %d", name, len(found.Items), err, n, failed, c.want)
		}
	}
	if _, err := w.Deliveries(t.Context(), ada, a.ID,
		Filter{Request: page.Request{Limit: 10}, Since: &until, Until: &since}); fault.Classify(err).Fields["since"] == "" {
		t.Errorf("since after until returned %v, want an error in field since", err)
	}

	latest, err := w.Latest(t.Context(), ada, "failed", 1, a.ID, b.ID, theirs.ID)
	if err != nil || len(latest) != 2 || len(latest[a.ID]) != 1 || len(latest[b.ID]) != 1 ||
		!latest[a.ID][0].CreatedAt.Equal(now.Add(-2*time.Hour)) {
		t.Errorf("latest failed deliveries: %v, %v; want one per endpoint", latest, err)
	}
	if latest, err = w.Latest(t.Context(), ada, "", 3, a.ID); err != nil || len(latest[a.ID]) != 3 ||
		!newestFirst(latest[a.ID]) {
		t.Errorf("latest three deliveries: %v, %v; want 3, newest first", latest[a.ID], err)
	}

	subject := id.New(id.ReceivedEmail)
	w.exec(t,
		`INSERT INTO facts (id, account_id, subject_id, type, data, created_at) SELECT event_id, account_id, $1, 'email.received', '{}', now() FROM webhook_deliveries WHERE webhook_id = $2`, subject, b.ID)
	of := func(ctx context.Context, account string) int {
		found, err := w.DeliveriesOfSubjects(ctx, account, subject, id.New(id.ReceivedEmail))
		if err != nil {
			t.Fatal(err)
		}
		return len(found[subject])
	}
	if mine, others := of(t.Context(), ada), of(t.Context(), eve); mine != 1 || others != 0 {
		t.Errorf("the received email has %d deliveries for its account and %d for another, want 1 and 0", mine, others)
	}
}

func newestFirst(list []*ent.WebhookDelivery) bool {
	for i := 1; i < len(list); i++ {
		if !list[i].CreatedAt.Before(list[i-1].CreatedAt) {
			return false
		}
	}
	return true
}
