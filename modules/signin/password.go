package signin

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/password"
	"github.com/postrider/postrider/ent/session"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/passkeys"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

// Credentials are the input of a sign-in.
type Credentials struct {
	Email    string
	Password string
	Code     string // a TOTP code or a recovery code; empty if not sent
}

// userCredentials holds the stored credentials of a user; zero for an unknown email.
type userCredentials struct {
	user   *ent.User
	hash   string
	factor *ent.SecondFactor // nil if none is active
}

// SignIn signs in a user with a password, and with a code if a second factor is set up. Errors: Invalid;
// Unauthorized, the same for an unknown email, a wrong password and a wrong code; Forbidden with
// second_factor_required; Limit; Unavailable.
func (s *Service) SignIn(ctx context.Context, in Credentials) (NewSession, error) {
	if !s.config.Passwords {
		return NewSession{}, fault.Unauthenticated()
	}
	wrong := fault.Fields{}
	email := accounts.CheckEmail(wrong, "email", in.Email)
	if err := wrong.Err(); err != nil {
		return NewSession{}, err
	}
	var entered NewSession
	err := s.runPasswordAttempt(ctx, email, func(turn *passwords.Slot, v guessing.Visitor) (err error) {
		entered, err = s.signIn(ctx, turn, v, email, in)
		return err
	})
	return s.finishSignIn(ctx, entered, fault.Wrap("sign in", err))
}

func (s *Service) signIn(ctx context.Context, turn *passwords.Slot, v guessing.Visitor, email string,
	in Credentials) (entered NewSession, err error) {
	who, err := s.findCredentials(ctx, email)
	if err != nil {
		return entered, err
	}
	same := turn.Check(ctx, in.Password, who.hash)
	switch {
	case !same || who.user.DisabledAt != nil:
		return entered, fault.Unauthenticated()
	case who.factor != nil && in.Code == "":
		return entered, codeRequiredError()
	}
	err = s.withCode(ctx, who, v, in.Code, func(tx *ent.Tx) (err error) {
		entered, err = s.startSession(ctx, tx, who.user, ByPassword, who.factor != nil)
		return err
	})
	return entered, err
}

// withCode checks and uses the code of a user whose password was correct, then runs then in the same
// transaction. Without a second factor no code is needed. Wrong codes have their own counter. Errors:
// Unauthorized; Limit; errors of then.
func (s *Service) withCode(ctx context.Context, who userCredentials, v guessing.Visitor, code string,
	then func(tx *ent.Tx) error) error {
	if who.factor == nil {
		return s.db.InTx(ctx, then)
	}
	return s.runAttempt(ctx, s.guard.Code(who.user.ID, v), "", func() error {
		return s.db.InTx(ctx, func(tx *ent.Tx) error {
			if err := s.takeCode(ctx, tx, who.user.ID, code); err != nil {
				return err
			}
			return then(tx)
		})
	})
}

func codeRequiredError() error {
	return fault.Forbiddenf(fault.CodeSecondFactorRequired,
		"Send the code of your authenticator app, or a recovery code, along with email and password")
}

// findCredentials looks up the credentials of the user with the email. For an unknown email it returns the
// zero value after the same number of queries, so response times do not reveal which emails are known.
func (s *Service) findCredentials(ctx context.Context, email string) (userCredentials, error) {
	who, err := s.db.Ent.User.Query().Where(user.Email(email)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		_, err := s.loadCredentials(ctx, &ent.User{})
		return userCredentials{}, err
	case err != nil:
		return userCredentials{}, fault.OrUnavailable(fmt.Errorf("sign in: %w", err))
	}
	return s.loadCredentials(ctx, who)
}

func (s *Service) loadCredentials(ctx context.Context, who *ent.User) (k userCredentials, err error) {
	k.user = who
	row, err := s.db.Ent.Password.Query().Where(password.ID(who.ID)).Only(ctx)
	switch {
	case err == nil:
		k.hash = row.Hash
	case !ent.IsNotFound(err):
		return userCredentials{}, fault.OrUnavailable(fmt.Errorf("sign in: %w", err))
	}
	if k.factor, err = activeFactor(ctx, s.db.Ent.SecondFactor, who.ID); err != nil {
		return userCredentials{}, fault.OrUnavailable(fmt.Errorf("sign in: %w", err))
	}
	return k, nil
}

