package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/trust"
)

// ChangeAsOperator changes a person by the operator's word. The sessions and links of one who is disabled
// end for good: they do not come back when the person is enabled again. Error: NotFound.
func (s *Service) ChangeAsOperator(ctx context.Context, emailOrID string, c team.UserChange) (*ent.User, error) {
	c.Disable = func(ctx context.Context, tx *ent.Tx, who *ent.User) error {
		return trust.End(ctx, tx, who.ID, "", who.Email, "")
	}
	changed, err := s.teams.ChangeAsOperator(ctx, emailOrID, c)
	s.seen.sessions.InvalidateAll()
	return changed, err
}
