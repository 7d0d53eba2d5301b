package signin

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

const emailChangesADay = 5 // per user

// requestEmailChange starts an email change, in a transaction, and replaces a pending one. The new address gets a link
// that completes the change; the old address gets a link that cancels it.
func (s *Service) requestEmailChange(ctx context.Context, tx *ent.Tx, c accounts.Caller, email string) error {
	if _, err := s.guard.Count(ctx, tx, s.guard.LimitRate("email changes", c.Person.UserID, emailChangesADay,
		24*time.Hour)); err != nil {
		return guessing.WithMessage(err, "You have requested %d email changes in 24 hours, which is the limit",
			emailChangesADay)
	}
	if err := s.guard.CountInvite(ctx, tx, c.Person.UserID, email); err != nil {
		return err
	}
	if err := cancelEmailChange(ctx, tx, c.Person.UserID); err != nil {
		return err
	}
	for purpose, to := range map[signinlink.Purpose]string{signinlink.PurposeEmail: email,
		signinlink.PurposeEmailStop: c.Person.Email} {
		if err := tx.SignInLink.Create().SetPurpose(purpose).SetUserID(c.Person.UserID).SetEmail(to).
			SetExpiresAt(time.Now().Add(emailLife)).SetDueAt(time.Now()).Exec(ctx); err != nil {
			return err
		}
	}
	if err := db.Notify(ctx, tx, channel); err != nil {
		return err
	}
	return audit.WriteForMember(ctx, tx, c.Person.UserID,
		audit.Entry{Actor: audit.ActorOf(c), Action: "user.email_asked", Target: c.Person.UserID,
			Changes: map[string]any{"email": email}})
}

func cancelEmailChange(ctx context.Context, tx *ent.Tx, userID string) error {
	_, err := tx.SignInLink.Delete().
		Where(signinlink.UserID(userID), signinlink.PurposeIn(signinlink.PurposeEmail, signinlink.PurposeEmailStop)).
		Exec(ctx)
	return err
}

// EmailConfirmation is the input for confirming a new email. A user who is signed in sends only the token.
// Otherwise the password is required, and a code if the user has a second factor.
type EmailConfirmation struct {
	Token    string
	Password string
	Code     string
	Caller   *accounts.Caller // nil if no user is signed in
}

// ConfirmEmail changes the user's email to the address that the link was sent to. The link alone is not
// enough, because the change may have been requested from a stolen session. All other sessions and links end.
// Errors: NotFound; Invalid if neither a session nor a password is sent; Unauthorized; Forbidden with
// second_factor_required; Limit; Conflict.
func (s *Service) ConfirmEmail(ctx context.Context, in EmailConfirmation) (Profile, error) {
	who, err := s.findEmailChange(ctx, in.Token)
	if err != nil {
		return Profile{}, err
	}
	if in.Caller != nil && in.Caller.Person != nil && in.Caller.Person.UserID == who.ID {
		err = s.db.InTx(ctx, func(tx *ent.Tx) error {
			return s.changeEmail(ctx, tx, who, in.Token,
				in.Caller.Person.SessionID)
		})
	} else {
		err = s.confirmEmailByPassword(ctx, who, in)
	}
	s.seen.sessions.InvalidateAll()
	if err != nil {
		return Profile{}, fault.Wrap("confirm email", err)
	}
	accountID := ""
	if in.Caller != nil {
		accountID = in.Caller.AccountID
	}
	p, err := s.loadProfile(ctx, who.ID, accountID)
	if err == nil {
		p.DeviceCookie = s.issueDeviceCookie(ctx, p.Email)
	}
	return p, err
}

// findEmailChange returns the user whose email a link changes, without using the link. Error: NotFound.
func (s *Service) findEmailChange(ctx context.Context, token string) (who *ent.User, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := tx.SignInLink.Query().Where(signinlink.TokenHash(secret.HashToken(token)),
			signinlink.PurposeEQ(signinlink.PurposeEmail), signinlink.UsedAtIsNil(),
			signinlink.ExpiresAtGT(time.Now())).Only(ctx)
		if ent.IsNotFound(err) {
			return invalidLinkError()
		}
		if err != nil {
			return err
		}
		who, err = tx.User.Query().Where(user.ID(*row.UserID), user.DisabledAtIsNil()).Only(ctx)
		if ent.IsNotFound(err) {
			return invalidLinkError()
		}
		return err
	})
	if err != nil {
		return nil, fault.Wrap("link", err)
	}
	return who.Unwrap(), nil
}

func (s *Service) confirmEmailByPassword(ctx context.Context, of *ent.User, in EmailConfirmation) error {
	if in.Password == "" {
		return fault.InvalidField("password", "is required unless you are signed in as the user whose email changes")
	}
	return s.runPasswordAttempt(ctx, of.Email, func(turn *passwords.Slot, v guessing.Visitor) error {
		who, err := s.loadCredentials(ctx, of)
		switch {
		case err != nil:
			return err
		case !turn.Check(ctx, in.Password, who.hash):
			return fault.Unauthenticated()
		case who.factor != nil && in.Code == "":
			return codeRequiredError()
		}
		return s.withCode(ctx, who, v, in.Code,
			func(tx *ent.Tx) error { return s.changeEmail(ctx, tx, of, in.Token, "") })
	})
}

// changeEmail uses the link and changes the email, in a transaction. The session keep stays open.
func (s *Service) changeEmail(ctx context.Context, tx *ent.Tx, who *ent.User, token, keep string) error {
	row, err := takeOwnLink(ctx, tx, signinlink.PurposeEmail, token)
	if err != nil {
		return err
	}
	if err := team.ChangeUser(ctx, tx, who.ID, team.ProfileChange{Email: &row.Email}); err != nil {
		return err
	}
	return trust.RecordChange(ctx, tx, trust.CredentialChange{UserID: who.ID, Email: who.Email, OtherEmail: row.Email,
		KeepSession: keep,
		Kind:        alerts.EmailChanged, Action: "user.email_changed",
		Details: map[string]any{"from": who.Email, "email": row.Email}})
}

// StopEmailChange cancels an email change with the link that was sent to the old address. Because the change
// was requested from one of the user's sessions, all sessions and links of the user end. Error: NotFound.
func (s *Service) StopEmailChange(ctx context.Context, token string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := takeOwnLink(ctx, tx, signinlink.PurposeEmailStop, token)
		if err != nil {
			return err
		}
		if err := trust.EndSessions(ctx, tx, *row.UserID, "", row.Email, ""); err != nil {
			return err
		}
		return audit.WriteForMember(ctx, tx, *row.UserID,
			audit.Entry{Actor: audit.Actor{Kind: audit.ByUser, ID: *row.UserID, Name: row.Email},
				Action: "user.email_stopped", Target: *row.UserID})
	})
	s.seen.sessions.InvalidateAll()
	return fault.Wrap("stop email change", err)
}
