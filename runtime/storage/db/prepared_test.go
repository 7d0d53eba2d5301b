package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestPreparedStatements(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	const insert = `INSERT INTO plans (id, name, requests_per_second, max_domains) VALUES ($1, $1, 1, 1)`
	add := func(id string, end error) error {
		return d.InPreparedTx(t.Context(), func(tx *db.PreparedTx) error {
			if _, err := tx.ExecContext(t.Context(), insert, id); err != nil {
				return err
			}
			return end
		})
	}
	before := countPlans(t, d)
	refused := errors.New("no")
	for _, step := range []struct {
		id   string
		end  error
		want bool
	}{{"one", nil, true}, {"two", nil, true}, {"three", refused, false}, {"one", nil, false}, {"four", nil, true}} {
		if err := add(step.id, step.end); (err == nil) != step.want {
			t.Errorf("adding %s returned %v, want success: %t", step.id, err, step.want)
		}
	}
	if got := countPlans(t, d) - before; got != 3 {
		t.Errorf("got %d rows, want 3", got)
	}
	// The first execution was unprepared; from then on the server has the statement.
	err := d.InPreparedTx(t.Context(), func(tx *db.PreparedTx) error {
		if _, err := tx.ExecContext(t.Context(), insert, "five"); err != nil {
			return err
		}
		return checkPrepared(t.Context(), tx, insert)
	})
	if err != nil {
		t.Error(err)
	}
}

// checkPrepared checks that the transaction's connection has the statement.
func checkPrepared(ctx context.Context, tx *db.PreparedTx, text string) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM pg_prepared_statements WHERE statement = $1`, text).Scan(&n); err != nil {
		return err
	}
	if n != 1 {
		return errors.New("the statement is not prepared on the connection that ran it")
	}
	return nil
}
