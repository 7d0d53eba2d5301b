// Package credentials contains the shared code for API keys, SMTP credentials and sessions: their creators,
// whose roles limit what a key may do, and the column last_used_at.
package credentials

import (
	"context"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Columns and Joins select the creator of a row k with account_id and created_by, for a Row. The role of a
// creator is the current role if the creator is a member, or the last role if the creator has left. A former
// member whose last role is unknown counts as a developer, because developers may create keys.
const (
	Columns = `k.created_by IS NOT NULL, coalesce(m.role, f.role, 'developer'), m.id IS NULL OR u.disabled_at IS NOT NULL`
	Joins   = `LEFT JOIN memberships m ON m.account_id = k.account_id AND m.user_id = k.created_by
	LEFT JOIN former_members f ON f.account_id = k.account_id AND f.user_id = k.created_by LEFT JOIN users u ON u.id = k.created_by`
)

// Row is the scan target for Columns.
type Row struct {
	known   bool
	creator rights.Creator
}

// ScanTargets returns the scan destinations of Columns, in order.
func (r *Row) ScanTargets() []any { return []any{&r.known, &r.creator.Role, &r.creator.Former} }

// Creator returns the creator of the row, or nil if the operator of the installation created it.
func (r *Row) Creator() *rights.Creator {
	if !r.known {
		return nil
	}
	return &r.creator
}

const ofKeysSQL = `SELECT k.id, ` + Columns + ` FROM api_keys k ` + Joins + ` WHERE k.account_id = $1 AND k.id = ANY($2)`

// OfKeys returns the creators of the API keys of an account, by key id. Keys that the operator created are
// omitted.
func OfKeys(ctx context.Context, on db.Execer, accountID string, keyIDs ...string) (map[string]rights.Creator, error) {
	type keyRow struct {
		id string
		Row
	}
	rows, err := db.All(ctx, on, func(r *keyRow) []any { return append([]any{&r.id}, r.ScanTargets()...) }, ofKeysSQL,
		accountID, db.Array(keyIDs))
	if err != nil {
		return nil, err
	}
	found := make(map[string]rights.Creator, len(rows))
	for _, r := range rows {
		if r.known {
			found[r.id] = r.creator
		}
	}
	return found, nil
}
