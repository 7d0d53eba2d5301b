package inbound

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Delete deletes one record with its facts. The content is deleted with the last record that refers to it. It
// returns NotFound for an unknown record.
func (s *Service) Delete(ctx context.Context, accountID, emailID string) error {
	if !id.Is(id.ReceivedEmail, emailID) {
		return fault.NoSuch("received email", emailID)
	}
	deleted, err := s.deleteAll(ctx, accountID, []string{emailID})
	if err == nil && len(deleted) == 0 {
		return fault.NoSuch("received email", emailID)
	}
	return err
}

// Two records of the same content may be deleted concurrently. The lock on the content makes the second
// transaction see the effect of the first.
const (
	lockContentsSQL = `
SELECT id FROM received_contents WHERE id IN (SELECT content_id FROM received_emails WHERE account_id = $1 AND id = ANY($2))
ORDER BY id FOR UPDATE`
	deleteRecordsSQL = `DELETE FROM received_emails WHERE account_id = $1 AND id = ANY($2) RETURNING id`
	// Objects are deleted from the object store first, by a worker, once a worker that may be uploading them
	// has lost its lease.
	dropContentsSQL = `
WITH alone AS (
	SELECT c.id, c.object_key FROM received_contents c WHERE c.id = ANY($1) AND NOT EXISTS (SELECT FROM received_emails e WHERE e.content_id = c.id)
), gone AS (
	DELETE FROM received_contents c USING alone a WHERE c.id = a.id AND a.object_key IS NULL
)
UPDATE received_contents c SET data = NULL, ` + toDelete + ` FROM alone a WHERE c.id = a.id AND a.object_key IS NOT NULL`
	toDelete = `due_at = greatest(coalesce(c.due_at, now()), now()) + interval '1 minute', fence = c.fence + 1, attempts = 0`
)

// deleteAll deletes records of the account and returns the ids that existed.
func (s *Service) deleteAll(ctx context.Context, accountID string, ids []string) (deleted []string, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		contents, err := db.All(ctx, tx, db.Value[int64], lockContentsSQL, accountID, db.Array(ids))
		if err != nil {
			return err
		}
		if s.counts != nil {
			if err := s.counts.Keep(ctx, tx, accountID, ids...); err != nil {
				return err
			}
		}
		if deleted, err = db.All(ctx, tx, db.Value[string], deleteRecordsSQL, accountID, db.Array(ids)); err != nil ||
			len(deleted) == 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, dropContentsSQL, db.Array(contents)); err != nil {
			return err
		}
		_, err = s.bus.Forget(ctx, tx, accountID, deleted...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("delete received mail: %w", err)
	}
	return deleted, nil
}
