package bus_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/event"
)

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	for data, into := range map[*any][]byte{&x: a, &y: b} {
		if err := json.Unmarshal(into, data); err != nil {
			t.Fatal(err)
		}
	}
	return cmp.Equal(x, y)
}

func bounceReason(t *testing.T, f event.Fact) string {
	t.Helper()
	var data event.Email
	if err := json.Unmarshal(f.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data.BounceReason
}

func TestLogIsOldestFirstPerAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(bus.Options{})
	fact := func(account, email string, typ event.Type) event.Fact {
		return event.New(account, typ, time.Now(), event.Email{EmailID: email})
	}
	one := []event.Fact{fact("acc_1", "msg_1", event.EmailSent), fact("acc_1", "msg_1", event.EmailDelivered)}
	two := []event.Fact{fact("acc_1", "msg_2", event.EmailSent)}
	foreign := []event.Fact{fact("acc_2", "msg_3", event.EmailSent)}
	b.publish(on, one[1], foreign[0], two[0], one[0]) // stored in a different order
	found, err := on.Log().Facts(t.Context(), "acc_1", "msg_1", "msg_2", "msg_3", "msg_none")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for subject, facts := range found {
		for _, f := range facts {
			got[subject] = append(got[subject], f.ID)
		}
	}
	if diff := cmp.Diff(map[string][]string{"msg_1": {one[0].ID, one[1].ID}, "msg_2": {two[0].ID}}, got); diff != "" {
		t.Errorf("the timeline differs (-want +got):\n%s", diff)
	}
	none, err := on.Log().Facts(t.Context(), "acc_1")
	if err != nil || len(none) != 0 {
		t.Errorf("without subjects, Facts returned %v, %v", none, err)
	}
}

func TestSweepDeletesOldHandledFacts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := bus.New(b.DB, discard(), bus.Options{})
	on.Register(consumer("later", effect("later"))) // never started: its messages wait
	recent := factsOf(3)
	b.publish(on, recent...)
	waiting := oldFact(t, event.EmailSent)
	b.publish(on, waiting)
	b.restoreIDs(waiting)
	var old []event.Fact
	for range 1203 { // more than two batches
		old = append(old, oldFact(t, event.EmailDelivered)) // no group consumes these
	}
	b.publish(on, old...)
	b.restoreIDs(old...)

	swept, err := on.Sweep(t.Context(), 30*24*time.Hour)
	if err != nil || swept != int64(len(old)) {
		t.Errorf("Sweep returned %d, %v; want %d", swept, err, len(old))
	}
	if n := b.count("SELECT count(*) FROM facts"); n != len(recent)+1 {
		t.Errorf("%d facts remain, want %d", n, len(recent)+1)
	}
	b.exec("UPDATE bus_messages SET created_at = created_at - interval '31 days' WHERE fact_id = $1", waiting.ID)
	if swept, err = on.Sweep(t.Context(), 30*24*time.Hour); err != nil || swept != 1 {
		t.Errorf("Sweep returned %d, %v; want the fact whose message was not consumed", swept, err)
	}
	if n := b.count("SELECT count(*) FROM bus_messages"); n != len(recent) {
		t.Errorf("%d messages remain, want %d", n, len(recent))
	}
	if _, err := on.Sweep(t.Context(), 0); err == nil {
		t.Error("a sweep of all facts was not rejected")
	}
}

// restoreIDs restores the ids with which the facts were created: they were stored under new ones.
func (b bench) restoreIDs(facts ...event.Fact) {
	b.t.Helper()
	for _, update := range []string{"UPDATE facts f SET id = made.id FROM unnest($1::text[]) made (id) WHERE substr(f.id, 15) = substr(made.id, 15)",
		"UPDATE bus_messages SET fact_id = made.id FROM unnest($1::text[]) made (id) WHERE substr(fact_id, 15) = substr(made.id, 15)"} {
		b.exec(update, pq.Array(idsOf(facts)))
	}
}

// oldFact returns a fact that is 40 days old, by its id.
func oldFact(t *testing.T, typ event.Type) event.Fact {
	t.Helper()
	at := time.Now().Add(-40 * 24 * time.Hour)
	f := event.New("acc_1", typ, at, event.Email{EmailID: id.New(id.Email)})
	f.ID = idAt(t, at)
	return f
}
