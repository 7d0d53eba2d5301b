package sending

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/ent/recipient"
)

func TestErasingDeletesWhatWentToNobodyElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alone := f.send(t, simple("Bob <Bob@example.net>"))
	m := simple("Bob <bob@example.net>", "carol@example.net")
	m.CC, m.HTML, m.Attachments = []Mailbox{{Text: "dan@example.net"}}, "<p>Dear Bob</p>", []Attachment{{Name: "a.txt", Data: []byte("Bob")}}
	shared := f.send(t, m)
	other := f.send(t, simple("bobby@example.net"))
	for _, id := range []string{shared, other} {
		f.settled(t, id)
	}

	got, err := f.Erase(t.Context(), testAccount, "BOB@example.net")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Erasure{Deleted: []string{alone}, Redacted: []string{shared}}, got); diff != "" {
		t.Errorf("erased (-want +got):\n%s", diff)
	}
	left := f.found(t, Filter{})
	if len(left) != 2 {
		t.Errorf("%d emails are left, want 2", len(left))
	}
	e, err := f.Get(t.Context(), testAccount, shared)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{erasedAddress, "carol@example.net"}, e.To); diff != "" {
		t.Errorf("to (-want +got):\n%s", diff)
	}
	if e.HTML != nil || e.Text != nil || e.BodyPurgedAt == nil || e.Status != email.StatusDelivered {
		t.Errorf("shared email: %+v", e)
	}
	if again, err := f.Erase(t.Context(), testAccount, "bob@example.net"); err != nil || len(again.Deleted)+len(again.Redacted) != 0 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	f.nowhere(t, "bob@")
}

func TestErasingStopsMailThatIsNotSentYet(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open := f.send(t, simple("bob@example.net", "carol@example.net"))
	last := f.send(t, simple("bob@example.net", "dan@example.net"))
	if _, err := f.db.SQL.ExecContext(t.Context(), `UPDATE recipients SET state = 'delivered', due_at = NULL WHERE address = 'dan@example.net'`); err != nil {
		t.Fatal(err)
	}
	jobs, err := f.claim(t.Context(), 10, time.Minute) // attempts are under way
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	if _, err := f.Erase(t.Context(), testAccount, "bob@example.net"); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]email.Status{open: email.StatusSent, last: email.StatusDelivered} {
		e, err := f.Get(t.Context(), testAccount, id)
		if err != nil {
			t.Fatal(err)
		}
		if e.Status != want || (e.Text != nil) != (want == email.StatusSent) {
			t.Errorf("%s with body %v, want %s", e.Status, e.Text != nil, want)
		}
	}
	held, err := f.extend(t.Context(), jobs, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		if held[i] == strings.HasPrefix(j.address, "bob@") {
			t.Errorf("the delivery to %s is still ours: %v", j.address, held[i])
		}
	}
	f.nowhere(t, "bob@")
}

// settled marks an email and its recipients as delivered.
func (f *fixture) settled(t *testing.T, emailID string) {
	t.Helper()
	if err := f.db.Ent.Email.UpdateOneID(emailID).SetStatus(email.StatusDelivered).SetDeliveredAt(time.Now()).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.db.Ent.Recipient.Update().Where(recipient.EmailID(emailID)).SetState(recipient.StateDelivered).ClearDueAt().Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// nowhere looks into every column of the tables that sending and the bus write.
func (f *fixture) nowhere(t *testing.T, text string) {
	t.Helper()
	for _, table := range []string{"emails", "recipients", "attempts", "attachments", "facts"} {
		rows, err := f.db.SQL.QueryContext(t.Context(), `SELECT row::text FROM `+table+` AS row`)
		if err != nil {
			t.Fatal(err)
		}
		found, err := scanAll(rows, func(s *string) []any { return []any{s} })
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(found, func(row string) bool { return strings.Contains(strings.ToLower(row), text) }); i >= 0 {
			t.Errorf("%s has %s: %s", table, text, found[i])
		}
	}
}
