package webhooks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/webhookdelivery"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/event"
)

// A test event for one endpoint reaches no other, and its delivery is marked as a test. Endpoints of other accounts and
// disabled ones are refused.
func TestDeliversTestEventToOneEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wanted, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	w.addEndpoint(t, ada, "https://other.example.com")
	foreign, _ := w.addEndpoint(t, eve, "https://hooks.example.com")
	fact := event.New(ada, event.EmailBounced, time.Now(), samplePayload(event.EmailBounced))
	made, err := w.DeliverTo(t.Context(), ada, wanted.ID, fact)
	if err != nil || len(made) != 1 {
		t.Fatalf("DeliverTo one endpoint returned %v, %v; want one id", made, err)
	}
	stored, err := w.db.Ent.WebhookDelivery.Query().Where(webhookdelivery.EventID(fact.ID)).Only(t.Context())
	if err != nil || stored.WebhookID != wanted.ID || !sameJSON(t, stored.Data, fact.Data) {
		t.Errorf("the test event is stored as %+v, %v; want its data, for %s only", stored, err, wanted.ID)
	}
	if _, err := w.DeliverTo(t.Context(), ada, foreign.ID, fact); fault.KindOf(err) != fault.NotFound {
		t.Errorf("DeliverTo an endpoint of another account: %v, want NotFound", err)
	}
	w.exec(t, `UPDATE webhooks SET enabled = false WHERE id = $1`, wanted.ID)
	if _, err := w.DeliverTo(t.Context(), ada, wanted.ID, fact); fault.KindOf(err) != fault.Conflict {
		t.Errorf("DeliverTo a disabled endpoint: %v, want Conflict", err)
	}
}

// Summaries mark test events, contain the recipient and the subject, and nothing of other accounts.
func TestSummarizesDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	endpoint, _ := w.addEndpoint(t, ada, "https://hooks.example.com")
	sent := event.Email{EmailID: "msg_1", From: "a@example.com", To: []string{"bob@example.net"}, Subject: "Your receipt",
		Recipient: "carol@example.net"}
	tested := event.New(ada, event.EmailDelivered, time.Now(), sent)
	made, err := w.DeliverTo(t.Context(), ada, endpoint.ID, tested)
	if err != nil {
		t.Fatal(err)
	}
	erased, err := db.All(t.Context(), w.db.SQL, db.Value[string], queueSQL, "evt_01kf0m4w7he6x8q2v5b3n9c1ta", endpoint.ID, ada,
		string(event.EmailSent), time.Now(), "")
	if err != nil || len(erased) != 1 {
		t.Fatalf("queue the delivery of an erased event: %v, %v", erased, err)
	}
	got, err := w.Summaries(t.Context(), ada, append(made, erased...)...)
	want := map[string]Summary{
		made[0]: {Test: true, EmailID: "msg_1", Recipient: "carol@example.net", Subject: "Your receipt"}, erased[0]: {}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Summaries: %v (-want +got):\n%s", err, diff)
	}
	if got, err := w.Summaries(t.Context(), eve, made...); err != nil || len(got) != 0 {
		t.Errorf("Summaries for another account: %v, %v; want none", got, err)
	}
}
