package domains

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/id"
	"github.com/postrider/postrider/runtime/mail/address"
)

// Find gives the account's domain with the name or the id, for the operator.
func (s *Service) Find(ctx context.Context, accountID, nameOrID string) (*ent.Domain, error) {
	if id.Is(id.Domain, nameOrID) {
		return s.Get(ctx, accountID, nameOrID)
	}
	name, err := address.ParseDomain(nameOrID)
	if err != nil {
		return nil, fault.InvalidField("domain", "%s", err)
	}
	found, err := s.db.Ent.Domain.Query().Where(domain.AccountID(accountID), domain.Name(name)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.Missing("domain", name)
	case err != nil:
		return nil, fmt.Errorf("find domain: %w", err)
	}
	return found, nil
}
