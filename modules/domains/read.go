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

// Page is one page of domains, newest first.
type Page struct {
	Domains    []*ent.Domain
	HasMore    bool
	NextCursor string // empty on the last page
}

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

// List lists the account's domains.
func (s *Service) List(ctx context.Context, accountID string, r page.Request) (Page, error) {
	if r.Limit == 0 {
		r.Limit = page.DefaultLimit
	}
	if r.Limit < 1 || r.Limit > page.MaxLimit {
		return Page{}, fault.InvalidField("limit", "must be between 1 and %d", page.MaxLimit)
	}
	list := page.List{Name: "domains", AccountID: accountID}
	after, err := s.cursors.Decode(list, r.Cursor)
	if err != nil {
		return Page{}, err
	}
	query := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID)).WithKeys(shownKeys).Order(ent.Desc(domain.FieldID)).Limit(r.Limit + 1)
	if after != "" {
		query.Where(domain.IDLT(after))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return Page{}, fmt.Errorf("list domains: %w", err)
	}
	if len(rows) <= r.Limit {
		return Page{Domains: rows}, nil
	}
	rows = rows[:r.Limit]
	return Page{Domains: rows, HasMore: true, NextCursor: s.cursors.Encode(list, rows[r.Limit-1].ID)}, nil
}
