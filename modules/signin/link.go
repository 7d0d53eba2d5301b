package signin

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/secret"
)

// How long links work.
const (
	setUpLife  = 24 * time.Hour
	signUpLife = 24 * time.Hour
	resetLife  = time.Hour
	emailLife  = 24 * time.Hour
	signInLife = time.Hour
	devLife    = 365 * 24 * time.Hour // while the process runs: a start ends those of others
)

// The pages that links lead to.
const (
	PathSetUp  = "/setup"
	PathSignUp = "/sign-up"
	PathReset  = "/reset"
	PathEmail  = "/email"
	PathInvite = "/invite"
	PathSignIn = "/sign-in"
)

// wrongLink is what every token gets that opens nothing: wrong, spent, expired or for another
// purpose.
func wrongLink() error { return fault.Missing("link", "it is wrong, was used, or has expired") }

// takeLink uses a link up, in a transaction. Of two at once one does. Error: NotFound.
func takeLink(ctx context.Context, tx *ent.Tx, purpose signinlink.Purpose, token string) (*ent.SignInLink, error) {
	row, err := tx.SignInLink.Query().Where(signinlink.TokenHash(secret.HashToken(token)), signinlink.PurposeEQ(purpose), signinlink.UsedAtIsNil()).ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, wrongLink()
	case err != nil:
		return nil, err
	}
	now, err := db.Now(ctx, tx)
	switch {
	case err != nil:
		return nil, err
	case !now.Before(row.ExpiresAt):
		return nil, wrongLink()
	case row.Again:
		return row, nil
	}
	return row, tx.SignInLink.UpdateOneID(row.ID).SetUsedAt(time.Now()).Exec(ctx)
}

// newLink stores a link whose token is told now.
func (s *Service) newLink(ctx context.Context, purpose signinlink.Purpose, life time.Duration, set func(*ent.SignInLinkCreate)) (secret.String, error) {
	token, hash := secret.NewToken("")
	create := s.db.Ent.SignInLink.Create().SetPurpose(purpose).SetTokenHash(hash).SetExpiresAt(time.Now().Add(life))
	if set != nil {
		set(create)
	}
	if err := create.Exec(ctx); err != nil {
		return secret.String{}, fmt.Errorf("new link: %w", err)
	}
	return token, nil
}

func (s *Service) url(path string, token secret.String) string {
	return s.config.BaseURL + path + "#" + token.Reveal()
}

// SetUpLink gives the URL by which the first person comes in; empty where somebody can sign in
// already.
func (s *Service) SetUpLink(ctx context.Context) (string, error) {
	somebody, err := anybody(ctx, s.db.SQL)
	if err != nil || somebody {
		return "", err
	}
	token, err := s.newLink(ctx, signinlink.PurposeSetup, setUpLife, nil)
	if err != nil {
		return "", err
	}
	return s.url(PathSetUp, token), nil
}

// UserLink gives a URL that lets a person in once, for the operator: nobody is locked out for good.
// Error: NotFound.
func (s *Service) UserLink(ctx context.Context, emailOrID string) (string, error) {
	who, err := s.teams.User(ctx, emailOrID)
	if err != nil {
		return "", err
	}
	token, err := s.newLink(ctx, signinlink.PurposeSignIn, signInLife, func(c *ent.SignInLinkCreate) { c.SetUserID(who.ID).SetEmail(who.Email) })
	if err != nil {
		return "", err
	}
	return s.url(PathSignIn, token), nil
}

// DevelopmentLink gives a URL that lets a person in as often as it is opened, until the next start
// of a process in development mode.
func (s *Service) DevelopmentLink(ctx context.Context, userID string) (string, error) {
	if _, err := s.db.Ent.SignInLink.Delete().Where(signinlink.Again(true)).Exec(ctx); err != nil {
		return "", fmt.Errorf("development link: %w", err)
	}
	token, err := s.newLink(ctx, signinlink.PurposeSignIn, devLife, func(c *ent.SignInLinkCreate) { c.SetUserID(userID).SetAgain(true) })
	if err != nil {
		return "", err
	}
	return s.named() + PathSignIn + "#" + token.Reveal(), nil
}

// named is a URL of this installation whose host has a name, since passkeys need one; else the base
// URL.
func (s *Service) named() string {
	for _, raw := range append([]string{s.config.BaseURL}, s.config.Origins...) {
		if at, err := url.Parse(raw); err == nil {
			if _, err := netip.ParseAddr(at.Hostname()); err != nil {
				return raw
			}
		}
	}
	return s.config.BaseURL
}

