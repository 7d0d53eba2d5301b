package audit

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
)

// eraseSQL examines a range of an account's entries, so that no statement takes long.
const eraseSQL = `
WITH stretch AS (
	SELECT id, lower(changes::text) AS said FROM audit_entries WHERE account_id = $1 AND id COLLATE "C" > $2 ORDER BY id COLLATE "C" LIMIT $3
), erased AS (
	UPDATE audit_entries e SET changes = NULL FROM stretch WHERE e.id = stretch.id AND position(trim('"' FROM to_jsonb(lower($4::text))::text) IN stretch.said) > 0 RETURNING 1
)
SELECT coalesce((SELECT max(id COLLATE "C") FROM stretch), ''), (SELECT count(*) FROM erased)`

const eraseBatch = 2000

type erasedStretch struct {
	last   string
	erased int64
}

func (e *erasedStretch) columns() []any { return []any{&e.last, &e.erased} }

// Erase removes the changes of an account's entries that contain an address, ignoring case. The entries remain: they
// still say who did what, and when. It can be repeated.
func (s *Service) Erase(ctx context.Context, accountID, address string) (erased int64, err error) {
	for after := ""; ; {
		done, err := db.One(ctx, s.db.SQL, (*erasedStretch).columns, eraseSQL, accountID, after, eraseBatch, address)
		erased += done.erased
		if err != nil {
			return erased, fmt.Errorf("erase from the audit log: %w", err)
		}
		if after = done.last; after == "" {
			return erased, nil
		}
	}
}
