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
	return page.Newest(ctx, s.cursors, page.List{Name: "api_keys", AccountID: accountID}, r.OrDefault(), s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID)),
		func(k *ent.APIKey) string { return k.ID })
}

// CountKeys counts the account's keys, up to a number.
func (s *Service) CountKeys(ctx context.Context, accountID string, most int) (int, error) {
	found, err := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID)).Limit(most).IDs(ctx)
	return len(found), err
}

// SeveralKeys gives the keys of those ids that the account has, in no order.
func (s *Service) SeveralKeys(ctx context.Context, accountID string, keyIDs ...string) ([]*ent.APIKey, error) {
	found, err := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID), apikey.IDIn(keyIDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return found, nil
}
