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
	drift         = 1  // steps that a clock may be off
	recoveryCodes = 10
)

// Key is what an authenticator app is given.
type Key struct {
	Secret string // base 32
	URI    string // otpauth://, for a QR code
}

func sealedFor(userID string) []byte { return []byte("second factor of " + userID) }

// NewFactor creates a secret for an authenticator app. It counts once ActivateFactor has seen a code.
// Errors: Conflict where one counts already.
func (s *Service) NewFactor(ctx context.Context, c accounts.Caller) (Key, error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: c.Person.Email})
	if err != nil {
		return Key{}, fmt.Errorf("new second factor: %w", err)
	}
	sealed := s.box.Seal([]byte(key.Secret()), sealedFor(c.Person.UserID))
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.Lock(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		if _, err := tx.SecondFactor.Delete().Where(secondfactor.ID(c.Person.UserID), secondfactor.ActiveAtIsNil()).Exec(ctx); err != nil {
			return err
		}
		err := tx.SecondFactor.Create().SetID(c.Person.UserID).SetSecret(sealed).Exec(ctx)
		if ent.IsConstraintError(err) {
			return fault.Conflictf(fault.CodeConflict, "An authenticator app is set up already: remove it first").WithCause(err)
		}
		return err
	})
	if err != nil {
		return Key{}, fault.Wrap("new second factor", err)
	}
	return Key{key.Secret(), key.URL()}, nil
}

// ActivateFactor makes an authenticator app count, by a first code, and gives recovery codes, shown this
// once. The session counts as one with a second factor; the others end. Errors: Invalid for a wrong code; NotFound
// without NewFactor.
func (s *Service) ActivateFactor(ctx context.Context, c accounts.Caller, code string) (codes []string, err error) {
	err = s.judged(ctx, s.guard.Confirm(c.Person.SessionID), c.Person.Email, func() error {
		return s.db.InTx(ctx, func(tx *ent.Tx) error {
			if err := trust.Lock(ctx, tx, c.Person.UserID); err != nil {
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
	row, err := tx.SecondFactor.Query().Where(secondfactor.ID(c.Person.UserID), secondfactor.ActiveAtIsNil()).ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("authenticator app", "ask for a secret first")
	case err != nil:
		return nil, err
	}
	step, err := s.stepOf(row, code)
	switch {
	case err != nil:
		return nil, err
	case step == 0:
		return nil, fault.InvalidField("code", "is wrong; is the clock of the device right?")
	}
	codes, hashes := newRecoveryCodes()
	if err := tx.SecondFactor.UpdateOneID(row.ID).SetActiveAt(time.Now()).SetLastStep(step).SetRecovery(hashes).Exec(ctx); err != nil {
		return nil, err
	}
	if err := tx.Session.UpdateOneID(c.Person.SessionID).SetSecondFactor(true).SetConfirmedAt(time.Now()).Exec(ctx); err != nil {
		return nil, err
	}
	return codes, trust.Changed(ctx, tx, ownChange(c, alerts.SecondFactorAdded, "second_factor.added"))
}

// ownChange is a change that the caller makes to how they sign in. Their session goes on.
func ownChange(c accounts.Caller, kind alerts.Kind, action string) trust.Change {
	return trust.Change{UserID: c.Person.UserID, Email: c.Person.Email, Keep: c.Person.SessionID, Kind: kind, Action: action}
}

// RemoveFactor takes the authenticator app away, and its recovery codes, and ends the other sessions.
// Repeating it changes nothing.
func (s *Service) RemoveFactor(ctx context.Context, c accounts.Caller) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.Lock(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		n, err := tx.SecondFactor.Delete().Where(secondfactor.ID(c.Person.UserID)).Exec(ctx)
		if err != nil || n == 0 {
			return err
		}
		return trust.Changed(ctx, tx, ownChange(c, alerts.SecondFactorRemoved, "second_factor.removed"))
	})
	s.seen.sessions.InvalidateAll()
	return fault.Wrap("remove second factor", err)
}

func activeFactor(ctx context.Context, on *ent.SecondFactorClient, userID string) (*ent.SecondFactor, error) {
	row, err := on.Query().Where(secondfactor.ID(userID), secondfactor.ActiveAtNotNil()).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	return row, err
}

// takeCode uses up a code of the app, or a recovery code, in a transaction: it is never taken again.
// Error: Unauthorized.
func (s *Service) takeCode(ctx context.Context, tx *ent.Tx, userID, code string) error {
	row, err := tx.SecondFactor.Query().Where(secondfactor.ID(userID), secondfactor.ActiveAtNotNil()).ForUpdate().Only(ctx)
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
	hash := secret.HashToken(normal(code))
	left := slices.DeleteFunc(slices.Clone(row.Recovery), func(h []byte) bool { return subtle.ConstantTimeCompare(h, hash) == 1 })
	if len(left) == len(row.Recovery) {
		return fault.Unauthenticated()
	}
	return tx.SecondFactor.UpdateOneID(userID).SetRecovery(left).Exec(ctx)
}

// stepOf returns the time step whose code it is, near to now; 0: of none.
func (s *Service) stepOf(row *ent.SecondFactor, code string) (int64, error) {
	plain, err := s.box.Open(row.Secret, sealedFor(row.ID))
	if err != nil {
		return 0, fmt.Errorf("second factor of %s: %w", row.ID, err)
	}
	code = normal(code)
	now := time.Now().Unix() / stepSeconds
	var is int64
	for step := now - drift; step <= now+drift; step++ {
		want, err := totp.GenerateCodeCustom(string(plain), time.Unix(step*stepSeconds, 0), totp.ValidateOpts{Period: stepSeconds, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, fmt.Errorf("second factor of %s: %w", row.ID, err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			is = step
		}
	}
	return is, nil
}

// normal is a code without what people put in between.
func normal(code string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(code))
}

const recoveryDigits = 12 // of base 36 or so: more than 60 bits

// newRecoveryCodes makes codes as abcdef-ghijkl, and what is stored of them.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCodes {
		token, _ := secret.NewToken("")
		text := strings.ToLower(token.Reveal())
		code := text[len(text)-recoveryDigits:] // the last digits are as likely as each other
		codes = append(codes, code[:recoveryDigits/2]+"-"+code[recoveryDigits/2:])
		hashes = append(hashes, secret.HashToken(code))
	}
	return codes, hashes
}