// EnsureDevelopmentOwner gives the user of an address a password that is known, and a link that signs
// them in as often as it is opened.
func (s *Service) EnsureDevelopmentOwner(ctx context.Context, email string, password secret.String) (link string, err error) {
	who, err := s.teams.User(ctx, email)
	if err != nil {
		return "", err
	}
	found, err := s.knownUser(ctx, who)
	if err != nil {
		return "", err
	}
	same := false
	if found.hash != "" {
		if same, err = s.hasher.Check(ctx, password.Reveal(), found.hash); err != nil {
			return "", err
		}
	}
	if !same {
		hash, err := s.hasher.Hash(ctx, password.Reveal())
		if err != nil {
			return "", err
		}
		if err := s.db.InTx(ctx, func(tx *ent.Tx) error {
			if err := team.MakeOperator(ctx, tx, who.ID); err != nil {
				return err
			}
			return setPassword(ctx, tx, who.ID, hash)
		}); err != nil {
			return "", fault.Wrap("development owner", err)
		}
	}
	return s.DevelopmentLink(ctx, who.ID)
}

// EnterByLink lets somebody in by a link of the operator's. It stands for a second factor too: who has
// lost theirs comes in this way. Error: NotFound.
func (s *Service) EnterByLink(ctx context.Context, token string) (Entered, error) {
	var entered Entered
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := takeLink(ctx, tx, signinlink.PurposeSignIn, token)
		if err != nil {
			return err
		}
		who, err := tx.User.Query().Where(user.ID(*row.UserID)).Only(ctx)
		if err != nil {
			return err
		}
		entered, err = s.start(ctx, tx, who, ByLink, true)
		return err
	})
	return s.signedIn(ctx, entered, fault.Wrap("sign in by link", err))
}

// Forgot asks for a link by which a password is set anew. The answer tells nothing about who is known.
func (s *Service) Forgot(ctx context.Context, email string) error {
	return s.ask(ctx, signinlink.PurposeReset, email, resetLife)
}

// AskSignUp asks for a link by which somebody signs up. Errors: NotFound unless sign-up is open; Invalid
// for an address that may not.
func (s *Service) AskSignUp(ctx context.Context, email string) error {
	if !s.config.SignUp.Open {
		return fault.Missing("path", "sign-up is not open here: ask for an invitation")
	}
	wrong := fault.Fields{}
	if stored := checkEmail(wrong, email); wrong.Err() == nil && !s.config.SignUp.Admits(stored) {
		return fault.InvalidField("email", "is at a domain that may not sign up here")
	}
	return s.ask(ctx, signinlink.PurposeSignUp, email, signUpLife)
}

// ask writes one row for a mail that a worker decides about. Errors: Invalid; Limit, which says nothing
// of who is known either.
func (s *Service) ask(ctx context.Context, purpose signinlink.Purpose, email string, life time.Duration) error {
	wrong := fault.Fields{}
	email = checkEmail(wrong, email)
	if err := wrong.Err(); err != nil {
		return err
	}
	if _, err := s.guard.Begin(ctx, s.guard.Mail(email, audit.OriginOf(ctx).Addr)); err != nil {
		return err
	}
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := tx.SignInLink.Create().SetPurpose(purpose).SetEmail(email).SetExpiresAt(time.Now().Add(life)).SetDueAt(time.Now()).Exec(ctx); err != nil {
			return err
		}
		return db.Notify(ctx, tx, channel)
	})
	return fault.OrAway(fault.Wrap("ask for a link", err))
}

// SetUp is what the first person says.
type SetUp struct {
	Token       string
	Email       string
	Password    string
	Name        string
	AccountName string
}

// lockSetUp is held by who sets up: of many at once one wins.
const lockSetUp = `SELECT pg_advisory_xact_lock(hashtextextended('signin/setup', 0))`