// setPassword stores the hash of a new password, in a transaction.
func setPassword(ctx context.Context, tx *ent.Tx, userID, hash string) error {
	n, err := tx.Password.Update().Where(password.ID(userID)).SetHash(hash).SetChangedAt(time.Now()).Save(ctx)
	if err != nil || n > 0 {
		return err
	}
	return tx.Password.Create().SetID(userID).SetHash(hash).Exec(ctx)
}

// newHash validates and hashes a new password of an authenticated user. Errors: Invalid for the field;
// Unavailable.
func (s *Service) newHash(ctx context.Context, field, password, email string) (string, error) {
	if err := passwords.Check(password, email); err != nil {
		return "", fault.InvalidField(field, "%s", err)
	}
	return s.hasher.Hash(ctx, trustedCaller, password)
}

// Confirmation is the input for confirming a session: a password, a code, or a passkey.
type Confirmation struct {
	Password, Code string
	Passkey        *passkeys.CeremonyResult
}

func (c Confirmation) countMethods() (n int) {
	for _, given := range []bool{c.Password != "", c.Code != "", c.Passkey != nil} {
		if given {
			n++
		}
	}
	return n
}

// Confirm allows a session to perform sensitive actions for ten minutes, and issues a new cookie. Errors:
// Invalid; Unauthorized; Limit; Unavailable.
func (s *Service) Confirm(ctx context.Context, c accounts.Caller, in Confirmation) (NewSession, error) {
	if in.countMethods() != 1 {
		return NewSession{}, fault.InvalidField("password",
			"cannot be combined: send exactly one of password, code and passkey")
	}
	entered, err := s.confirmBy(ctx, c, in)
	s.seen.sessions.InvalidateAll()
	return s.completeSession(ctx, entered, fault.Wrap("confirm", err))
}

func (s *Service) confirmBy(ctx context.Context, c accounts.Caller, in Confirmation) (entered NewSession, err error) {
	if in.Passkey != nil {
		return s.confirmByPasskey(ctx, c, *in.Passkey)
	}
	if in.Password != "" {
		err = s.runSessionAttempt(ctx, c, func(turn *passwords.Slot) error {
			if err := s.checkOwnPassword(ctx, turn, c, in.Password); err != nil {
				return err
			}
			entered, err = s.confirmNow(ctx, c, "")
			return err
		})
		return entered, err
	}
	err = s.runAttempt(ctx, s.guard.Confirm(c.Person.SessionID), c.Person.Email, func() error {
		entered, err = s.confirmNow(ctx, c, in.Code)
		return err
	})
	return entered, err
}

func (s *Service) confirmNow(ctx context.Context, c accounts.Caller, code string) (entered NewSession, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) (err error) {
		if code != "" {
			if err := s.takeCode(ctx, tx, c.Person.UserID, code); err != nil {
				return err
			}
		}
		entered, err = s.confirmSession(ctx, tx, c, code != "")
		return err
	})
	return entered, err
}

// checkOwnPassword returns an error if the password is not the caller's. Errors: Unauthorized; Unavailable.
func (s *Service) checkOwnPassword(ctx context.Context, turn *passwords.Slot, c accounts.Caller,
	password string) error {
	who, err := s.findCredentials(ctx, c.Person.Email)
	if err != nil {
		return err
	}
	if !turn.Check(ctx, password, who.hash) || who.user.ID != c.Person.UserID {
		return fault.Unauthenticated()
	}
	return nil
}

// confirmSession marks the session as confirmed now and issues a new cookie, in a transaction. With factor,
// it also marks the session as authenticated with a second factor.
func (s *Service) confirmSession(ctx context.Context, tx *ent.Tx, c accounts.Caller, factor bool) (NewSession, error) {
	token, hash := secret.NewToken("")
	row, err := tx.Session.Query().Where(session.ID(c.Person.SessionID), session.RevokedAtIsNil()).ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return NewSession{}, fault.Unauthenticated() // signed out a moment ago
	case err != nil:
		return NewSession{}, err
	}
	update := tx.Session.UpdateOneID(row.ID).SetTokenHash(hash).SetConfirmedAt(time.Now())
	if factor {
		update.SetSecondFactor(true)
	}
	changed, err := update.Save(ctx)
	if err != nil {
		return NewSession{}, err
	}
	return NewSession{Token: token, DeviceCookie: s.issueDeviceCookie(ctx, c.Person.Email),
		View: View{Session: changed.Unwrap()}}, nil
}
