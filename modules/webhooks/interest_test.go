package webhooks

import (
	"testing"

	"github.com/postrider/postrider/runtime/event"
)

// Facts of accounts without an endpoint do not go over the bus, and what another
// process published before it had heard of an endpoint is delivered all the same.
func TestOnlyAccountsWithEndpointsAreHeardOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.reread(t.Context()); err != nil {
		t.Fatal(err)
	}
	const messages = `SELECT count(*) FROM bus_messages WHERE consumer = 'webhooks'`
	w.happens(t, ada, event.EmailSent)
	if n := w.count(t, messages); n != 0 {
		t.Fatalf("%d messages for an account without endpoints", n)
	}
	r := newReceiver(t)
	hook, _ := w.endpoint(t, ada, r.URL, string(event.EmailDelivered))
	w.happens(t, ada, event.EmailDelivered)
	if n := w.count(t, messages); n != 1 {
		t.Fatalf("%d messages, want that of the account that has an endpoint now", n)
	}
	// Another process, which has not heard.
	w.interest.set(map[string]int{})
	missed := w.happens(t, ada, event.EmailDelivered)
	w.happens(t, ada, event.EmailSent) // nobody asked for it
	if n := w.count(t, messages); n != 1 {
		t.Fatalf("%d messages of a process that knows of no endpoint", n)
	}
	if err := w.reread(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !w.interest.wants(ada) || w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE webhook_id = $1 AND event_id = $2`, hook.ID, missed.ID) != 1 {
		t.Error("what was missed is not queued")
	}
	if n := w.count(t, `SELECT count(*) FROM webhook_deliveries WHERE event_type = 'email.sent'`); n != 0 {
		t.Errorf("%d deliveries that nobody asked for", n)
	}
}
