package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

func checkEmail(wrong fault.Fields, email string) string {
	return accounts.CheckEmail(wrong, "email", email)
}

// checkPerson validates the input for a new user, trims the names, and hashes the password. Errors: Invalid
// with all invalid fields; Unavailable.
func (s *Service) checkPerson(ctx context.Context, email, password string, name, accountName *string,
	needsAccount bool) (hash string, err error) {
	wrong := fault.Fields{}
	stored := checkEmail(wrong, email)
	*name = accounts.CheckName(wrong, "name", *name)
	if accountName != nil {
		if *accountName = accounts.CheckName(wrong, "account_name", *accountName); *accountName == "" && needsAccount &&
			wrong["account_name"] == "" {
			wrong.Add("account_name", "is required")
		}
	}
	if err := passwords.Check(password, stored); err != nil {
		wrong.Add("password", "%s", err)
	}
	if err := wrong.Err(); err != nil {
		return "", err
	}
	return s.hasher.Hash(ctx, trustedCaller, password)
}

const signsInSQL = `
SELECT EXISTS (SELECT FROM passwords p WHERE p.id = $1) OR EXISTS (SELECT FROM passkeys k WHERE k.user_id = $1) OR EXISTS (SELECT FROM identities i WHERE i.user_id = $1)`

// ensureUser returns the user with the email and sets their password, in a transaction. It creates the user
// if necessary. The caller has verified the email with a link. known reports whether the user could already
// sign in.
func (s *Service) ensureUser(ctx context.Context, tx *ent.Tx, email, name,
	hash string) (who *ent.User, known bool, err error) {
	if who, err = accounts.EnsureUser(ctx, tx, email, name); err != nil {
		return nil, false, err
	}
	if err := trust.LockUser(ctx, tx, who.ID); err != nil {
		return nil, false, err
	}
	if known, err = db.One(ctx, tx, db.Value[bool], signsInSQL, who.ID); err != nil {
		return nil, false, err
	}
	factor, err := activeFactor(ctx, tx.SecondFactor, who.ID)
	switch {
	case err != nil:
		return nil, false, err
	case factor != nil: // access to the mailbox does not replace the second factor
		return nil, false, codeRequiredError()
	}
	if name != "" && who.Name != name {
		if err := team.ChangeUser(ctx, tx, who.ID, team.ProfileChange{Name: &name}); err != nil {
			return nil, false, err
		}
		who.Name = name
	}
	return who, known, setPassword(ctx, tx, who.ID, hash)
}

// AcceptInput is the input for accepting an invitation. An existing user with a password sends that password;
// a signed-in user sends none.
type AcceptInput struct {
	Token    string
	Name     string
	Password string
	Caller   *accounts.Caller // nil if no user is signed in
}

// AcceptInvitation accepts an invitation and signs in the new member, even if sign-up is closed. Errors:
// NotFound for an invalid link; Forbidden if another user is signed in; Invalid; Unauthorized if the password
// of an existing user is wrong.
func (s *Service) AcceptInvitation(ctx context.Context, in AcceptInput) (NewSession, error) {
	if s.config.SignUp.Closed {
		return NewSession{}, invalidLinkError()
	}
	open, who, err := s.findInvitation(ctx, in.Token)
	if err != nil {
		return NewSession{}, err
	}
	if in.Caller != nil {
		return s.acceptSignedIn(ctx, in, open)
	}
	var hash string
	if who.user != nil && who.hash != "" { // an existing user enters their password
		if err = s.checkInviteePassword(ctx, who, in.Password); err != nil {
			return NewSession{}, err
		}
	} else if hash, err = s.checkPerson(ctx, open.Email, in.Password, &in.Name, nil, false); err != nil {
		return NewSession{}, err
	}
	var entered NewSession
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		joined, err := s.lockInvitee(ctx, tx, open.Email, in.Name, hash, who)
		if err != nil {
			return err
		}
		open, err := team.OpenInvitation(ctx, tx, in.Token)
		if err != nil {
			return err
		}
		if err := team.Accept(ctx, tx, open, joined); err != nil {
			return err
		}
		if entered, err = s.startSession(ctx, tx, joined, ByPassword, false); err != nil {
			return err
		}
		return tx.Session.UpdateOneID(entered.Session.ID).SetAccountID(open.AccountID).Exec(ctx)
	})
	return s.completeSession(ctx, entered, fault.Wrap("accept invitation", err))
}

