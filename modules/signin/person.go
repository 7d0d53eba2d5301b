package signin

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/secret"
)

func checkEmail(wrong fault.Fields, email string) string {
	return accounts.CheckEmail(wrong, "email", email)
}

// checkPerson judges what somebody says who becomes a user, and hashes the password. Names are trimmed.
// Errors: Invalid with all wrong fields; Away.
func (s *Service) checkPerson(ctx context.Context, email, password string, name, accountName *string, needsAccount bool) (hash string, err error) {
	wrong := fault.Fields{}
	stored := checkEmail(wrong, email)
	*name = accounts.CheckName(wrong, "name", *name)
	if accountName != nil {
		if *accountName = accounts.CheckName(wrong, "account_name", *accountName); *accountName == "" && needsAccount && wrong["account_name"] == "" {
			wrong.Add("account_name", "is required")
		}
	}
	if err := passwords.Check(password, stored); err != nil {
		wrong.Add("password", "%s", err)
	}
	if err := wrong.Err(); err != nil {
		return "", err
	}
	return s.hasher.Hash(ctx, password)
}

// person gives the user of an address with a new password, made if there is none, in a transaction. The
// address was proven by a link.
func (s *Service) person(ctx context.Context, tx *ent.Tx, email, name, hash string) (*ent.User, error) {
	who, err := accounts.EnsureUser(ctx, tx, email, name)
	if err != nil {
		return nil, err
	}
	factor, err := activeFactor(ctx, tx.SecondFactor, who.ID)
	switch {
	case err != nil:
		return nil, err
	case factor != nil: // a mailbox alone does not stand for it
		return nil, needsCode()
	}
	if name != "" && who.Name != name {
		if err := team.ChangeUser(ctx, tx, who.ID, team.Change{Name: &name}); err != nil {
			return nil, err
		}
		who.Name = name
	}
	return who, setPassword(ctx, tx, who.ID, hash)
}

// Acceptance is what somebody says who accepts an invitation. Who is a user already, and has a
// password, gives that one; who is signed in gives none.
type Acceptance struct {
	Token    string
	Name     string
	Password string
	Caller   *accounts.Caller // nil: nobody is signed in
}

// Accept makes somebody a member by an invitation, which works also while sign-up is closed to others.
// Errors: NotFound for a wrong link; Forbidden where somebody else is signed in; Invalid; Unauthorized
// for the wrong password of a user who has one.
func (s *Service) Accept(ctx context.Context, in Acceptance) (Entered, error) {
	if s.config.SignUp.Closed {
		return Entered{}, wrongLink()
	}
	open, who, err := s.invited(ctx, in.Token)
	if err != nil {
		return Entered{}, err
	}
	if in.Caller != nil {
		return s.acceptSignedIn(ctx, in, open)
	}
	var hash string
	if who.user != nil && who.hash != "" { // a person who is known shows that it is them
		if err = s.showsPassword(ctx, who, in.Password); err != nil {
			return Entered{}, err
		}
	} else if hash, err = s.checkPerson(ctx, open.Email, in.Password, &in.Name, nil, false); err != nil {
		return Entered{}, err
	}
	var entered Entered
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		open, err := team.OpenInvitation(ctx, tx, in.Token)
		if err != nil {
			return err
		}
		joined := who.user
		if hash != "" {
			if joined, err = s.person(ctx, tx, open.Email, in.Name, hash); err != nil {
				return err
			}
		}
		if err := team.Accept(ctx, tx, open, joined); err != nil {
			return err
		}
		if entered, err = s.start(ctx, tx, joined, ByPassword, false); err != nil {
			return err
		}
		return tx.Session.UpdateOneID(entered.Session.ID).SetAccountID(open.AccountID).Exec(ctx)
	})
	return s.complete(ctx, entered, fault.Wrap("accept invitation", err))
}

