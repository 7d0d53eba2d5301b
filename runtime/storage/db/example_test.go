package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Plan is a row of the table plans.
type Plan struct {
	ID        string
	Name      string
	CreatedAt time.Time
}

// columns is written once for all statements that return plans.
func (p *Plan) columns() []any { return []any{&p.ID, &p.Name, &p.CreatedAt} }

const selectPlans = `SELECT id, name, created_at FROM plans `

func ExampleAll() { //nolint:testableexamples // it needs a database
	list := func(ctx context.Context, d *db.DB, ids []string) ([]Plan, error) {
		plans, err := db.All(ctx, d.SQL, (*Plan).columns, selectPlans+`WHERE id = ANY($1) ORDER BY id`, db.Array(ids))
		if err != nil {
			return nil, fmt.Errorf("list plans: %w", err)
		}
		return plans, nil
	}
	_ = list
}

func ExampleOne() { //nolint:testableexamples // it needs a database
	get := func(ctx context.Context, on db.Execer, id string) (Plan, bool, error) {
		plan, err := db.One(ctx, on, (*Plan).columns, selectPlans+`WHERE id = $1`, id)
		if errors.Is(err, sql.ErrNoRows) {
			return Plan{}, false, nil
		}
		return plan, err == nil, err
	}
	_ = get
}

func ExampleCompile() {
	// Of another package: a fragment and the arguments for its parameters.
	const blocked = `SELECT address FROM suppressions WHERE account_id = @blocked.account_id`
	arguments := func(accountID string) db.Argument { return db.Arg("blocked.account_id", accountID) }

	s := db.Compile(`SELECT id FROM recipients WHERE address IN (` + blocked + `) LIMIT @limit`)
	fmt.Println(s.Text)
	fmt.Println(s.Args(arguments("acc_1"), db.Arg("limit", 10)))
	// Output:
	// SELECT id FROM recipients WHERE address IN (SELECT address FROM suppressions WHERE account_id = $1) LIMIT $2
	// [acc_1 10]
}
