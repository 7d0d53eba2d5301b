package accounts

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/runtime/page"
)

// Keys returns one page of the account's keys, newest first, revoked ones included.
// Error: Invalid.
func (s *Service) Keys(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.APIKey], error) {
	list := page.List{Name: "api_keys", AccountID: accountID}
	limit, after, err := s.cursors.Open(list, r.OrDefault())
	if err != nil {
		return page.Page[*ent.APIKey]{}, err
	}
	query := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID)).Order(ent.Desc(apikey.FieldID)).Limit(limit + 1)
	if after != "" {
		query.Where(apikey.IDLT(after))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return page.Page[*ent.APIKey]{}, fmt.Errorf("keys: %w", err)
	}
	return page.Of(s.cursors, list, rows, limit, func(k *ent.APIKey) string { return k.ID }), nil
}

// SeveralKeys gives the keys of those ids that the account has, in no order.
func (s *Service) SeveralKeys(ctx context.Context, accountID string, keyIDs ...string) ([]*ent.APIKey, error) {
	found, err := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID), apikey.IDIn(keyIDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return found, nil
}
