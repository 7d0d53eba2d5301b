package suppression

import (
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

func bounced(recipient string, b event.Bounce) event.Email {
	return event.Email{EmailID: about, Recipient: recipient, Bounce: &b}
}

// handled passes one fact to the consumer.
func handled(t testing.TB, w *world, typ event.Type, data event.Email) {
	t.Helper()
	err := w.db.InTx(t.Context(), func(tx *ent.Tx) error {
		return w.handle(t.Context(), tx, event.New(ada, typ, time.Now(), data))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBusDeliversBouncesToList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := bus.New(w.db, slog.New(slog.DiscardHandler), bus.Options{Poll: 10 * time.Millisecond})
	b.Register(w.consumer())
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	err := w.db.InTx(t.Context(), func(tx *ent.Tx) error {
		return b.Publish(t.Context(), tx,
			event.New(ada, event.EmailBounced, time.Now(),
				bounced("Bob@example.net", event.Bounce{Code: 550, EnhancedCode: "5.1.1"})),
			event.New(ada, event.EmailFailed, time.Now(), event.Email{EmailID: about, Recipient: "nowhere@example.net",
				Failure: &event.Failure{Code: "null_mx"}}),
			event.New(ada, event.EmailComplained, time.Now(),
				event.Email{EmailID: about, Recipient: "cross@example.net",
					Complaint: &event.Complaint{Type: "abuse"}}),
			event.New(ada, event.EmailFailed, time.Now(),
				event.Email{EmailID: about, Recipient: "fat@example.net", Failure: &event.Failure{Code: "size"}}))
	})
	if err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, 10*time.Second, "all facts are handled", func() bool {
		return w.count(t, `SELECT count(*) FROM bus_messages`) == 0
	})
	for email, reason := range map[string]string{"bob@example.net": "bounce", "nowhere@example.net": "failure",
		"cross@example.net": "complaint"} {
		row, err := w.Get(t.Context(), ada, email)
		if err != nil {
			t.Error(err)
			continue
		}
		if string(row.Reason) != reason || *row.EmailID != about || *row.Email != email {
			t.Errorf("the suppression of %s is %+v, want reason %s and the email %s", email, row, reason, about)
		}
	}
	if n := w.count(t, `SELECT count(*) FROM suppressions`); n != 3 {
		t.Errorf("%d addresses are suppressed, want only the 3 above, not the one whose mail was too large", n)
	}
}

func TestHandlingFactTwiceHasOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	data := bounced("bob@example.net", event.Bounce{Code: 550, EnhancedCode: "5.1.1"})
	handled(t, w, event.EmailBounced, data)
	handled(t, w, event.EmailBounced, data)
	handled(t, w, event.EmailComplained, data)
	if facts := w.facts(t, event.SuppressionAdded); len(facts) != 1 {
		t.Errorf("got the facts %v", facts)
	}
	if row, err := w.Get(t.Context(), ada, "bob@example.net"); err != nil || row.Reason != "bounce" {
		t.Errorf("after a bounce and a complaint, the suppression is %v, %v, want the reason bounce", row, err)
	}
}

func TestInvalidFactIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	err := w.db.InTx(t.Context(), func(tx *ent.Tx) error {
		return w.handle(t.Context(), tx,
			event.Fact{AccountID: ada, Type: event.EmailBounced, Data: []byte(`{"bounce":1}`)})
	})
	if err == nil {
		t.Error("handling an invalid fact returned no error, so the bus would not retry it")
	}
}
