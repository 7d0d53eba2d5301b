package domains

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
)

// Verify checks a domain's records now and stores what was seen. A domain that
// stays unverified is no error: its records say what to do. The error is
// domain_claimed when everything is right but another account was first.
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
		return nil, fmt.Errorf("verify: %w", err) // the caller has gone, and took the look-ups along
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
