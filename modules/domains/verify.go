package domains

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
)

// Verify checks a domain's records now and stores the results. A domain that stays unverified is not an
// error: its records contain advice. It returns domain_claimed if all records are valid but another account
// was first.
func (s *Service) Verify(ctx context.Context, accountID, domainID string) (*ent.Domain, error) {
	d, err := s.Get(ctx, accountID, domainID)
	if err != nil || d.Seeded {
		return d, err
	}
	seen, err := s.checks.check(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("verify: %w", err) // the caller disconnected, which canceled the lookups
	}
	var stored outcome
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		stored, err = s.checks.store(ctx, tx, d, nil, seen)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	s.checks.announce(d, stored)
	if stored.claimed {
		return nil, s.refuseClaimed(ctx, accountID, d.Name)
	}
	return s.Get(ctx, accountID, domainID)
}
