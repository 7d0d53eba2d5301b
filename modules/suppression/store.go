package suppression

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postrider/postrider/ent"
	entsuppression "github.com/postrider/postrider/ent/suppression"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
	"github.com/postrider/postrider/runtime/work/event"
)

// entry is an address to suppress.
type entry struct {
	email   string
	reason  entsuppression.Reason
	emailID string // empty if there is none
}

// placed is the result for an entry.
type placed struct {
	*ent.Suppression

	added bool // added by this call
	// asked is set if this call replaced another reason with the recipient's own request.
	asked bool
}

// putSQL inserts missing rows, in the order of their hashes, so that two batches cannot deadlock. An
// unsubscribe replaces a reason that is not the recipient's own request, so that the address stays blocked
// when its bounce is resolved.
var putSQL = db.Compile(`INSERT INTO suppressions AS held (` + newRows.Columns() + `)
SELECT ` + newRows.Values() + ` FROM ` + newRows.NumberedSource("place") + ` ORDER BY n.place
ON CONFLICT (account_id, address_hash) DO UPDATE SET reason = excluded.reason, email_id = excluded.email_id
WHERE excluded.reason = 'unsubscribe' AND held.reason IN ('bounce', 'failure', 'manual')
RETURNING ` + suppressionColumns)

// newRow is the row to insert for an entry.
type newRow struct {
	entry

	id   string
	hash []byte
}

var newRows = batch.New("n",
	batch.Text("id", func(n newRow) string { return n.id }),
	batch.ComputedColumn[newRow]("account_id", "@account_id::text"),
	batch.Bytes("address_hash", func(n newRow) []byte { return n.hash }),
	batch.Text("email", func(n newRow) string { return canonicalAddress(n.email) }),
	batch.Text("reason", func(n newRow) entsuppression.Reason { return n.reason }),
	batch.Text("email_id", func(n newRow) string { return n.emailID }).OrNull(),
	batch.ComputedColumn[newRow]("created_at", "now()"),
)

const suppressionColumns = `id, account_id, address_hash, email, reason, email_id, created_at`

const heldSQL = `
SELECT ` + suppressionColumns + ` FROM suppressions WHERE account_id = $1 AND address_hash = ANY($2::bytea[])`

// errMoving is returned if rows appeared and disappeared between the statements.
var errMoving = errors.New("suppressions of an address changed concurrently too often")

// put suppresses addresses within a transaction. It returns their rows in the same order, and facts for those
// that it added. Wake the bus after the commit.
func (s *Service) put(ctx context.Context, tx db.Execer, accountID string, entries []entry) ([]placed, error) {
	byHash := map[string]entry{}
	var order [][]byte
	for _, e := range entries {
		hash := s.hashes.newHash(e.email)
		if _, twice := byHash[string(hash)]; !twice {
			byHash[string(hash)] = e
			order = append(order, hash)
		}
	}
	slices.SortFunc(order, bytes.Compare)
	if err := s.renew(ctx, tx, accountID, entries); err != nil {
		return nil, err
	}
	found := map[string]placed{}
	// A conflicting row may be deleted before the lookup.
	for range 3 {
		if err := s.insert(ctx, tx, accountID, order, byHash, found); err != nil {
			return nil, fmt.Errorf("suppress: %w", err)
		}
		order = slices.DeleteFunc(order, func(hash []byte) bool { _, known := found[string(hash)]; return known })
		if len(order) == 0 {
			break
		}
	}
	if len(order) > 0 {
		return nil, errMoving
	}
	return s.inOrder(ctx, tx, accountID, entries, found)
}

// insert inserts the hashes, and looks up existing ones.
func (s *Service) insert(ctx context.Context, tx db.Execer, accountID string, order [][]byte, byHash map[string]entry,
	found map[string]placed) error {
	fresh := make([]newRow, len(order))
	made := map[string]bool{}
	for i, hash := range order {
		fresh[i] = newRow{entry: byHash[string(hash)], id: id.New(id.Suppression), hash: hash}
		made[fresh[i].id] = true
	}
	rows, err := db.All(ctx, tx, scanSuppression, putSQL.Text,
		putSQL.Args(newRows.Rows(fresh), db.Arg("account_id", accountID))...)
	if err != nil {
		return err
	}
	for _, row := range rows {
		found[string(row.AddressHash)] = placed{Suppression: row, added: made[row.ID], asked: !made[row.ID]}
	}
	if len(rows) == len(order) {
		return nil
	}
	if rows, err = db.All(ctx, tx, scanSuppression, heldSQL, accountID, db.Array(order)); err != nil {
		return err
	}
	for _, row := range rows {
		if _, known := found[string(row.AddressHash)]; !known {
			found[string(row.AddressHash)] = placed{Suppression: row}
		}
	}
	return nil
}

// inOrder returns the rows in the order of the entries. If an address occurs twice, only the first occurrence
// counts as added.
func (s *Service) inOrder(ctx context.Context, tx db.Execer, accountID string, entries []entry,
	found map[string]placed) ([]placed, error) {
	out := make([]placed, len(entries))
	var facts []event.Fact
	for i, e := range entries {
		hash := string(s.hashes.newHash(e.email))
		out[i] = found[hash]
		if out[i].added {
			facts = append(facts, event.New(accountID, event.SuppressionAdded, out[i].CreatedAt,
				eventPayload(out[i].Suppression)))
		}
		found[hash] = placed{Suppression: out[i].Suppression}
	}
	if err := s.bus.Publish(ctx, tx, facts...); err != nil {
		return nil, err
	}
	return out, nil
}

func eventPayload(row *ent.Suppression) event.Suppression {
	return event.Suppression{SuppressionID: row.ID, Email: row.Email, Reason: string(row.Reason), EmailID: row.EmailID}
}

// scanSuppression scans suppressionColumns.
func scanSuppression(row **ent.Suppression) []any {
	r := &ent.Suppression{}
	*row = r
	return []any{&r.ID, &r.AccountID, &r.AddressHash, &r.Email, &r.Reason, &r.EmailID, &r.CreatedAt}
}
