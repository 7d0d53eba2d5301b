package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/bus"
)

const (
	// forgetObjectsSQL schedules the deletion of the objects of emails that are replaced, including those that this
	// installation has begun to move.
	forgetObjectsSQL = `
WITH stored AS (
	INSERT INTO body_moves (account_id, email_id, object_key, remove, due_at)
	SELECT account_id, id, body_key, true, now() + interval '1 minute' FROM emails WHERE account_id = $1 AND id IN (SELECT id FROM transfer_units) AND body_key IS NOT NULL
	UNION ALL SELECT account_id, email_id, object_key, true, now() + interval '1 minute' FROM attachments
	WHERE account_id = $1 AND email_id IN (SELECT id FROM transfer_units) AND object_key IS NOT NULL
)
UPDATE body_moves SET remove = true, due_at = greatest(due_at, now()) + interval '1 minute', fence = fence + 1
WHERE account_id = $1 AND email_id IN (SELECT id FROM transfer_units) AND NOT remove`
	// keepObjectsSQL and keepContentsSQL keep the objects that the new rows contain, too.
	keepObjectsSQL = `
DELETE FROM body_moves m WHERE account_id = $1 AND remove AND (EXISTS (SELECT FROM emails e WHERE e.id = m.email_id AND e.body_key = m.object_key)
	OR EXISTS (SELECT FROM attachments a WHERE a.email_id = m.email_id AND a.object_key = m.object_key))`

	// The numbers of contents differ from those of the source, so the file names their emails. A content with an object
	// stays until the object is deleted.
	deleteReceivedSQL = `DELETE FROM received_emails WHERE account_id = $1 AND id IN (SELECT id FROM transfer_units) RETURNING content_id`
	deleteContentsSQL = `
WITH alone AS (
	SELECT id, object_key FROM received_contents c WHERE account_id = $1 AND id = ANY($2) AND NOT EXISTS (SELECT FROM received_emails e WHERE e.content_id = c.id)
), gone AS (
	DELETE FROM received_contents c USING alone a WHERE c.id = a.id AND a.object_key IS NULL
)
UPDATE received_contents c SET data = NULL, due_at = now() + interval '1 minute', fence = c.fence + 1, attempts = 0
FROM alone a WHERE c.id = a.id AND a.object_key IS NOT NULL`
	keepContentsSQL = `
DELETE FROM received_contents c WHERE account_id = $1 AND data IS NULL AND due_at IS NOT NULL
	AND NOT EXISTS (SELECT FROM received_emails e WHERE e.content_id = c.id)
	AND object_key IN (SELECT object_key FROM received_contents WHERE account_id = $1 AND (data IS NOT NULL OR due_at IS NULL))`
)

// lockTarget locks the account and returns its move. Until the end of the transaction, other transactions count no
// events, because they could add statistics of events that this one deletes. Error: NotFound.
func (i *importer) lockTarget(ctx context.Context) (Move, error) {
	m, err := LockMove(ctx, i.tx, i.manifest.AccountID)
	if err == nil {
		_, err = i.tx.ExecContext(ctx, `SELECT FROM statistics_marks WHERE id = 1 FOR SHARE`)
	}
	return m, err
}

// deleteUnits deletes the rows of units of the base, which the difference replaces.
func (i *importer) deleteUnits(ctx context.Context, name string, content []byte) error {
	group, _, _ := strings.Cut(strings.TrimPrefix(name, unitFolder), "/")
	switch {
	case !slices.Contains(groups(), group):
		return errors.New("not an entry of an account's file")
	case i.at > 0 || i.rows[tables[0].name] > 0:
		return errors.New("it must precede the tables")
	}
	if err := i.noteUnits(ctx, content); err != nil {
		return err
	}
	i.rows[unitFolder+group] += int64(strings.Count(string(content), "\n"))
	switch group {
	case groupReceived:
		return i.deleteReceived(ctx)
	case "emails":
		if _, err := db.Exec(ctx, i.tx, forgetObjectsSQL, i.manifest.AccountID); err != nil {
			return fmt.Errorf("forget objects: %w", err)
		}
	}
	for _, t := range slices.Backward(tables) {
		if t.group != group {
			continue
		}
		if _, err := db.Exec(ctx, i.tx, `DELETE FROM `+t.name+` WHERE `+t.wholeCondition()+` AND `+t.unit+` IN (SELECT u.id FROM transfer_units u)`,
			i.manifest.AccountID); err != nil {
			return fmt.Errorf("delete from %s: %w", t.name, err)
		}
	}
	return nil
}

// noteUnits fills transfer_units. Its index and statistics keep the planner, which may not know yet how many rows the
// base has, from a plan that is quadratic.
func (i *importer) noteUnits(ctx context.Context, content []byte) error {
	_, err := i.tx.ExecContext(ctx, `TRUNCATE transfer_units`)
	if err == nil {
		_, err = db.Exec(ctx, i.tx, `INSERT INTO transfer_units SELECT DISTINCT json_array_elements_text($1::json)`, asArray(content))
	}
	if err == nil {
		_, err = i.tx.ExecContext(ctx, `ANALYZE transfer_units`)
	}
	if err != nil {
		return fmt.Errorf("note units: %w", err)
	}
	return nil
}

func (i *importer) deleteReceived(ctx context.Context) error {
	contents, err := db.All(ctx, i.tx, db.Value[int64], deleteReceivedSQL, i.manifest.AccountID)
	if err == nil {
		_, err = db.Exec(ctx, i.tx, deleteContentsSQL, i.manifest.AccountID, db.Array(contents))
	}
	if err != nil {
		return fmt.Errorf("delete received emails: %w", err)
	}
	return nil
}

// endDifference deletes what the source no longer has, and keeps the objects that new rows contain, too.
func (i *importer) endDifference(ctx context.Context) error {
	for _, statement := range []string{`DELETE FROM domains WHERE account_id = $1 AND id NOT IN (SELECT id FROM transfer_kept)`,
		keepObjectsSQL, keepContentsSQL} {
		if _, err := db.Exec(ctx, i.tx, statement, i.manifest.AccountID); err != nil {
			return fmt.Errorf("complete the copy: %w", err)
		}
	}
	return nil
}

// settleFacts prevents that this installation handles or counts imported events again. Their ids may be later than its
// marks.
func (i *importer) settleFacts(ctx context.Context) error {
	err := bus.RecordImported(ctx, i.tx, i.manifest.AccountID)
	if err == nil && i.options.AdjustStatistics != nil {
		err = i.options.AdjustStatistics(ctx, i.tx, i.manifest.AccountID, i.manifest.StatisticsMark)
	}
	return err
}

// mapUsers replaces ids of people in rows of the base with those that they have at the target.
func (i *importer) mapUsers(ctx context.Context) error {
	differ, err := db.One(ctx, i.tx, db.Value[bool], `SELECT EXISTS (SELECT FROM transfer_users WHERE new <> old)`)
	if err != nil || !differ {
		return err
	}
	for _, t := range tables {
		for column, value := range t.set {
			if t.group == "" || value != userIn(column)[column] {
				continue
			}
			if _, err := db.Exec(ctx, i.tx, `UPDATE `+t.name+` t SET `+column+` = u.new FROM transfer_users u WHERE t.account_id = $1 AND t.`+
				column+` = u.old AND u.new <> u.old`, i.manifest.AccountID); err != nil {
				return fmt.Errorf("map people in %s: %w", t.name, err)
			}
		}
	}
	return nil
}
