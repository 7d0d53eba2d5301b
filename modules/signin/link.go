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
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/passwords"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Lifetimes of links.
const (
	setUpLife  = 24 * time.Hour
	signUpLife = 24 * time.Hour
	resetLife  = time.Hour
	emailLife  = 24 * time.Hour // links that confirm or cancel an email change
	signInLife = time.Hour
	devLife    = 365 * 24 * time.Hour // each start in development mode deletes the earlier links
)

// The pages that links lead to.
const (
	PathSetUp  = "/setup"
	PathSignUp = "/sign-up"
	PathReset  = "/reset"
	PathEmail  = "/email"
	PathStop   = "/email-stop"
	PathInvite = "/invite"
	PathSignIn = "/sign-in"
)

// invalidLinkError is the error for every invalid token: unknown, used, expired, or issued for another purpose.
func invalidLinkError() error {
	return fault.NoSuch("link", "it is invalid, was used already, or has expired")
}

// takeLink marks a link as used, within a transaction. Of two concurrent callers, only one succeeds. Error:
// NotFound.
func takeLink(ctx context.Context, tx *ent.Tx, purpose signinlink.Purpose, token string) (*ent.SignInLink, error) {
	row, err := tx.SignInLink.Query().Where(signinlink.TokenHash(secret.HashToken(token)),
		signinlink.PurposeEQ(purpose), signinlink.UsedAtIsNil()).ForUpdate().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, invalidLinkError()
	case err != nil:
		return nil, err
	}
	now, err := db.Now(ctx, tx)
	switch {
	case err != nil:
		return nil, err
	case !now.Before(row.ExpiresAt):
		return nil, invalidLinkError()
	case row.Again:
		return row, nil
	}
	return row, tx.SignInLink.UpdateOneID(row.ID).SetUsedAt(time.Now()).Exec(ctx)
}

// takeOwnLink is takeLink for a link that belongs to a user. It locks the user first.
func takeOwnLink(ctx context.Context, tx *ent.Tx, purpose signinlink.Purpose, token string) (*ent.SignInLink, error) {
	row, err := tx.SignInLink.Query().
		Where(signinlink.TokenHash(secret.HashToken(token)), signinlink.PurposeEQ(purpose)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, invalidLinkError()
	case err != nil:
		return nil, err
	}
	if err := trust.LockUser(ctx, tx, *row.UserID); err != nil {
		return nil, err
	}
	return takeLink(ctx, tx, purpose, token)
}

// newLink stores a link and returns its token.
func newLink(ctx context.Context, links *ent.SignInLinkClient, purpose signinlink.Purpose, life time.Duration,
	set func(*ent.SignInLinkCreate)) (secret.String, error) {
	token, hash := secret.NewToken("")
	create := links.Create().SetPurpose(purpose).SetTokenHash(hash).SetExpiresAt(time.Now().Add(life))
	if set != nil {
		set(create)
	}
	if err := create.Exec(ctx); err != nil {
		return secret.String{}, fmt.Errorf("new link: %w", err)
	}
	return token, nil
}

func (s *Service) linkURL(path string, token secret.String) string {
	return s.config.BaseURL + path + "#" + token.Reveal()
}

// SetUpLink returns the URL with which the first user sets up the installation. It is empty once a user can
// sign in.
func (s *Service) SetUpLink(ctx context.Context) (string, error) {
	exists, err := hasActiveUser(ctx, s.db.SQL)
	if err != nil || exists {
		return "", err
	}
	token, err := newLink(ctx, s.db.Ent.SignInLink, signinlink.PurposeSetup, setUpLife, nil)
	if err != nil {
		return "", err
	}
	return s.linkURL(PathSetUp, token), nil
}

// UserLink is a one-time link that signs in a user.
type UserLink struct {
	URL       string
	ExpiresAt time.Time
}

// CreateUserLink returns a link that signs in a user once, without their second factor. Operators use it to help users
// who are locked out. An operator key can create it only for users who have never signed in, so that it cannot become
// one of them. The zero Caller is the command line. keep, if not nil, runs in the transaction. Errors: NotFound;
// Forbidden.
func (s *Service) CreateUserLink(ctx context.Context, by accounts.Caller, emailOrID string,
	keep func(ctx context.Context, tx idempotency.Execer, made UserLink) error) (made UserLink, err error) {
	found, err := s.teams.User(ctx, emailOrID)
	if err != nil {
		return made, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.LockUser(ctx, tx, found.ID); err != nil {
			return err
		}
		who, err := tx.User.Get(ctx, found.ID)
		if err != nil {
			return err
		}
		if by.Operator != nil && (who.Operator || who.LastSignInAt != nil) {
			return fault.Forbiddenf(fault.CodeInsufficientScope,
				"Operator keys can create links only for users who have never signed in and are not operators")
		}
		made.ExpiresAt = time.Now().Add(signInLife)
		token, err := newLink(ctx, tx.SignInLink, signinlink.PurposeSignIn, signInLife,
			func(c *ent.SignInLinkCreate) { c.SetUserID(who.ID).SetEmail(who.Email) })
		if err != nil {
			return err
		}
		made.URL = s.linkURL(PathSignIn, token)
		entry := audit.Entry{Actor: audit.OperatorOf(by), Action: "user.link_created", Target: who.ID}
		if err := audit.Write(ctx, tx, entry); err != nil || keep == nil {
			return err
		}
		return keep(ctx, tx, made)
	})
	if err != nil {
		return UserLink{}, fault.Wrap("create a link", err)
	}
	return made, nil
}

