package records_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/work/event"
)

func (f *fixture) announce(t *testing.T, notices ...records.Notice) int {
	t.Helper()
	var known int
	err := f.DB.InHotTx(t.Context(), func(tx *sql.Tx) (err error) {
		known, err = f.Announce(context.WithoutCancel(t.Context()), tx, notices...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestAnnouncedEventsCarryTheEmail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := rooms.SimpleMessage("Bob <bob@example.net>")
	m.CC, m.Tags = nil, []shape.Tag{{Name: "kind", Value: "receipt"}}
	one, two := f.Send(t, m), f.Send(t, rooms.SimpleMessage("a@example.net", "b@example.net"))
	open := func(data *event.Email) { data.Open = &event.Open{IP: "203.0.113.7", UserAgent: "x"} }
	known := f.announce(t,
		records.Notice{AccountID: sendingtest.Account, EmailID: one, Type: event.EmailOpened, Fill: open},
		records.Notice{AccountID: sendingtest.Account, EmailID: two, Type: event.EmailOpened, Fill: open},
		records.Notice{AccountID: sendingtest.Account, EmailID: one, Type: event.EmailClicked,
			Fill: func(data *event.Email) {
				data.Click = &event.Click{URL: "https://example.com/", IP: "203.0.113.7", UserAgent: "x"}
			}})
	if known != 3 {
		t.Errorf("%d of 3 notices were known", known)
	}
	e, _, _, types := f.State(t, one)
	if diff := cmp.Diff([]string{"email.sent", "email.opened", "email.clicked"}, types); diff != "" ||
		e.LastEvent != "email.clicked" {
		t.Errorf("last_event %s, facts (-want +got):\n%s", e.LastEvent, diff)
	}
	facts, err := f.Timeline(t.Context(), sendingtest.Account, one, two)
	if err != nil {
		t.Fatal(err)
	}
	var got, of2 event.Email
	if err := json.Unmarshal(facts[one][1].Data, &got); err != nil {
		t.Fatal(err)
	}
	want := event.Email{EmailID: one, From: "Ada <ada@example.com>", To: []string{"Bob <bob@example.net>"},
		CC: []string{}, Subject: "Hello", Status: "delivered", EmailStatus: "sent",
		Tags: m.Tags, CreatedAt: event.NewTime(e.CreatedAt), Recipient: "bob@example.net",
		Open: &event.Open{IP: "203.0.113.7", UserAgent: "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal(facts[two][1].Data, &of2); err != nil || of2.Recipient != "" {
		t.Errorf("an email with two recipients was announced for %q (%v)", of2.Recipient, err)
	}
}

func TestUnknownEmailsAreNotAnnounced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.Send(t, rooms.SimpleMessage("bob@example.net"))
	fill := func(*event.Email) { t.Error("a payload was made for an email that the account does not have") }
	known := f.announce(t,
		records.Notice{AccountID: "acc_01kf0m4w7he6x8q2v5b3n9c1tb", EmailID: id, Type: event.EmailOpened, Fill: fill},
		records.Notice{AccountID: sendingtest.Account, EmailID: "msg_01kf0m4w7he6x8q2v5b3n9c1tb",
			Type: event.EmailOpened, Fill: fill})
	e, _, _, types := f.State(t, id)
	if known != 0 || len(types) != 1 || e.LastEvent != "email.sent" {
		t.Errorf("known %d, last_event %s, facts %v", known, e.LastEvent, types)
	}
	if known := f.announce(t); known != 0 {
		t.Errorf("nothing to announce, known %d", known)
	}
}
