package signin

import (
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/secondfactor"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
)

const (
	issuer        = "Postrider"
	stepSeconds   = 30 // RFC 6238 section 4.1
	drift         = 1  // accepted clock difference, in steps
	recoveryCodes = 10
)

// TOTPKey is the input for an authenticator app.
type TOTPKey struct {
	Secret string // base 32
	URI    string // otpauth://, for a QR code
}

func sealPurpose(userID string) []byte { return []byte("second factor of " + userID) }

// CreateSecondFactor creates a secret for an authenticator app. ActivateSecondFactor activates it. Error: Conflict if a
// second factor is active.
func (s *Service) CreateSecondFactor(ctx context.Context, c accounts.Caller) (TOTPKey, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: c.Person.Email})
	if err != nil {
		return TOTPKey{}, fmt.Errorf("new second factor: %w", err)
	}
	sealed := s.box.Seal([]byte(key.Secret()), sealPurpose(c.Person.UserID))
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		if _, err := tx.SecondFactor.Delete().Where(secondfactor.ID(c.Person.UserID), secondfactor.ActiveAtIsNil()).
			Exec(ctx); err != nil {
			return err
		}
		err := tx.SecondFactor.Create().SetID(c.Person.UserID).SetSecret(sealed).Exec(ctx)
		if ent.IsConstraintError(err) {
			return fault.Conflictf(fault.CodeConflict, "An authenticator app is already set up. Remove it first.").
				WithCause(err)
		}
		return err
	})
	if err != nil {
		return TOTPKey{}, fault.Wrap("new second factor", err)
	}
	return TOTPKey{key.Secret(), key.URL()}, nil
}

// ActivateSecondFactor activates an authenticator app with its first code, and returns recovery codes, which cannot
// be read again. The current session counts as authenticated with a second factor; all others end. Errors:
// Invalid for a wrong code; NotFound without CreateSecondFactor.
func (s *Service) ActivateSecondFactor(ctx context.Context, c accounts.Caller,
	code string) (codes []string, err error) {
	err = s.runAttempt(ctx, s.guard.Confirm(c.Person.SessionID), c.Person.Email, func() error {
		return s.db.InTx(ctx, func(tx *ent.Tx) error {
			if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
				return err
			}
			codes, err = s.activate(ctx, tx, c, code)
			return err
		})
	})
	if err != nil {
		return nil, fault.Wrap("activate second factor", err)
	}
	s.seen.sessions.InvalidateAll()
	return codes, nil
}

func (s *Service) activate(ctx context.Context, tx *ent.Tx, c accounts.Caller, code string) ([]string, error) {
	row, err := tx.SecondFactor.Query().Where(secondfactor.ID(c.Person.UserID), secondfactor.ActiveAtIsNil()).
		ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("authenticator app", "request a secret first")
	case err != nil:
		return nil, err
	}
	step, err := s.stepOf(row, code)
	switch {
	case err != nil:
		return nil, err
	case step == 0:
		return nil, fault.InvalidField("code", "is wrong; check the clock of your device")
	}
	codes, hashes := newRecoveryCodes()
	if err := tx.SecondFactor.UpdateOneID(row.ID).SetActiveAt(time.Now()).SetLastStep(step).SetRecovery(hashes).
		Exec(ctx); err != nil {
		return nil, err
	}
	if err := tx.Session.UpdateOneID(c.Person.SessionID).SetSecondFactor(true).SetConfirmedAt(time.Now()).
		Exec(ctx); err != nil {
		return nil, err
	}
	return codes, trust.RecordChange(ctx, tx, ownChange(c, alerts.SecondFactorAdded, "second_factor.added"))
}

// ownChange is a change of the caller's credentials, which does not end the caller's session.
func ownChange(c accounts.Caller, kind alerts.Kind, action string) trust.CredentialChange {
	return trust.CredentialChange{UserID: c.Person.UserID, Email: c.Person.Email, KeepSession: c.Person.SessionID, Kind: kind,
		Action: action}
}

// RemoveSecondFactor removes the authenticator app and its recovery codes, and ends the other sessions. Repeated
// calls have no effect.
func (s *Service) RemoveSecondFactor(ctx context.Context, c accounts.Caller) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		n, err := tx.SecondFactor.Delete().Where(secondfactor.ID(c.Person.UserID)).Exec(ctx)
		if err != nil || n == 0 {
			return err
		}
		return trust.RecordChange(ctx, tx, ownChange(c, alerts.SecondFactorRemoved, "second_factor.removed"))
	})
	s.seen.sessions.InvalidateAll()
	return fault.Wrap("remove second factor", err)
}

func activeFactor(ctx context.Context, on *ent.SecondFactorClient, userID string) (*ent.SecondFactor, error) {
	row, err := on.Query().Where(secondfactor.ID(userID), secondfactor.ActiveAtNotNil()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nil means no active factor
	}
	return row, err
}

// takeCode checks a TOTP or recovery code and marks it as used, in a transaction. Error: Unauthorized.
func (s *Service) takeCode(ctx context.Context, tx *ent.Tx, userID, code string) error {
	row, err := tx.SecondFactor.Query().Where(secondfactor.ID(userID), secondfactor.ActiveAtNotNil()).
		ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return fault.Unauthenticated()
	case err != nil:
		return err
	}
	step, err := s.stepOf(row, code)
	switch {
	case err != nil:
		return err
	case step > row.LastStep:
		return tx.SecondFactor.UpdateOneID(userID).SetLastStep(step).Exec(ctx)
	}
	hash := secret.HashToken(normalizeCode(code))
	left := slices.DeleteFunc(slices.Clone(row.Recovery),
		func(h []byte) bool { return subtle.ConstantTimeCompare(h, hash) == 1 })
	if len(left) == len(row.Recovery) {
		return fault.Unauthenticated()
	}
	return tx.SecondFactor.UpdateOneID(userID).SetRecovery(left).Exec(ctx)
}

// stepOf returns the time step of a code, or 0 if it is not within drift of the current step.
func (s *Service) stepOf(row *ent.SecondFactor, code string) (int64, error) {
	plain, err := s.box.Open(row.Secret, sealPurpose(row.ID))
	if err != nil {
		return 0, fmt.Errorf("second factor of %s: %w", row.ID, err)
	}
	code = normalizeCode(code)
	now := time.Now().Unix() / stepSeconds
	var is int64
	for step := now - drift; step <= now+drift; step++ {
		want, err := totp.GenerateCodeCustom(string(plain), time.Unix(step*stepSeconds, 0),
			totp.ValidateOpts{Period: stepSeconds, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, fmt.Errorf("second factor of %s: %w", row.ID, err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			is = step
		}
	}
	return is, nil
}

// normalizeCode returns a code in lower case, without spaces and hyphens.
func normalizeCode(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

const recoveryDigits = 12 // base 36: more than 60 bits

// newRecoveryCodes returns new codes, such as abcdef-ghijkl, and the hashes to store.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		token, _ := secret.NewToken("")
		text := strings.ToLower(token.Reveal())
		code := text[len(text)-recoveryDigits:] // the last digits are uniformly distributed
		codes = append(codes, code[:recoveryDigits/2]+"-"+code[recoveryDigits/2:])
		hashes = append(hashes, secret.HashToken(code))
	}
	return codes, hashes
}
