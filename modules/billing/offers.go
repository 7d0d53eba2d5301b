package billing

import (
	"context"
)

// Offers lists the plans: those that a customer may choose, and the account's own.
func (s *Service) Offers(ctx context.Context, accountID string) ([]Offer, error) {
	account, err := s.accounts.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	all, err := s.plans.Plans(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Offer, 0, len(all))
	for _, p := range all {
		if current := p.ID == account.Plan.ID; p.SelfService || current {
			out = append(out, Offer{Plan: p, Current: current})
		}
	}
	return out, nil
}