// SetUp makes the first person: operator of the installation and owner of an account, which is the one
// that has their email, or a new one. Errors: NotFound for a wrong link, and once somebody can sign
// in; Invalid.
func (s *Service) SetUp(ctx context.Context, in SetUp) (Entered, error) {
	if somebody, err := anybody(ctx, s.db.SQL); err != nil || somebody {
		return Entered{}, fault.Wrap("set up", orMissing(err))
	}
	if _, err := s.emailOf(ctx, signinlink.PurposeSetup, in.Token); err != nil { // strangers cost no hash
		return Entered{}, err
	}
	hash, err := s.checkPerson(ctx, in.Email, in.Password, &in.Name, &in.AccountName, true)
	if err != nil {
		return Entered{}, err
	}
	in.Email = checkEmail(fault.Fields{}, in.Email)
	var entered Entered
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, lockSetUp); err != nil {
			return err
		}
		if somebody, err := anybody(ctx, tx); err != nil || somebody {
			return orMissing(err)
		}
		if _, err := takeLink(ctx, tx, signinlink.PurposeSetup, in.Token); err != nil {
			return err
		}
		who, err := s.person(ctx, tx, in.Email, in.Name, hash)
		if err != nil {
			return err
		}
		if err := team.MakeOperator(ctx, tx, who.ID); err != nil {
			return err
		}
		if err := s.accounts.Adopt(ctx, tx, in.Email, in.AccountName, who.ID); err != nil {
			return err
		}
		entered, err = s.start(ctx, tx, who, ByPassword, false)
		return err
	})
	return s.complete(ctx, entered, fault.Wrap("set up", err))
}

func orMissing(err error) error {
	if err != nil {
		return err
	}
	return wrongLink()
}

// SignUpCompleted is what somebody says who signs up.
type SignUpCompleted struct {
	Token       string
	Name        string
	Password    string
	AccountName string
}

// CompleteSignUp makes a user and a team of their own, by a mailed link. Errors: NotFound; Invalid.
func (s *Service) CompleteSignUp(ctx context.Context, in SignUpCompleted) (Entered, error) {
	email, err := s.emailOf(ctx, signinlink.PurposeSignUp, in.Token)
	if err != nil {
		return Entered{}, err
	}
	hash, err := s.checkPerson(ctx, email, in.Password, &in.Name, &in.AccountName, true)
	if err != nil {
		return Entered{}, err
	}
	var entered Entered
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := takeLink(ctx, tx, signinlink.PurposeSignUp, in.Token); err != nil {
			return err
		}
		who, err := s.person(ctx, tx, email, in.Name, hash)
		if err != nil {
			return err
		}
		if _, err := s.accounts.MakeTeam(ctx, tx, email, in.AccountName, who.ID); err != nil {
			return err
		}
		entered, err = s.start(ctx, tx, who, ByPassword, false)
		return err
	})
	return s.complete(ctx, entered, fault.Wrap("sign up", err))
}

// emailOf reads whom a link was mailed to, without using it up. Error: NotFound.
func (s *Service) emailOf(ctx context.Context, purpose signinlink.Purpose, token string) (email string, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := tx.SignInLink.Query().Where(signinlink.TokenHash(secret.HashToken(token)), signinlink.PurposeEQ(purpose), signinlink.UsedAtIsNil(),
			signinlink.ExpiresAtGT(time.Now())).Only(ctx)
		if ent.IsNotFound(err) {
			return wrongLink()
		}
		if err == nil {
			email = row.Email
		}
		return err
	})
	return email, fault.Wrap("link", err)
}

// Reset sets a password anew by a mailed link, and ends all sessions. The second factor stays. Errors:
// NotFound; Invalid.
func (s *Service) Reset(ctx context.Context, token, newPassword string) error {
	email, err := s.emailOf(ctx, signinlink.PurposeReset, token)
	if err != nil {
		return err
	}
	hash, err := s.newHash(ctx, "password", newPassword, email)
	if err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := takeLink(ctx, tx, signinlink.PurposeReset, token)
		if err != nil {
			return err
		}
		who, err := tx.User.Query().Where(user.Email(row.Email), user.DisabledAtIsNil()).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			return wrongLink()
		case err != nil:
			return err
		}
		if err := setPassword(ctx, tx, who.ID, hash); err != nil {
			return err
		}
		if err := endSessions(ctx, tx, who.ID, ""); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{Actor: audit.Actor{Kind: audit.ByUser, ID: who.ID, Name: who.Email}, Action: "password.reset", Target: who.ID})
	})
	s.seen.sessions.InvalidateAll()
	return fault.Wrap("reset password", err)
}

const sweepLinksSQL = `
DELETE FROM sign_in_links WHERE id IN (SELECT id FROM sign_in_links WHERE expires_at < now() - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)`
