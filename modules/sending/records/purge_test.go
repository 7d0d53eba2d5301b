package records_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/email"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/base/id"
)

// ageEmail moves an email into the past, and sets its status.
func (f *fixture) ageEmail(t *testing.T, n int, age time.Duration, status email.Status, scheduled bool) string {
	t.Helper()
	from := f.Send(t, rooms.SimpleMessage(fmt.Sprintf("user%d@example.net", n)))
	at := time.Now().Add(-age)
	to := fmt.Sprintf("%s%016d", id.Since(id.Email, at)[:14], n)
	_, err := f.DB.SQL.ExecContext(t.Context(), `
		WITH moved AS (UPDATE recipients SET email_id = $2 WHERE email_id = $1), told AS (UPDATE facts SET subject_id = $2 WHERE subject_id = $1)
		UPDATE emails SET id = $2, created_at = $3, sent_at = CASE WHEN $4 <> 'scheduled' AND $4 <> 'cancelled' THEN $3::timestamptz END, status = $4,
			uncommon = NULLIF(NULLIF($4, 'delivered'), 'sent'), scheduled_at = CASE WHEN $5 THEN $3::timestamptz END,
			cancelled_at = CASE WHEN $4 = 'cancelled' THEN $3::timestamptz END WHERE id = $1`, from, to, at, string(status), scheduled)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestOnlyFinishedEmailsExpire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const day = 24 * time.Hour
	f.dropForeignKeys(t)
	want := []string{
		f.ageEmail(t, 1, 40*day, email.StatusDelivered, false), f.ageEmail(t, 2, 39*day, email.StatusBounced, false),
		f.ageEmail(t, 3, 38*day, email.StatusFailed, false), f.ageEmail(t, 4, 37*day, email.StatusCancelled, true),
	}
	f.ageEmail(t, 5, 36*day, email.StatusSent, false)        // in progress
	f.ageEmail(t, 6, 35*day, email.StatusScheduled, true)    // not due yet
	f.ageEmail(t, 7, 29*day, email.StatusDelivered, false)   // too young
	late := f.ageEmail(t, 8, 50*day, email.StatusSent, true) // released late
	cutoff := time.Now().Add(-30 * day)

	var got []string
	for after, more := "", true; more; {
		ids, last, err := f.ListExpired(t.Context(), sendingtest.Account, records.Records, after, cutoff, 2)
		if err != nil {
			t.Fatal(err)
		}
		got, after, more = append(got, ids...), last, last != ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expired (-want +got):\n%s", diff)
	}
	if _, err := f.DB.SQL.ExecContext(t.Context(), `UPDATE emails SET status = 'delivered', uncommon = NULL WHERE id = $1`, late); err != nil {
		t.Fatal(err)
	}
	ids, err := f.ExpiredLate(t.Context(), sendingtest.Account, records.Records, cutoff, 10)
	if err != nil || len(ids) != 2 {
		t.Errorf("late: %v, %v; want the one released late and the cancelled one", ids, err)
	}
}

func TestPurgedBodiesLeaveTheRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := rooms.SimpleMessage("bob@example.net")
	m.HTML, m.Attachments = "<p>x</p>", []sending.Attachment{{Name: "a.txt", Data: []byte("x")}}
	done, open := f.Send(t, m), f.Send(t, m)
	f.markDelivered(t, done)
	if n, err := f.PurgeBodies(t.Context(), sendingtest.Account, []string{done, open}); n != 1 || err != nil {
		t.Fatalf("purged %d, %v", n, err)
	}
	for id, kept := range map[string]bool{done: false, open: true} {
		e, err := f.Get(t.Context(), sendingtest.Account, id)
		if err != nil {
			t.Fatal(err)
		}
		files, err := f.Attachments(t.Context(), sendingtest.Account, id)
		if err != nil {
			t.Fatal(err)
		}
		if (e.HTML != nil) != kept || (e.Text != nil) != kept || (len(files[id]) == 1) != kept ||
			(e.BodyPurgedAt == nil) != kept || e.Subject != "Hello" {
			t.Errorf("kept %v: %+v with %d files", kept, e, len(files[id]))
		}
	}
	if n, err := f.PurgeBodies(t.Context(), sendingtest.Account, []string{done}); n != 0 || err != nil {
		t.Errorf("the second time: %d, %v", n, err)
	}
}

func TestDeletedEmailsLeaveNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	done, open := f.Send(t, rooms.SimpleMessage("bob@example.net")), f.Send(t, rooms.SimpleMessage("carol@example.net"))
	f.markDelivered(t, done)
	if n, err := f.Delete(t.Context(), "acc_01kf0m4w7he6x8q2v5b3n9c1tb", []string{done}); n != 0 || err != nil {
		t.Fatalf("another account's: %d, %v", n, err)
	}
	if n, err := f.Delete(t.Context(), sendingtest.Account, []string{done, open}); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	f.checkAbsent(t, "bob@")
	if _, err := f.Get(t.Context(), sendingtest.Account, open); err != nil {
		t.Errorf("the unsent email: %v", err)
	}
}

// dropForeignKeys drops the foreign keys, so that a test can change email ids.
func (f *fixture) dropForeignKeys(t *testing.T) {
	t.Helper()
	for _, statement := range []string{
		`ALTER TABLE recipients DROP CONSTRAINT recipients_emails_recipients`,
		`ALTER TABLE attachments DROP CONSTRAINT attachments_emails_attachments`,
	} {
		if _, err := f.DB.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