// DevelopmentLink returns a URL that signs in a user every time it is opened, until the next start of a
// process in development mode. Sessions of the link never need a confirmation.
func (s *Service) DevelopmentLink(ctx context.Context, userID string) (string, error) {
	if _, err := s.db.Ent.SignInLink.Delete().Where(signinlink.Again(true)).Exec(ctx); err != nil {
		return "", fmt.Errorf("development link: %w", err)
	}
	token, err := newLink(ctx, s.db.Ent.SignInLink, signinlink.PurposeSignIn, devLife,
		func(c *ent.SignInLinkCreate) { c.SetUserID(userID).SetAgain(true) })
	if err != nil {
		return "", err
	}
	s.seen.developer.Store(&userID)
	return s.namedBaseURL() + PathSignIn + "#" + token.Reveal(), nil
}

// namedBaseURL returns the first URL of this installation whose host is a name, because passkeys require one.
// Without such a URL it returns the base URL.
func (s *Service) namedBaseURL() string {
	for _, raw := range append([]string{s.config.BaseURL}, s.config.Origins...) {
		if at, err := url.Parse(raw); err == nil {
			if _, err := netip.ParseAddr(at.Hostname()); err != nil {
				return raw
			}
		}
	}
	return s.config.BaseURL
}

// EnsureDevelopmentOwner sets the password of an existing user and makes the user an operator, unless the
// user already has this password. It returns a DevelopmentLink.
func (s *Service) EnsureDevelopmentOwner(ctx context.Context, email string,
	password secret.String) (link string, err error) {
	who, err := s.teams.User(ctx, email)
	if err != nil {
		return "", err
	}
	found, err := s.loadCredentials(ctx, who)
	if err != nil {
		return "", err
	}
	same := false
	if found.hash != "" {
		if err := s.hasher.WithSlot(ctx, trustedCaller, func(turn *passwords.Slot) error {
			same = turn.Check(ctx, password.Reveal(), found.hash)
			return nil
		}); err != nil {
			return "", err
		}
	}
	if !same {
		hash, err := s.hasher.Hash(ctx, trustedCaller, password.Reveal())
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

// SignInByLink signs in a user with a link from an operator. The link also replaces the second factor, so
// that a user who lost it can sign in. Error: NotFound.
func (s *Service) SignInByLink(ctx context.Context, token string) (NewSession, error) {
	var entered NewSession
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := takeOwnLink(ctx, tx, signinlink.PurposeSignIn, token)
		if err != nil {
			return err
		}
		who, err := tx.User.Query().Where(user.ID(*row.UserID)).Only(ctx)
		if err != nil {
			return err
		}
		if row.Again { // created by DevelopmentLink
			entered, err = s.startSessionWithoutAlert(ctx, tx, who, ByLink, true)
			return err
		}
		entered, err = s.startSession(ctx, tx, who, ByLink, true)
		return err
	})
	return s.finishSignIn(ctx, entered, fault.Wrap("sign in by link", err))
}

// askSQL queues an email that a worker decides about, unless an equal row is still unprocessed.
const askSQL = `
INSERT INTO sign_in_links (purpose, email, known_device, expires_at, due_at, attempts, again, created_at)
SELECT $1::text, $2::text, $3::bool, now() + make_interval(secs => $4), now(), 0, false, now()
 WHERE NOT EXISTS (SELECT FROM sign_in_links WHERE email = $2 AND purpose = $1 AND known_device = $3 AND due_at IS NOT NULL AND attempts = 0)`

// requestLink queues an email that a worker decides about. Errors: Invalid; Limit, which does not reveal
// whether the email is known.
func (s *Service) requestLink(ctx context.Context, purpose signinlink.Purpose, email string, life time.Duration) error {
	wrong := fault.Fields{}
	email = checkEmail(wrong, email)
	if err := wrong.Err(); err != nil {
		return err
	}
	v, err := s.identifyVisitor(ctx, email)
	if err != nil {
		return err
	}
	if _, err := s.guard.Begin(ctx, s.guard.Mail(email, v)); err != nil {
		return err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := db.Exec(ctx, tx, askSQL, string(purpose), email, v.Device != "", life.Seconds()); err != nil {
			return err
		}
		return db.Notify(ctx, tx, channel)
	})
	return fault.OrUnavailable(fault.Wrap("ask for a link", err))
}

// findLinkEmail returns the email that a link was sent to, without using the link. Error: NotFound.
func (s *Service) findLinkEmail(ctx context.Context, purpose signinlink.Purpose,
	token string) (email string, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := tx.SignInLink.Query().
			Where(signinlink.TokenHash(secret.HashToken(token)), signinlink.PurposeEQ(purpose),
				signinlink.UsedAtIsNil(),
				signinlink.ExpiresAtGT(time.Now())).Only(ctx)
		if ent.IsNotFound(err) {
			return invalidLinkError()
		}
		if err == nil {
			email = row.Email
		}
		return err
	})
	return email, fault.Wrap("link", err)
}

const sweepLinksSQL = `
DELETE FROM sign_in_links WHERE id IN (SELECT id FROM sign_in_links WHERE expires_at < now() - interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)`