// lockInvitee locks and returns the user that accepts an invitation: an existing user whose password was
// checked, or a user who sets a password now.
func (s *Service) lockInvitee(ctx context.Context, tx *ent.Tx, email, name, hash string,
	who userCredentials) (*ent.User, error) {
	if hash == "" {
		return who.user, trust.LockUser(ctx, tx, who.user.ID)
	}
	joined, known, err := s.ensureUser(ctx, tx, email, name, hash)
	if err != nil || !known {
		return joined, err
	}
	return joined, trust.RecordChange(ctx, tx,
		trust.CredentialChange{UserID: joined.ID, Email: joined.Email, Kind: alerts.PasswordChanged,
			Action: "password.changed"})
}

// findInvitation returns an open invitation and the user with its email, without using the invitation.
func (s *Service) findInvitation(ctx context.Context,
	token string) (open *ent.Invitation, who userCredentials, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		open, err = team.OpenInvitation(ctx, tx, token)
		return err
	})
	if err != nil {
		return nil, userCredentials{}, fault.Wrap("invitation", err)
	}
	who, err = s.findCredentials(ctx, open.Email)
	return open, who, err
}

// checkInviteePassword checks the password of an existing user who accepts an invitation. A user with a second
// factor must sign in first.
func (s *Service) checkInviteePassword(ctx context.Context, who userCredentials, password string) error {
	if who.factor != nil {
		return codeRequiredError()
	}
	return s.runPasswordAttempt(ctx, who.user.Email, func(turn *passwords.Slot, _ guessing.Visitor) error {
		if !turn.Check(ctx, password, who.hash) || who.user.DisabledAt != nil {
			return fault.Unauthenticated()
		}
		return nil
	})
}

// acceptSignedIn makes the caller a member and switches the session to the new account.
func (s *Service) acceptSignedIn(ctx context.Context, in AcceptInput, open *ent.Invitation) (NewSession, error) {
	if in.Caller.Person.Email != open.Email {
		return NewSession{}, fault.Forbiddenf(fault.CodeInsufficientRole,
			"This invitation is for %s, but you are signed in as %s. Sign out first.", open.Email,
			in.Caller.Person.Email)
	}
	var entered NewSession
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		who, err := tx.User.Query().Where(user.ID(in.Caller.Person.UserID)).ForUpdate().Only(ctx)
		if err != nil {
			return err
		}
		open, err := team.OpenInvitation(ctx, tx, in.Token)
		if err != nil {
			return err
		}
		if err := team.Accept(ctx, tx, open, who); err != nil {
			return err
		}
		if entered, err = s.rotateCookie(ctx, tx, *in.Caller); err != nil {
			return err
		}
		return tx.Session.UpdateOneID(in.Caller.Person.SessionID).SetAccountID(open.AccountID).Exec(ctx)
	})
	s.seen.sessions.InvalidateAll()
	return s.completeSession(ctx, entered, fault.Wrap("accept invitation", err))
}

// rotateCookie issues a new session cookie without confirming the session.
func (s *Service) rotateCookie(ctx context.Context, tx *ent.Tx, c accounts.Caller) (NewSession, error) {
	token, hash := secret.NewToken("")
	changed, err := tx.Session.UpdateOneID(c.Person.SessionID).SetTokenHash(hash).Save(ctx)
	if err != nil {
		return NewSession{}, err
	}
	return NewSession{Token: token, View: View{Session: changed.Unwrap()}}, nil
}

// Invitation is the content of an invitation page.
type Invitation struct {
	Email       string
	AccountName string
	Role        invitation.Role
	Known       bool // an existing user with a password has the address
}

// Invitation returns the content of an invitation's page. Error: NotFound.
func (s *Service) Invitation(ctx context.Context, token string) (Invitation, error) {
	open, who, err := s.findInvitation(ctx, token)
	if err != nil {
		return Invitation{}, err
	}
	account, err := s.accounts.Account(ctx, open.AccountID)
	return Invitation{open.Email, account.Name, open.Role, who.hash != ""}, err
}
