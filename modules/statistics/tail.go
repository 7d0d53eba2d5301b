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

// tailMost is the maximum number of uncounted facts of an account that an answer includes. If there are more, the
// answer covers the time before them.
const tailMost = 300

// tail contains the uncounted facts of an account.
type tail struct {
	*rollup.Rollup

	from, to string    // ids of its facts: [from, to)
	asOf     time.Time // everything before it is counted or in the tail
}

const (
	// Reads the mark and the time. Without a mark, all facts are in the tail. The remaining statements of the
	// transaction must use indexes: the planner would scan a whole table if most of it belonged to one
	// account.
	tailMarkSQL = `SELECT coalesce((SELECT fact_id FROM statistics_marks WHERE id = 1), ''), clock_timestamp(), set_config('enable_seqscan', 'off', true)`
	tailEndSQL  = `SELECT coalesce((SELECT id FROM facts WHERE account_id = $1 AND id >= $2 ORDER BY id OFFSET $3 LIMIT 1), '')`
)

// boundTail finds the beginning and end of an account's tail. It reads the mark first, so that the statements
// that use it are planned for its actual value.
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

// atOnce runs statements on one snapshot of the database, so that the mark, the counts and the tail are
// consistent.
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
