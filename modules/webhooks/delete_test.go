package webhooks

import (
	"database/sql"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/work/event"
)

// A delivery created while its endpoint is being deleted, by a transaction that began before the deletion and
// commits after it, must not stay pending forever.
func TestFanoutDuringEndpointDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t)
	made, _ := w.addEndpoint(t, ada, r.URL)
	stays, _ := w.addEndpoint(t, ada, r.URL)
	fact := w.publishSample(t, ada, event.EmailSent)
	err := w.db.InHotTx(t.Context(), func(tx *sql.Tx) error {
		if err := w.handleFact(t.Context(), tx, fact); err != nil {
			return err
		}
		return w.Delete(t.Context(), ada, made.ID) // cannot see uncommitted deliveries
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := func() int {
		return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'pending'`, made.ID)
	}
	if waiting() != 1 {
		t.Fatal("want one pending delivery of the deleted endpoint before the claim")
	}
	jobs, err := w.claim(t.Context(), 10, time.Minute)
	if err != nil || len(jobs) != 1 || jobs[0].webhookID != stays.ID {
		t.Fatalf("claimed %+v, %v", jobs, err)
	}
	if waiting() != 0 || w.count(t,
		`SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND state = 'failed' AND due_at IS NULL AND error = $2`, made.ID, endpointDeleted) != 1 {
		t.Error("the delivery of the deleted endpoint has not failed")
	}
}

// Attempts returns the attempts of several deliveries in one call, and nothing for another account.
func TestListAttemptsOfSeveralDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	made, _ := w.addEndpoint(t, ada, r.URL)
	for range 3 {
		w.publishSample(t, ada, event.EmailSent)
	}
	eventually(t, "all are delivered", func() bool {
		return w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'delivered'`) == 3
	})
	list, err := w.Deliveries(t.Context(), ada, made.ID, Filter{Request: page.Request{Limit: 10}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range list.Items {
		ids = append(ids, d.ID)
	}
	found, err := w.Attempts(t.Context(), ada, ids...)
	if err != nil || len(found) != 3 || len(found[ids[0]]) != 1 || found[ids[0]][0].DeliveryID != ids[0] {
		t.Errorf("Attempts returned %v, %v; want the attempts of 3 deliveries", found, err)
	}
	if found, err := w.Attempts(t.Context(), eve, ids...); err != nil || len(found) != 0 {
		t.Errorf("Attempts for another account returned %v, %v; want none", found, err)
	}
}
