package webhooks

import (
	"database/sql"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/event"
)

// TestEventBodiesMatchGolden publishes a sample of each event type and compares the exact bytes that the
// endpoint receives. Changing these golden files changes the API contract.
func TestEventBodiesMatchGolden(t *testing.T) {
	t.Parallel()
	w := newWorld(t).run(t)
	r := newReceiver(t)
	w.addEndpoint(t, ada, r.URL)
	types := map[string]event.Type{} // keyed by event id
	for _, entry := range event.Catalog() {
		fact := event.New(ada, entry.Type, time.Date(2026, 1, 15, 9, 30, 0, 123_456_789, time.UTC), entry.Sample)
		types[fact.ID] = entry.Type
		if err := w.db.InHotTx(t.Context(),
			func(tx *sql.Tx) error { return w.bus.Publish(t.Context(), tx, fact) }); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all events are delivered", func() bool { return len(r.received()) == len(types) })
	for _, got := range r.received() {
		name := types[got.header.Get("Service-Event-Id")]
		delete(types, got.header.Get("Service-Event-Id"))
		expect.Golden(t, "bodies/"+string(name)+".json", got.body)
	}
	if len(types) > 0 {
		t.Errorf("not delivered: %v", types)
	}
}
