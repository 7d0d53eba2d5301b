package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
)

// EnterAs lets somebody in whom admit names, in one transaction with what admit does. admit also
// tells whether a second factor was given. Error: Unauthorized for a user who is disabled.
func (s *Service) EnterAs(ctx context.Context, method string, admit func(ctx context.Context, tx *ent.Tx) (who *ent.User, secondFactor bool, err error)) (Entered, error) {
	var entered Entered
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		who, secondFactor, err := admit(ctx, tx)
		if err != nil {
			return err
		}
		entered, err = s.start(ctx, tx, who, method, secondFactor)
		return err
	})
	return s.signedIn(ctx, entered, fault.OrUnavailable(fault.Wrap("sign in", err)))
}
