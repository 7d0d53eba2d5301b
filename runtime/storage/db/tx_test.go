package db_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func countPlans(t *testing.T, d *db.DB) int {
	t.Helper()
	n, err := d.Ent.Plan.Query().Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestInTxCommitsOnlyOnSuccess(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	before := countPlans(t, d)
	insert := func(id string, end func()) func(tx *ent.Tx) error {
		return func(tx *ent.Tx) error {
			_, err := tx.ExecContext(context.WithoutCancel(t.Context()),
				`INSERT INTO plans (id, name, requests_per_second, max_domains) VALUES ($1, $1, 1, 1)`, id)
			if err != nil {
				return err
			}
			end()
			return nil
		}
	}
	if err := d.InTx(t.Context(), insert("kept", func() {})); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no")
	err := d.InTx(t.Context(), func(tx *ent.Tx) error { return errors.Join(insert("refused", func() {})(tx), refused) })
	if !errors.Is(err, refused) {
		t.Errorf("InTx returned %v, want the error %v", err, refused)
	}
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("InTx did not propagate the panic")
			}
		}()
		err := d.InTx(t.Context(), insert("panicked", func() { panic("boom") }))
		t.Errorf("InTx returned %v instead of panicking", err)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if err := d.InTx(ctx, insert("cancelled", cancel)); err == nil {
		t.Error("a transaction whose context ended was committed")
	}
	if got := countPlans(t, d); got != before+1 {
		t.Errorf("got %d new plans, want 1", got-before)
	}
	// database/sql rolls back in a separate goroutine when a context ends.
	expect.EventuallyWithin(t, 5*time.Second, "no connection is in use", func() bool {
		_, used := d.Connections()
		return used == 0
	})
}

func TestInHotTxRollsBack(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	before := countPlans(t, d)
	add := `INSERT INTO plans (id, name, requests_per_second, max_domains) VALUES ($1, 'x', 1, 1)`
	err := d.InHotTx(t.Context(), func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(t.Context(), add, "one"); err != nil {
			return err
		}
		_, err := tx.ExecContext(t.Context(), add, "one")
		return err
	})
	if err == nil {
		t.Error("a duplicate key was accepted")
	}
	if err := d.InHotTx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), add, "two")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := countPlans(t, d); got != before+1 {
		t.Errorf("got %d new plans, want 1", got-before)
	}
}
