package records_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestErasingDeletesEmailsWithoutOtherRecipients(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alone := f.Send(t, rooms.SimpleMessage("Bob <Bob@example.net>"))
	m := rooms.SimpleMessage("Bob <bob@example.net>", "carol@example.net")
	m.CC, m.HTML, m.Attachments = []sending.Mailbox{{Text: "dan@example.net"}}, "<p>Dear Bob</p>",
		[]sending.Attachment{{Name: "a.txt", Data: []byte("Bob")}}
	shared := f.Send(t, m)
	other := f.Send(t, rooms.SimpleMessage("bobby@example.net"))
	for _, id := range []string{shared, other} {
		f.markDelivered(t, id)
	}

	got, err := f.Erase(t.Context(), sendingtest.Account, "BOB@example.net")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records.Erasure{Deleted: []string{alone}, Redacted: []string{shared}}, got); diff != "" {
		t.Errorf("erased (-want +got):\n%s", diff)
	}
	left := f.findSubjects(t, records.Filter{})
	if len(left) != 2 {
		t.Errorf("%d emails are left, want 2", len(left))
	}
	e, err := f.Get(t.Context(), sendingtest.Account, shared)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"erased@erased.invalid", "carol@example.net"}, e.To); diff != "" {
		t.Errorf("to (-want +got):\n%s", diff)
	}
	if e.HTML != nil || e.Text != nil || e.BodyPurgedAt == nil || e.Status != email.StatusDelivered {
		t.Errorf("shared email: %+v", e)
	}
	if again, err := f.Erase(t.Context(), sendingtest.Account, "bob@example.net"); err != nil ||
		len(again.Deleted)+len(again.Redacted) != 0 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	f.checkAbsent(t, "bob@")
}

func TestErasingStopsUnsentMail(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open := f.Send(t, rooms.SimpleMessage("bob@example.net", "carol@example.net"))
	last := f.Send(t, rooms.SimpleMessage("bob@example.net", "dan@example.net"))
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE recipients SET state = 'delivered', due_at = NULL WHERE address = 'dan@example.net'`); err != nil {
		t.Fatal(err)
	}
	jobs := f.ClaimAll(t) // attempts are running
	if len(jobs) != 3 {
		t.Fatalf("%d jobs, want 3", len(jobs))
	}
	if _, err := f.Erase(t.Context(), sendingtest.Account, "bob@example.net"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]email.Status{open: email.StatusSent, last: email.StatusDelivered} {
		e, err := f.Get(t.Context(), sendingtest.Account, id)
		if err != nil {
			t.Fatal(err)
		}
		if e.Status != want || (e.Text != nil) != (want == email.StatusSent) {
			t.Errorf("%s with body %v, want %s", e.Status, e.Text != nil, want)
		}
	}
	held := f.Extend(t, jobs)
	for i, j := range jobs {
		if held[i] == strings.HasPrefix(j.Address(), "bob@") {
			t.Errorf("the lease of the delivery to %s is still held: %v", j.Address(), held[i])
		}
	}
	f.checkAbsent(t, "bob@")
}

// markDelivered marks an email and its recipients as delivered.
func (f *fixture) markDelivered(t *testing.T, emailID string) {
	t.Helper()
	dbtest.Exec(t, f.DB, `UPDATE emails SET status = 'delivered', delivered_at = now() WHERE id = $1`, emailID)
	dbtest.Exec(t, f.DB, `UPDATE recipients SET state = 'delivered', due_at = NULL WHERE email_id = $1`, emailID)
}

// checkAbsent checks that no column of the tables written by sending and the bus contains a text.
func (f *fixture) checkAbsent(t *testing.T, text string) {
	t.Helper()
	for _, table := range []string{"emails", "recipients", "attempts", "attachments", "facts"} {
		found, err := db.All(t.Context(), f.DB.SQL, db.Value[string], `SELECT row::text FROM `+table+` AS row`)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(found,
			func(row string) bool { return strings.Contains(strings.ToLower(row), text) }); i >= 0 {
			t.Errorf("%s has %s: %s", table, text, found[i])
		}
	}
}