// invited reads an open invitation and who has its address, without using it up.
func (s *Service) invited(ctx context.Context, token string) (open *ent.Invitation, who known, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		open, err = team.OpenInvitation(ctx, tx, token)
		return err
	})
	if err != nil {
		return nil, known{}, fault.Wrap("invitation", err)
	}
	who, err = s.knownBy(ctx, open.Email)
	return open, who, err
}

// showsPassword checks the password of a person who accepts an invitation. One with a second factor
// signs in first.
func (s *Service) showsPassword(ctx context.Context, who known, password string) error {
	if who.factor != nil {
		return needsCode()
	}
	return s.judgedByPassword(ctx, who.user.Email, func(turn *passwords.Turn) error {
		if !turn.Check(ctx, password, who.hash) || who.user.DisabledAt != nil {
			return fault.Unauthenticated()
		}
		return nil
	})
}

// acceptSignedIn makes the caller a member; the session goes to the new account.
func (s *Service) acceptSignedIn(ctx context.Context, in Acceptance, open *ent.Invitation) (Entered, error) {
	if in.Caller.Person.Email != open.Email {
		return Entered{}, fault.Forbiddenf(fault.CodeInsufficientRole, "This invitation is for %s, and you are signed in as %s: sign out first", open.Email, in.Caller.Person.Email)
	}
	var entered Entered
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		open, err := team.OpenInvitation(ctx, tx, in.Token)
		if err != nil {
			return err
		}
		who, err := tx.User.Query().Where(user.ID(in.Caller.Person.UserID)).Only(ctx)
		if err != nil {
			return err
		}
		if err := team.Accept(ctx, tx, open, who); err != nil {
			return err
		}
		if entered, err = s.confirmless(ctx, tx, *in.Caller); err != nil {
			return err
		}
		return tx.Session.UpdateOneID(in.Caller.Person.SessionID).SetAccountID(open.AccountID).Exec(ctx)
	})
	s.seen.sessions.InvalidateAll()
	return s.complete(ctx, entered, fault.Wrap("accept invitation", err))
}

// confirmless gives a session a new cookie, and no ten minutes.
func (s *Service) confirmless(ctx context.Context, tx *ent.Tx, c accounts.Caller) (Entered, error) {
	token, hash := secret.NewToken("")
	changed, err := tx.Session.UpdateOneID(c.Person.SessionID).SetTokenHash(hash).Save(ctx)
	if err != nil {
		return Entered{}, err
	}
	return Entered{Token: token, View: View{Session: changed.Unwrap()}}, nil
}

// Invitation is what the page of an invitation shows.
type Invitation struct {
	Email       string
	AccountName string
	Role        invitation.Role
	Known       bool // a user with a password has the address
}

// InvitationOf reads what an invitation says. Error: NotFound.
func (s *Service) InvitationOf(ctx context.Context, token string) (Invitation, error) {
	open, who, err := s.invited(ctx, token)
	if err != nil {
		return Invitation{}, err
	}
	account, err := s.accounts.Account(ctx, open.AccountID)
	return Invitation{open.Email, account.Name, open.Role, who.hash != ""}, err
}

// UserChange is what people change about themselves; nil leaves things as they are.
type UserChange struct {
	Name     *string
	Email    *string // counts once the link that is mailed there was used
	Password *PasswordChange
}

// PasswordChange is the old password and a new one. Who has none yet leaves Current empty.
type PasswordChange struct{ Current, New string }

// ChangeUser changes the caller. A new password ends the other sessions. Errors: Invalid; Forbidden
// with confirmation_required; Limit for wrong current passwords, and for mails to one address or from
// one network.
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
		if err := c.Confirmed(); err != nil {
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
	if change.Email != nil && *change.Email != c.Person.Email {
		if _, err := s.guard.Begin(ctx, s.guard.Mail(*change.Email, audit.OriginOf(ctx).Addr)); err != nil {
			return Profile{}, err
		}
	}
	err := s.db.InTx(ctx, func(tx *ent.Tx) error { return s.applyChange(ctx, tx, c, change, hash) })
	if err != nil {
		return Profile{}, fault.Wrap("change user", err)
	}
	s.seen.sessions.InvalidateAll()
	return s.profile(ctx, c.Person.UserID)
}

