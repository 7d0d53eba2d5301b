package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/trust"
)

// ChangeAsOperator is ChangeAsOperator of the teams. Disabling a user ends their sessions and links; enabling the user
// again does not restore them.
func (s *Service) ChangeAsOperator(ctx context.Context, by accounts.Caller, emailOrID string,
	c team.UserChange) (*ent.User, error) {
	c.Disable = func(ctx context.Context, tx *ent.Tx, who *ent.User) error {
		return trust.EndSessions(ctx, tx, who.ID, "", who.Email, "")
	}
	changed, err := s.teams.ChangeAsOperator(ctx, by, emailOrID, c)
	s.seen.sessions.InvalidateAll()
	return changed, err
}
