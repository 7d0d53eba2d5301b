package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/runtime/base/fault"
)

// Passkeys returns the service that manages passkeys.
func (s *Service) Passkeys() *passkeys.Service { return s.passkeys }

// SignInByPasskey signs in a user with a passkey, which counts as both factors. Failed passwords do not block
// it. Errors: Invalid; Unauthorized; Conflict if passkeys are unavailable.
func (s *Service) SignInByPasskey(ctx context.Context, in passkeys.CeremonyResult) (NewSession, error) {
	var entered NewSession
	err := s.passkeys.Verify(ctx, in, func(tx *ent.Tx, who *ent.User) (err error) {
		entered, err = s.startSession(ctx, tx, who, ByPasskey, true)
		return err
	})
	return s.finishSignIn(ctx, entered, fault.Wrap("sign in by passkey", err))
}

// confirmByPasskey is Confirm with one of the caller's passkeys.
func (s *Service) confirmByPasskey(ctx context.Context, c accounts.Caller,
	in passkeys.CeremonyResult) (entered NewSession, err error) {
	err = s.passkeys.Verify(ctx, in, func(tx *ent.Tx, who *ent.User) (err error) {
		if who.ID != c.Person.UserID {
			return fault.Unauthenticated()
		}
		entered, err = s.confirmSession(ctx, tx, c, true)
		return err
	})
	return entered, err
}
