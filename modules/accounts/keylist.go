package accounts

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/modules/accounts/credentials"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// KeyFilter narrows a list of keys; empty fields match everything.
type KeyFilter struct {
	Text    string // part of the name
	Scope   apikey.Scope
	Revoked *bool
}

// Keys returns one page of the account's keys, newest first, revoked ones included.
// Error: Invalid.
func (s *Service) Keys(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.APIKey], error) {
	return s.FilteredKeys(ctx, accountID, KeyFilter{}, r)
}

// FilteredKeys is Keys with a filter.
func (s *Service) FilteredKeys(ctx context.Context, accountID string, f KeyFilter,
	r page.Request) (page.Page[*ent.APIKey], error) {
	query, err := s.keyQuery(accountID, f)
	if err != nil {
		return page.Page[*ent.APIKey]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "api_keys", AccountID: accountID}, r.OrDefault(), query,
		func(k *ent.APIKey) string { return k.ID })
}

// CountKeys returns the number of the account's keys that match a filter, up to the limit most.
func (s *Service) CountKeys(ctx context.Context, accountID string, f KeyFilter, most int) (int, error) {
	query, err := s.keyQuery(accountID, f)
	if err != nil {
		return 0, err
	}
	found, err := query.Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) keyQuery(accountID string, f KeyFilter) (*ent.APIKeyQuery, error) {
	if err := fault.CheckTexts(map[string]string{"query": f.Text}); err != nil {
		return nil, err
	}
	query := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID))
	if f.Text != "" {
		query.Where(apikey.NameContainsFold(f.Text))
	}
	if f.Scope != "" {
		query.Where(apikey.ScopeEQ(f.Scope))
	}
	switch {
	case f.Revoked == nil:
	case *f.Revoked:
		query.Where(apikey.RevokedAtNotNil())
	default:
		query.Where(apikey.RevokedAtIsNil())
	}
	return query, nil
}

// CreatorsOf returns the creators of an account's keys, by key id. Keys that the operator created are
// omitted.
func (s *Service) CreatorsOf(ctx context.Context, accountID string,
	keyIDs ...string) (map[string]rights.Creator, error) {
	found, err := credentials.OfKeys(ctx, s.db.SQL, accountID, keyIDs...)
	return found, fault.Wrap("creators of keys", err)
}

// IsWithin reports whether a key is limited to domains, all of which are among the given ones.
func (s *Service) IsWithin(ctx context.Context, accountID, keyID string, domainIDs []string) (bool, error) {
	found, err := s.Key(ctx, accountID, keyID)
	if err != nil {
		return false, err
	}
	return rights.IsSubset(found.DomainIds, domainIDs), nil
}

// KeysByID returns the keys with the given ids that belong to the account, in no particular order.
func (s *Service) KeysByID(ctx context.Context, accountID string, keyIDs ...string) ([]*ent.APIKey, error) {
	found, err := s.db.Ent.APIKey.Query().Where(apikey.AccountID(accountID), apikey.IDIn(keyIDs...)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return found, nil
}
