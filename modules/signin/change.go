package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
)

// UserChange is a change of the caller's own user; nil fields do not change.
type UserChange struct {
	Name     *string
	Email    *string // takes effect once the link sent to this address is used
	Password *PasswordChange
	Alerts   alerts.Preferences // in the caller's current account; topics that are missing do not change
}

// PasswordChange is the current and the new password. Current is empty if the user has no password yet.
type PasswordChange struct{ Current, New string }

// ChangeUser changes the caller's user. A new password ends the other sessions, all links and a pending email
// change. Errors: Invalid; Forbidden with confirmation_required; Limit for wrong current passwords, and for
// emails to one address or from one network.
func (s *Service) ChangeUser(ctx context.Context, c accounts.Caller, change UserChange) (Profile, error) {
	wrong := fault.Fields{}
	if change.Name != nil {
		*change.Name = accounts.CheckName(wrong, "name", *change.Name)
	}
	if change.Email != nil {
		*change.Email = checkEmail(wrong, *change.Email)
	}
	if err := wrong.Err(); err != nil {
		return Profile{}, err
	}
	if change.Email != nil || change.Password != nil {
		if err := c.RequireConfirmation(); err != nil {
			return Profile{}, err
		}
	}
	var hash string
	if change.Password != nil {
		var err error
		if hash, err = s.replacePassword(ctx, c, *change.Password); err != nil {
			return Profile{}, err
		}
	}
	if change.Email != nil && *change.Email == c.Person.Email {
		change.Email = nil
	}
	err := s.db.InTx(ctx, func(tx *ent.Tx) error { return s.applyChange(ctx, tx, c, change, hash) })
	if err != nil {
		return Profile{}, fault.Wrap("change user", err)
	}
	s.seen.sessions.InvalidateAll()
	p, err := s.loadProfile(ctx, c.Person.UserID, c.AccountID)
	if hash != "" {
		p.DeviceCookie = s.issueDeviceCookie(ctx, c.Person.Email)
	}
	return p, err
}

// replacePassword checks the current password and returns the hash of the new one.
func (s *Service) replacePassword(ctx context.Context, c accounts.Caller, change PasswordChange) (string, error) {
	who, err := s.findCredentials(ctx, c.Person.Email)
	if err != nil {
		return "", err
	}
	if who.hash != "" {
		if err := s.runSessionAttempt(ctx, c, func(turn *passwords.Slot) error {
			if !turn.Check(ctx, change.Current, who.hash) {
				return fault.InvalidField("password.current", "is wrong")
			}
			return nil
		}); err != nil {
			return "", err
		}
	}
	return s.newHash(ctx, "password.new", change.New, c.Person.Email)
}

func (s *Service) applyChange(ctx context.Context, tx *ent.Tx, c accounts.Caller, change UserChange,
	hash string) error {
	if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
		return err
	}
	if change.Name != nil {
		if err := team.ChangeUser(ctx, tx, c.Person.UserID, team.ProfileChange{Name: change.Name}); err != nil {
			return err
		}
	}
	if len(change.Alerts) > 0 {
		if err := alerts.SetPreferences(ctx, tx, c.AccountID, c.Person.UserID, change.Alerts); err != nil {
			return err
		}
	}
	if hash != "" {
		if err := setPassword(ctx, tx, c.Person.UserID, hash); err != nil {
			return err
		}
		if err := trust.RecordChange(ctx, tx, ownChange(c, alerts.PasswordChanged, "password.changed")); err != nil {
			return err
		}
	}
	if change.Email == nil {
		return nil
	}
	// after setting the password, because that cancels pending email changes
	return s.requestEmailChange(ctx, tx, c, *change.Email)
}
