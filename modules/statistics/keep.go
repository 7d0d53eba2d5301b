package statistics

import (
	"cmp"
	"context"
	"fmt"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

const (
	// uncountedSQL checks for facts about emails that are not counted yet.
	uncountedSQL = `SELECT EXISTS (SELECT FROM facts f WHERE ` + aboutCondition + `)`

	aboutCondition = `f.account_id = $1 AND f.subject_id = ANY($2) AND f.id >= $3`

	// Transactions that count for different accounts do not block each other.
	shareMarkSQL   = readMarkSQL + ` FOR SHARE`
	lockAccountSQL = `SELECT pg_advisory_xact_lock(hashtextextended('statistics of ' || $1::text, 0))`
)

// Keep counts the uncounted facts about sent or received emails, or runs, that tx is about to delete.
func (s *Service) Keep(ctx context.Context, tx db.Execer, accountID string, ids ...string) error {
	_, _, err := keep(ctx, tx, accountID, ids)
	return err
}

// PreserveCounts runs a change within tx that deletes some facts about emails, for example when one of several
// recipients is erased. It counts all uncounted facts before the change, and afterwards subtracts the
// remaining ones, which are counted later. The deleted facts therefore stay counted.
func (s *Service) PreserveCounts(ctx context.Context, tx db.Execer, accountID string, emailIDs []string,
	change func() error) error {
	mark, kept, err := keep(ctx, tx, accountID, emailIDs)
	if err != nil {
		return err
	}
	if err := change(); err != nil || !kept {
		return err
	}
	if _, err := countFacts(ctx, tx, rollup.About, aboutCondition, -1, accountID, db.Array(emailIDs), mark); err != nil {
		return fmt.Errorf("keep statistics: %w", err)
	}
	return nil
}

// importedBatch is the number of facts that AdjustImported reads at a time.
const importedBatch = 10_000

// nextImportedSQL returns the fact of an account at an offset after another one, or an empty string.
const nextImportedSQL = `
SELECT coalesce((SELECT id FROM facts WHERE account_id = $1 AND id >= $2 AND id < $3 ORDER BY id OFFSET $4 LIMIT 1), '')`

// AdjustImported changes the statistics of an account that was imported in tx, so that they contain each fact once as
// soon as this installation has counted. exportedMark is the mark of the installation that exported them: they contain
// the facts before it. nil: they contain all.
func AdjustImported(ctx context.Context, tx db.Execer, accountID string, exportedMark *string) error {
	// A mark that another process creates meanwhile would be later than the imported facts, which it does not see.
	if _, err := tx.ExecContext(ctx, createMarkSQL); err != nil {
		return fmt.Errorf("adjust imported statistics: %w", err)
	}
	mark, err := holdMark(ctx, tx, accountID)
	counted := string(id.Fact) + "_~"
	if exportedMark != nil {
		counted = *exportedMark
	}
	from, end, sign := mark, counted, int64(-1) // counted there, and later here
	if counted < mark {
		from, end, sign = counted, mark, 1 // counted by neither
	}
	for err == nil && from < end {
		var to string
		if to, err = db.One(ctx, tx, db.Value[string], nextImportedSQL, accountID, from, end, importedBatch); err != nil {
			break
		}
		to = cmp.Or(to, end)
		_, err = countFacts(ctx, tx, rollup.OfAccount, "f.id >= $1 AND f.id < $2 AND f.account_id = $3", sign, from, to, accountID)
		from = to
	}
	if err != nil {
		return fmt.Errorf("adjust imported statistics: %w", err)
	}
	return nil
}

// keep counts the uncounted facts about emails. If there are any, the mark does not move until the end of
// tx.
func keep(ctx context.Context, tx db.Execer, accountID string, emailIDs []string) (mark string, kept bool, err error) {
	ids := db.Array(emailIDs)
	if mark, err = oneOrNone(ctx, tx, readMarkSQL); err == nil {
		kept, err = db.One(ctx, tx, db.Value[bool], uncountedSQL, accountID, ids, mark)
	}
	if err == nil && kept {
		if mark, err = holdMark(ctx, tx, accountID); err == nil {
			_, err = countFacts(ctx, tx, rollup.About, aboutCondition, 1, accountID, ids, mark)
		}
	}
	if err != nil {
		return "", false, fmt.Errorf("keep statistics: %w", err)
	}
	return mark, kept, nil
}

// holdMark locks and returns the mark until the end of tx, and blocks other counting for the account. The
// mark is empty if no fact was ever counted.
func holdMark(ctx context.Context, tx db.Execer, accountID string) (string, error) {
	mark, err := oneOrNone(ctx, tx, shareMarkSQL)
	if err == nil {
		_, err = tx.ExecContext(ctx, lockAccountSQL, accountID)
	}
	return mark, err
}

// oneOrNone returns the text of the first row, or an empty string if there are no rows.
func oneOrNone(ctx context.Context, on db.Execer, statement string) (string, error) {
	all, err := db.All(ctx, on, db.Value[string], statement)
	return append(all, "")[0], err
}
