package accounts

import (
	"context"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

const namesSQL = `
SELECT u.id, u.email FROM users u JOIN memberships m ON m.user_id = u.id WHERE m.account_id = $1 AND u.id = ANY($2)
 UNION ALL SELECT k.id, k.name FROM api_keys k WHERE k.account_id = $1 AND k.id = ANY($2)`

// NamesOf returns display names by ID: the addresses of members of the account, and the names of its API keys. Other
// IDs, such as those of former members, are omitted.
func (s *Service) NamesOf(ctx context.Context, accountID string, ids ...string) (map[string]string, error) {
	type named struct{ id, name string }
	found, err := db.All(ctx, s.db.SQL, func(n *named) []any { return []any{&n.id, &n.name} }, namesSQL, accountID,
		db.Array(ids))
	if err != nil {
		return nil, fault.Wrap("names of authors", err)
	}
	out := make(map[string]string, len(found))
	for _, n := range found {
		out[n.id] = n.name
	}
	return out, nil
}
