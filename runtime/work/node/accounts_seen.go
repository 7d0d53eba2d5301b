package node

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// presence is the age of the last beat up to which HaveSeenAccounts asks for a process. An older one has lost the
// database, without which its caches end.
const presence = time.Minute

// StoreAccountsSeen stores that what this process remembers of accounts is at least as recent as a snapshot
// (pg_current_snapshot).
func (n *Node) StoreAccountsSeen(ctx context.Context, snapshot string) error {
	if _, err := n.db.SQL.ExecContext(ctx, `UPDATE nodes SET accounts_seen = $2 WHERE id = $1`, n.ID(), snapshot); err != nil {
		return fmt.Errorf("store which accounts were seen: %w", err)
	}
	return nil
}

// HaveSeenAccounts reports whether the snapshots of all processes contain a transaction (pg_current_xact_id). It is
// false if there is no process, or an older version, which stores none.
func HaveSeenAccounts(ctx context.Context, d *db.DB, transaction string) (bool, error) {
	seen, err := db.One(ctx, d.SQL, db.Value[bool], `SELECT coalesce(bool_and(coalesce(pg_visible_in_snapshot($1::text::xid8, accounts_seen::pg_snapshot), false)), false)
FROM nodes WHERE seen_at > now() - $2 * interval '1 microsecond'`, transaction, presence.Microseconds())
	if err != nil {
		return false, fmt.Errorf("read which accounts were seen: %w", err)
	}
	return seen, nil
}
