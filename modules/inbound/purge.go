package inbound

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/search"
)

const oldRecordsSQL = `SELECT id FROM received_emails WHERE account_id = $1 AND id < $2 ORDER BY id LIMIT $3`

// PurgeRecords deletes up to limit records received before the cutoff, oldest first, and returns how many. As
// with sent mail, the contents of old mail are deleted first (PurgeContents) and the records later.
func (s *Service) PurgeRecords(ctx context.Context, accountID string, cutoff time.Time, limit int) (int, error) {
	ids, err := db.All(ctx, s.db.SQL, db.Value[string], oldRecordsSQL, accountID, id.Since(id.ReceivedEmail, cutoff),
		limit)
	if err != nil {
		return 0, fmt.Errorf("find old received mail: %w", err)
	}
	if len(ids) == 0 {
		return 0, nil
	}
	deleted, err := s.deleteAll(ctx, accountID, ids)
	return len(deleted), err
}

// purgeContentsSQL processes contents in the order in which they were received.
const purgeContentsSQL = `
WITH old AS (
	SELECT id, object_key, data IS NOT NULL OR object_key IS NOT NULL AS there FROM received_contents
	WHERE account_id = $1 AND id > $2 AND created_at < $3 ORDER BY id LIMIT $4 FOR UPDATE
), purged AS (
	UPDATE received_contents c SET data = NULL, due_at = NULL, fence = c.fence + 1 FROM old WHERE c.id = old.id AND old.there AND old.object_key IS NULL
), stored AS (
	UPDATE received_contents c SET data = NULL, ` + toDelete + ` FROM old
	WHERE c.id = old.id AND old.object_key IS NOT NULL AND (c.due_at IS NULL OR c.data IS NOT NULL)
)
SELECT id, there FROM old ORDER BY id`

// PurgeContents deletes the contents of up to limit messages that follow the mark `after` and were received
// before the cutoff. last is the mark for the next call; it is empty if there are no more.
func (s *Service) PurgeContents(ctx context.Context, accountID, after string, cutoff time.Time,
	limit int) (purged int, last string, err error) {
	begin := int64(0)
	if after != "" {
		if begin, err = strconv.ParseInt(after, 10, 64); err != nil {
			return 0, "", fmt.Errorf("mark of purged contents: %w", err)
		}
	}
	type row struct {
		id    int64
		there bool
	}
	looked, err := db.All(ctx, s.db.SQL, func(r *row) []any { return []any{&r.id, &r.there} }, purgeContentsSQL,
		accountID, begin, cutoff.UTC(), limit)
	if err != nil {
		return 0, "", fmt.Errorf("purge contents: %w", err)
	}
	for _, r := range looked {
		if r.there {
			purged++
		}
	}
	if len(looked) == limit {
		last = strconv.FormatInt(looked[limit-1].id, 10)
	}
	return purged, last, nil
}

const eraseBatch = 100

const namingSQL = `SELECT id FROM received_emails WHERE search @@ $1::tsquery AND account_id = $2 LIMIT $3`

// Erase deletes mail from or to the address and returns the ids. It can be repeated safely, even after it
// failed halfway. It does not find mail that contains the address elsewhere.
func (s *Service) Erase(ctx context.Context, accountID, addr string) (erased []string, err error) {
	addr = foldAddress(addr)
	query := search.Lexeme(search.MarkAccount+accountID) + " & (" + search.Lexeme(markFrom+addr) + " | " +
		search.Lexeme(markEnvelope+addr) + " | " + search.Lexeme(markTo+addr) + ")"
	for {
		ids, err := db.All(ctx, s.db.SQL, db.Value[string], namingSQL, query, accountID, eraseBatch)
		if err != nil {
			return erased, fmt.Errorf("find received mail of a person: %w", err)
		}
		if len(ids) == 0 {
			return erased, nil
		}
		deleted, err := s.deleteAll(ctx, accountID, ids)
		if err != nil {
			return erased, err
		}
		erased = append(erased, deleted...)
	}
}
