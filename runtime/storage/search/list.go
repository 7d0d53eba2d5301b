package search

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Listing reads pages of a table, newest row first. Its cursors are named after the table.
type Listing[R any] struct {
	Table Table
	DB    *db.DB
	Pages *page.Codec
	ID    func(row R) string
	// Read returns up to limit rows that meet a condition, in an order.
	Read func(ctx context.Context, on *ent.Client, condition, order func(*sql.Selector), limit int) ([]R, error)
}

// Page returns one page. It returns Invalid for limit, cursor or a field of the filter. The filter returns the Terms,
// Conditions and Index of the requested rows, or nil for all rows of the account.
func (l Listing[R]) Page(ctx context.Context, accountID string, r page.Request,
	filter func(accountID string) (*PageRequest, error)) (page.Page[R], error) {
	return page.Read(l.Pages, l.identify(accountID), r, func(at page.Position) (rows []R, err error) {
		wanted, err := filter(accountID)
		if err != nil {
			return nil, err
		}
		err = l.DB.Read(ctx, func(on *ent.Client) error {
			rows, err = l.readPage(ctx, on, accountID, at, wanted)
			return err
		})
		return rows, err
	}, l.ID)
}

func (l Listing[R]) identify(accountID string) page.List {
	return page.List{Name: l.Table.Name, AccountID: accountID}
}

// Cursor returns the cursor that continues the list after a row.
func (l Listing[R]) Cursor(accountID, rowID string) string {
	return l.Pages.Encode(l.identify(accountID), rowID)
}

// Count counts the rows that match a filter, up to most. It returns Invalid for a field of the filter.
func (l Listing[R]) Count(ctx context.Context, accountID string,
	filter func(accountID string) (*PageRequest, error), most int) (int, error) {
	wanted, err := filter(accountID)
	if err != nil {
		return 0, err
	}
	var found []string
	err = l.DB.Read(ctx, func(on *ent.Client) (err error) {
		if wanted == nil {
			found, err = selectIDs(ctx, on, db.Query{
				Text: `SELECT id FROM ` + l.Table.Name + ` WHERE account_id = $1 LIMIT $2`, Args: []any{accountID, most}})
		} else {
			wanted.AccountID, wanted.Limit = accountID, most
			found, err = l.Table.Find(ctx, on, *wanted)
		}
		return err
	})
	return len(found), err
}

func (l Listing[R]) readPage(ctx context.Context, on *ent.Client, accountID string, at page.Position,
	wanted *PageRequest) ([]R, error) {
	read := func(condition func(*sql.Selector)) ([]R, error) {
		return l.Read(ctx, on, sql.AndPredicates(sql.FieldEQ("account_id", accountID), condition), at.Order("id"),
			at.Rows())
	}
	switch {
	case wanted != nil:
		wanted.AccountID, wanted.StartAfter, wanted.Back, wanted.Limit = accountID, at.ID, at.Back, at.Rows()
		found, err := l.Table.Find(ctx, on, *wanted)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		return read(sql.FieldIn("id", found...))
	case at.Back:
		return read(at.NewestFirst("id"))
	}
	// Most pages are filled by recent rows.
	if recent := l.Table.RecentBound(ctx, on, at.ID); recent != "" {
		found, err := read(sql.AndPredicates(at.NewestFirst("id"), sql.FieldGTE("id", recent)))
		if err != nil || len(found) == at.Rows() {
			return found, err
		}
	}
	return read(at.NewestFirst("id"))
}