// replacePassword checks the old password and gives the hash of the new one.
func (s *Service) replacePassword(ctx context.Context, c accounts.Caller, change PasswordChange) (string, error) {
	who, err := s.knownBy(ctx, c.Person.Email)
	if err != nil {
		return "", err
	}
	if who.hash != "" {
		if err := s.judgedByPassword(ctx, c.Person.Email, func(turn *passwords.Turn) error {
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

func (s *Service) applyChange(ctx context.Context, tx *ent.Tx, c accounts.Caller, change UserChange, hash string) error {
	note := func(action string, changes map[string]any) error {
		return audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c), Action: action, Target: c.Person.UserID, Changes: changes})
	}
	if change.Name != nil {
		if err := team.ChangeUser(ctx, tx, c.Person.UserID, team.Change{Name: change.Name}); err != nil {
			return err
		}
	}
	if change.Email != nil && *change.Email != c.Person.Email {
		if err := tx.SignInLink.Create().SetPurpose(signinlink.PurposeEmail).SetUserID(c.Person.UserID).SetEmail(*change.Email).
			SetExpiresAt(time.Now().Add(emailLife)).SetDueAt(time.Now()).Exec(ctx); err != nil {
			return err
		}
		if err := db.Notify(ctx, tx, channel); err != nil {
			return err
		}
		if err := note("user.email_asked", map[string]any{"email": *change.Email}); err != nil {
			return err
		}
	}
	if hash == "" {
		return nil
	}
	if err := setPassword(ctx, tx, c.Person.UserID, hash); err != nil {
		return err
	}
	if err := endSessions(ctx, tx, c.Person.UserID, c.Person.SessionID); err != nil {
		return err
	}
	return note("password.changed", nil)
}

// ConfirmEmail makes an address that a link was mailed to the user's own. Errors: NotFound; Conflict.
func (s *Service) ConfirmEmail(ctx context.Context, token string) (Profile, error) {
	var userID string
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := takeLink(ctx, tx, signinlink.PurposeEmail, token)
		if err != nil {
			return err
		}
		userID = *row.UserID
		if err := team.ChangeUser(ctx, tx, userID, team.Change{Email: &row.Email}); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{Actor: audit.Actor{Kind: audit.ByUser, ID: userID, Name: row.Email}, Action: "user.email_changed", Target: userID,
			Changes: map[string]any{"email": row.Email}})
	})
	if err != nil {
		return Profile{}, fault.Wrap("confirm email", err)
	}
	s.seen.sessions.InvalidateAll()
	return s.profile(ctx, userID)
}

// NewTeam makes a further account of the caller, who is its owner. Errors: Forbidden unless sign-up is
// open, or the caller is an operator; Conflict over the limit of teams on the plan free; Invalid.
func (s *Service) NewTeam(ctx context.Context, c accounts.Caller, name string) (accountID string, err error) {
	if !c.Person.Operator && !s.config.SignUp.Admits(c.Person.Email) {
		return "", fault.Forbiddenf(fault.CodeInsufficientRole, "Only operators make teams here: sign-up is not open")
	}
	wrong := fault.Fields{}
	if name = accounts.CheckName(wrong, "name", name); name == "" && wrong["name"] == "" {
		wrong.Add("name", "is required")
	}
	if err := wrong.Err(); err != nil {
		return "", err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := lockUser(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		if err := s.accounts.MayMakeTeam(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		made, err := s.accounts.MakeTeam(ctx, tx, c.Person.Email, name, c.Person.UserID)
		if err != nil {
			return err
		}
		accountID = made.ID
		return audit.Write(ctx, tx, audit.Entry{AccountID: made.ID, Actor: audit.ActorOf(c), Action: "account.created", Target: made.ID, Changes: map[string]any{"name": name}})
	})
	if err != nil {
		return "", fault.Wrap("new team", err)
	}
	s.seen.sessions.InvalidateAll()
	return accountID, nil
}
