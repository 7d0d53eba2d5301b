package accounts

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/page"
)

// KeyPage is one page of keys, newest first.
type KeyPage struct {
	Keys       []*ent.APIKey
	HasMore    bool
	NextCursor string // empty on the last page
}

// Keys lists the account's keys, revoked ones included.
func (s *Service) Keys(ctx context.Context, accountID string, r page.Request) (KeyPage, error) {
	if r.Limit == 0 {
		r.Limit = page.DefaultLimit
	}
	if r.Limit < 1 || r.Limit > page.MaxLimit {
		return KeyPage{}, fault.InvalidField("limit", "must be between 1 and %d", page.MaxLimit)
	}
	list := page.List{Name: "api_keys", AccountID: accountID}
	after, err := s.cursors.Decode(list, r.Cursor)
	if err != nil {
		return KeyPage{}, err
	}
	query := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID)).Order(ent.Desc(apikey.FieldID)).Limit(r.Limit + 1)
	if after != "" {
		query.Where(apikey.IDLT(after))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return KeyPage{}, fmt.Errorf("keys: %w", err)
	}
	if len(rows) <= r.Limit {
		return KeyPage{Keys: rows}, nil
	}
	rows = rows[:r.Limit]
	return KeyPage{Keys: rows, HasMore: true, NextCursor: s.cursors.Encode(list, rows[r.Limit-1].ID)}, nil
}
