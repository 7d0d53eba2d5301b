package domains

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/page"
)

// Get gives one domain of the account.
func (s *Service) Get(ctx context.Context, accountID, domainID string) (*ent.Domain, error) {
	if !id.Is(id.Domain, domainID) { // nor could every string be asked for: PostgreSQL has no NUL
		return nil, fault.Missing("domain", domainID)
	}
	found, err := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID), domain.ID(domainID)).WithKeys(shownKeys).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.Missing("domain", domainID)
	case err != nil:
		return nil, fmt.Errorf("get domain: %w", err)
	}
	return found, nil
}

// List returns one page of the account's domains, newest first. Error: Invalid.
func (s *Service) List(ctx context.Context, accountID string, r page.Request) (page.Page[*ent.Domain], error) {
	list := page.List{Name: "domains", AccountID: accountID}
	limit, after, err := s.cursors.Open(list, r.OrDefault())
	if err != nil {
		return page.Page[*ent.Domain]{}, err
	}
	query := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID)).WithKeys(shownKeys).Order(ent.Desc(domain.FieldID)).Limit(limit + 1)
	if after != "" {
		query.Where(domain.IDLT(after))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return page.Page[*ent.Domain]{}, fmt.Errorf("list domains: %w", err)
	}
	return page.Of(s.cursors, list, rows, limit, func(d *ent.Domain) string { return d.ID }), nil
}
