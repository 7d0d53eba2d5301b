package months_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// referenceSQL returns how recipients refer to emails: once for the whole table, validated.
const referenceSQL = `SELECT coalesce(string_agg(conrelid::regclass || ' ' || convalidated || ' ' || pg_get_constraintdef(oid), ', '), '') FROM pg_constraint WHERE contype = 'f' AND confrelid = 'emails'::regclass AND conparentid = 0
	AND conname = 'recipients_emails_recipients'`

const wholeReference = "recipients true FOREIGN KEY (email_id) REFERENCES emails(id) ON DELETE CASCADE"

// checkReference checks the reference of recipients to emails.
func checkReference(t *testing.T, d *db.DB, when string, rows ...string) {
	t.Helper()
	if got := queryOne[string](t, d, referenceSQL); got != wholeReference {
		t.Errorf("%s, recipients have the reference %q, want %q", when, got, wholeReference)
	}
	alone := id.New(id.Email)
	if _, err := db.Exec(t.Context(), d.SQL,
		`INSERT INTO recipients (email_id, account_id, kind, destination, address) VALUES ($1, 'a', 'to', 'x', 'y')`, alone); err == nil {
		t.Errorf("%s, a recipient without its email was stored", when)
	}
	for _, row := range rows {
		dbtest.Exec(t, d, `DELETE FROM emails WHERE id = $1`, row)
		if n := queryOne[int](t, d, `SELECT count(*) FROM recipients WHERE email_id = $1`, row); n != 0 {
			t.Errorf("%s, %d recipients of a deleted email remain", when, n)
		}
	}
}

// Emails are partitioned, get their own months and become plain again while recipients are already
// partitioned. An interrupted exchange leaves an enforced reference.
func TestEmailsArePartitionedAfterRecipients(t *testing.T) {
	t.Parallel()
	emails, recipients := findTable(t, "emails"), findTable(t, "recipients")
	for cut, all := 0, 1; cut < all; cut++ {
		d := newPlainDatabase(t)
		old, young := id.New(id.Email), id.New(id.Email)
		store(t, d, recipients, old)
		move(t, d, recipients)
		if _, err := months.KeepAt(t.Context(), d, recipients, time.Now().AddDate(0, 2, 0)); err != nil {
			t.Fatal(err)
		}
		var err error
		if all, err = months.MoveSteps(t.Context(), d, emails, cut); err != nil {
			t.Fatal(err)
		}
		store(t, d, recipients, young)
		move(t, d, emails)
		late := keyAt(emails, time.Now().AddDate(0, 8, 0), 1)
		store(t, d, recipients, late) // both in the default partitions
		checkReference(t, d, "after a move", old)
		move(t, d, emails)
		move(t, d, recipients)
		if state := readState(t, d, emails); state.UncheckedOf() > 0 {
			t.Errorf("interrupted after %d of %d steps, %d references are not validated", cut, all, state.UncheckedOf())
		}
		checkReference(t, d, "with a default partition that became a month", late)
		for _, table := range []months.Table{emails, recipients} {
			if err := months.Undo(t.Context(), d, table, discard, ignoreStep); err != nil {
				t.Fatal(err)
			}
			checkReference(t, d, table.Name+" plain again")
		}
		checkReference(t, d, "in the end", young)
	}
}

// The numbers of recipients and attempts continue, and are never reused, in both forms of the table.
func TestNumbersAreNeverReused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"recipients", "attempts"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, table := newPlainDatabase(t), findTable(t, name)
			next := func() int64 {
				t.Helper()
				row := id.New(id.Email)
				store(t, d, table, row)
				return queryOne[int64](t, d, `SELECT id FROM `+name+` WHERE email_id = $1`, row)
			}
			dbtest.Exec(t, d, `GRANT SELECT ON SEQUENCE `+name+`_id_seq TO pg_monitor`)
			last := next()
			for _, change := range []func(){func() { move(t, d, table) }, func() {
				if err := months.Undo(t.Context(), d, table, discard, ignoreStep); err != nil {
					t.Fatal(err)
				}
			}, func() { move(t, d, table) }} {
				change()
				for range 2 {
					if n := next(); n != last+1 {
						t.Errorf("%d has the number %d, want %d", n, n, last+1)
					} else {
						last = n
					}
				}
				if !queryOne[bool](t, d, `SELECT has_sequence_privilege('pg_monitor', pg_get_serial_sequence($1, 'id'), 'SELECT')`, name) {
					t.Error("the grants on the sequence were lost")
				}
			}
		})
	}
}

// The constraint that prevents settling a claim twice also applies to a partitioned table: an attempt is
// unique by recipient and fence.
func TestAttemptIsUniqueByFence(t *testing.T) {
	t.Parallel()
	d, table := newPlainDatabase(t), findTable(t, "attempts")
	move(t, d, table)
	row := id.New(id.Email)
	store(t, d, table, row)
	if _, err := db.Exec(t.Context(), d.SQL, attemptSQL, row); !fault.IsDuplicate(err) {
		t.Errorf("storing the same attempt again returned %v, want an error", err)
	}
}
