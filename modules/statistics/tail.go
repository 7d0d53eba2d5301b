package statistics

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// tailMost is how many facts of an account an answer counts that are not counted yet. If there are more, it is
// about the time before them.
const tailMost = 300

// tail is what happened in an account and is not counted yet.
type tail struct {
	*rollup.Rollup

	from, to string    // the ids of its facts: from on, and before to
	asOf     time.Time // all that happened before is counted or in the tail
}

const (
	// The mark and the time; without a mark everything is in the tail. What follows in the transaction looks
	// rows up: the planner would read a table as a whole where most of it is of one account.
	tailMarkSQL = `SELECT coalesce((SELECT fact_id FROM statistics_marks WHERE id = 1), ''), clock_timestamp(), set_config('enable_seqscan', 'off', true)`
	tailEndSQL  = `SELECT coalesce((SELECT id FROM facts WHERE account_id = $1 AND id >= $2 ORDER BY id OFFSET $3 LIMIT 1), '')`
)

// boundTail finds where the tail of an account begins and ends. The mark is read first, so that the statements that
// look behind it are planned for what it is.
func boundTail(ctx context.Context, tx db.Execer, accountID string) (t tail, err error) {
	var seqscan string
	t, err = db.One(ctx, tx, func(t *tail) []any { return []any{&t.from, &t.asOf, &seqscan} }, tailMarkSQL)
	if err != nil {
		return t, err
	}
	if t.to, err = db.One(ctx, tx, db.Value[string], tailEndSQL, accountID, t.from, tailMost); err != nil {
		return t, err
	}
	if t.to == "" {
		t.to = string(id.Fact) + "_~"
	} else {
		t.asOf = id.Time(t.to)
	}
	return t, nil
}

// readTail reads the tail of an account.
func readTail(ctx context.Context, tx db.Execer, accountID string) (tail, error) {
	t, err := boundTail(ctx, tx, accountID)
	if err == nil {
		t.Rollup = rollup.New()
		err = t.Read(ctx, tx, rollup.OfAccount, 1, t.from, t.to, accountID)
	}
	return t, err
}

// atOnce runs statements that see the database at one moment: the mark, what is counted, and what is not.
func atOnce(ctx context.Context, on *ent.Client, do func(tx db.Execer) error) (err error) {
	tx, err := on.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() {
		if ended := tx.Rollback(); ended != nil && err == nil && !errors.Is(ended, sql.ErrTxDone) {
			err = ended
		}
	}()
	return do(tx)
}
