package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
)

// RequestPasswordReset requests a password reset link. The response does not reveal whether the email is known.
func (s *Service) RequestPasswordReset(ctx context.Context, email string) error {
	return s.requestLink(ctx, signinlink.PurposeReset, email, resetLife)
}

// ResetPassword sets a new password with an emailed link, ends all sessions and other links, clears the
// user's failure counters for this visitor, and signs in the user. A user with a second factor is not signed
// in; the returned Token is then zero. Errors: NotFound; Invalid.
func (s *Service) ResetPassword(ctx context.Context, token, newPassword string) (NewSession, error) {
	email, err := s.findLinkEmail(ctx, signinlink.PurposeReset, token)
	if err != nil {
		return NewSession{}, err
	}
	hash, err := s.newHash(ctx, "password", newPassword, email)
	if err != nil {
		return NewSession{}, err
	}
	v, err := s.identifyVisitor(ctx, email)
	if err != nil {
		return NewSession{}, err
	}
	var entered NewSession
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		who, err := tx.User.Query().Where(user.Email(email), user.DisabledAtIsNil()).ForUpdate().Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return invalidLinkError()
		case err != nil:
			return err
		}
		if _, err := takeLink(ctx, tx, signinlink.PurposeReset, token); err != nil {
			return err
		}
		if err := setPassword(ctx, tx, who.ID, hash); err != nil {
			return err
		}
		if err := trust.RecordChange(ctx, tx,
			trust.CredentialChange{UserID: who.ID, Email: who.Email, Kind: alerts.PasswordChanged,
				Action: "password.reset"}); err != nil {
			return err
		}
		if err := s.guard.Forget(ctx, tx, s.guard.SignIn(email, guessing.Visitor{Addr: v.Addr}),
			s.guard.SignIn(email, v), s.guard.Code(who.ID, v), s.guard.Code(who.ID, guessing.Visitor{})); err != nil {
			return err
		}
		entered.DeviceCookie = s.issueDeviceCookie(ctx, email)
		factor, err := activeFactor(ctx, tx.SecondFactor, who.ID)
		if err != nil || factor != nil {
			return err
		}
		entered, err = s.startSessionWithoutAlert(ctx, tx, who, ByLink, false)
		return err
	})
	s.seen.sessions.InvalidateAll()
	if err != nil || entered.Session == nil {
		return entered, fault.Wrap("reset password", err)
	}
	return s.finishSignIn(ctx, entered, nil)
}
