package suppression

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// MessageRecipient is one recipient of one message.
type MessageRecipient struct {
	AccountID string
	Email     string // addr-spec with A-labels, in any case
	Category  string // the category label as sent, if any
}

// ReasonCategory is the reason of a block because of an opt-out. The other reasons are those of suppressions
// (ent/suppression).
const ReasonCategory = "category"

// Block is the reason why an address is blocked.
type Block struct {
	Reason string // empty if not blocked; otherwise bounce, failure, complaint, unsubscribe, manual or category
}

// asked is one address, hashed with one key.
type asked struct {
	accountID, category string
	hash                []byte
}

var askedRows = batch.New("blocked",
	batch.Text("account_id", func(a asked) string { return a.accountID }),
	batch.Bytes("address_hash", func(a asked) []byte { return a.hash }),
	batch.Text("category", func(a asked) string { return a.category }),
)

// BlockingSQL is FindBlocks as part of another statement: a query of (place, reason) with one row for each blocked
// address. BlockingArg returns its parameters.
func (*Service) BlockingSQL() string { return blockingSQL }

// BlockingArg returns the addresses for BlockingSQL, each hashed under every configured key.
func (s *Service) BlockingArg(list []MessageRecipient) db.Argument {
	all := make([]asked, 0, len(list)*len(s.hashes.keys))
	for _, a := range list {
		category := CategoryKey(a.Category)
		for _, hash := range s.hashes.allHashes(a.Email) {
			all = append(all, asked{a.AccountID, category, hash})
		}
	}
	return askedRows.Rows(all)
}

// Scalar subqueries force index lookups, regardless of the planner's statistics.
var blockingSQL = `
SELECT place, reason FROM (
  SELECT blocked.place, coalesce(
    (SELECT s.reason FROM suppressions s WHERE s.account_id = blocked.account_id AND s.address_hash = blocked.address_hash),
    (SELECT 'category' FROM category_opt_outs o
      WHERE blocked.category <> '' AND o.account_id = blocked.account_id AND o.address_hash = blocked.address_hash AND o.category = blocked.category)) AS reason
  FROM ` + askedRows.NumberedSource("place") + `
  OFFSET 0) found
WHERE reason IS NOT NULL`

var blockedAlone = db.Compile(blockingSQL)

// FindBlocks returns a Block for each recipient, in the order of the list. It runs one statement for all of them,
// inside the caller's transaction, on the primary or a replica. A suppression takes precedence over an opt-out.
func (s *Service) FindBlocks(ctx context.Context, tx db.Execer, list []MessageRecipient) ([]Block, error) {
	blocks := make([]Block, len(list))
	if len(list) == 0 {
		return blocks, nil
	}
	keys := len(s.hashes.keys)
	err := db.Each(ctx, tx, func(row db.Row) error {
		var place int
		var reason string
		if err := row.Scan(&place, &reason); err != nil {
			return err
		}
		block := &blocks[(place-1)/keys]
		if block.Reason == "" || block.Reason == ReasonCategory {
			block.Reason = reason
		}
		return nil
	}, blockedAlone.Text, blockedAlone.Args(s.BlockingArg(list))...)
	if err != nil {
		return nil, fmt.Errorf("look up suppressions: %w", err)
	}
	return blocks, nil
}
