package billing

import (
	"context"

	"github.com/postrider/postrider/modules/accounts"
)

// Update changes how an account is billed. Its own limit holds whether billing is on or off.
func (s *Service) Update(ctx context.Context, accountID string, c Change) (Overview, error) {
	if err := c.Validate().Err(); err != nil {
		return Overview{}, err
	}
	if c.BillingEmail != nil && !s.config.on() {
		return Overview{}, disabled()
	}
	if c.MonthlyLimit != nil {
		if _, err := s.accounts.UpdateAccount(ctx, accountID, accounts.AccountChange{MonthlyLimit: c.MonthlyLimit}); err != nil {
			return Overview{}, err
		}
	}
	return s.Overview(ctx, accountID)
}
