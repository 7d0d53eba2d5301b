package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
)

// SignInAs signs in the user that admit returns, in the same transaction. admit also reports whether the user
// has proved a second factor. Error: Unauthorized if the user is disabled.
func (s *Service) SignInAs(ctx context.Context, method string,
	admit func(ctx context.Context, tx *ent.Tx) (who *ent.User, secondFactor bool, err error)) (NewSession, error) {
	var entered NewSession
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		who, secondFactor, err := admit(ctx, tx)
		if err != nil {
			return err
		}
		entered, err = s.startSession(ctx, tx, who, method, secondFactor)
		return err
	})
	return s.finishSignIn(ctx, entered, fault.OrUnavailable(fault.Wrap("sign in", err)))
}
