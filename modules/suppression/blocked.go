package suppression

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/db"
)

// Address is one recipient of one message.
type Address struct {
	AccountID string
	Email     string // as recipients hold it: addr-spec in A-labels; any case
	Category  string // the label of the message's category, as the send wrote it; "" for none
}

// ReasonCategory is the reason of a block by an opt-out. The others are those of
// suppressions (ent/suppression).
const ReasonCategory = "category"

// Block says why an address may not be written to.
type Block struct {
	Reason string // "": it may be; bounce, failure, complaint, unsubscribe, manual, category
}

// BlockedSQL asks for every address under every key: a query of (place, reason)
// with a row for each address that must not be written to. It may stand inside
// another statement, so its parameters are numbered from first to before next;
// BlockedArgs gives them. Scalar sub-selects, because they are looked up in an index
// whatever the planner believes of the tables.
func (*Service) BlockedSQL(first int) (text string, next int) {
	return fmt.Sprintf(blockedSQL, first, first+1, first+2), first + 3
}

const blockedSQL = `
SELECT place, reason FROM (
  SELECT a.place, coalesce(
    (SELECT s.reason FROM suppressions s WHERE s.account_id = a.account_id AND s.address_hash = a.address_hash),
    (SELECT 'category' FROM category_opt_outs o
      WHERE a.category <> '' AND o.account_id = a.account_id AND o.address_hash = a.address_hash AND o.category = a.category)) AS reason
  FROM unnest($%d::text[], $%d::bytea[], $%d::text[]) WITH ORDINALITY AS a (account_id, address_hash, category, place)
  OFFSET 0) found
WHERE reason IS NOT NULL`

// Blocked tells which addresses must not be written to, in the order of the list:
// one statement for all of them, inside the caller's transaction and on either
// pool. A suppression outranks an opt-out.
func (s *Service) Blocked(ctx context.Context, tx db.Execer, list []Address) ([]Block, error) {
	blocks := make([]Block, len(list))
	if len(list) == 0 {
		return blocks, nil
	}
	keys := len(s.hashes.keys)
	rows, err := tx.QueryContext(ctx, blockedAlone, s.BlockedArgs(list)...)
	if err != nil {
		return nil, fmt.Errorf("look up suppressions: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var place int
		var reason string
		if err := rows.Scan(&place, &reason); err != nil {
			return nil, fmt.Errorf("look up suppressions: %w", err)
		}
		block := &blocks[(place-1)/keys]
		if block.Reason == "" || block.Reason == ReasonCategory {
			block.Reason = reason
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look up suppressions: %w", err)
	}
	return blocks, nil
}

var blockedAlone, _ = (*Service)(nil).BlockedSQL(1)

// BlockedArgs are the parameters of BlockedSQL.
func (s *Service) BlockedArgs(list []Address) []any {
	keys := len(s.hashes.keys)
	accounts, categories := make([]string, 0, len(list)*keys), make([]string, 0, len(list)*keys)
	hashes := make([][]byte, 0, len(list)*keys)
	for _, a := range list {
		category := CategoryKey(a.Category)
		for _, hash := range s.hashes.all(a.Email) {
			accounts, hashes, categories = append(accounts, a.AccountID), append(hashes, hash), append(categories, category)
		}
	}
	return []any{pq.Array(accounts), pq.Array(hashes), pq.Array(categories)}
}
