package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
)

// SetUpInput is the input for setting up the first user.
type SetUpInput struct {
	Token       string
	Email       string
	Password    string
	Name        string
	AccountName string
}

// lockSetUp serializes concurrent set-ups, so that only one succeeds.
const lockSetUp = `SELECT pg_advisory_xact_lock(hashtextextended('signin/setup', 0))`

// SetUp creates the first user, who becomes an operator of the installation and the owner of an account: the
// one with the user's email, or a new one. Errors: NotFound for an invalid link, and if a user can already
// sign in; Invalid.
func (s *Service) SetUp(ctx context.Context, in SetUpInput) (NewSession, error) {
	if exists, err := hasActiveUser(ctx, s.db.SQL); err != nil || exists {
		return NewSession{}, fault.Wrap("set up", orInvalidLink(err))
	}
	if _, err := s.findLinkEmail(ctx, signinlink.PurposeSetup, in.Token); err != nil { // do not hash for strangers
		return NewSession{}, err
	}
	hash, err := s.checkPerson(ctx, in.Email, in.Password, &in.Name, &in.AccountName, true)
	if err != nil {
		return NewSession{}, err
	}
	in.Email = checkEmail(fault.Fields{}, in.Email)
	var entered NewSession
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, lockSetUp); err != nil {
			return err
		}
		if exists, err := hasActiveUser(ctx, tx); err != nil || exists {
			return orInvalidLink(err)
		}
		if _, err := takeLink(ctx, tx, signinlink.PurposeSetup, in.Token); err != nil {
			return err
		}
		if _, err := tx.SignInLink.Delete().Where(signinlink.PurposeEQ(signinlink.PurposeSetup)).Exec(ctx); err != nil {
			return err
		}
		who, _, err := s.ensureUser(ctx, tx, in.Email, in.Name, hash)
		if err != nil {
			return err
		}
		if err := team.MakeOperator(ctx, tx, who.ID); err != nil {
			return err
		}
		if err := s.accounts.EnsureOwnedTeam(ctx, tx, in.Email, in.AccountName, who.ID); err != nil {
			return err
		}
		entered, err = s.startSession(ctx, tx, who, ByPassword, false)
		return err
	})
	return s.completeSession(ctx, entered, fault.Wrap("set up", err))
}

func orInvalidLink(err error) error {
	if err != nil {
		return err
	}
	return invalidLinkError()
}

// RequestSignUp requests a sign-up link. Errors: NotFound unless sign-up is open; Invalid if the email's domain
// is not allowed.
func (s *Service) RequestSignUp(ctx context.Context, email string) error {
	if !s.config.SignUp.Open {
		return fault.NoSuch("path", "sign-up is not open; ask for an invitation")
	}
	wrong := fault.Fields{}
	if stored := checkEmail(wrong, email); wrong.Err() == nil && !s.config.SignUp.Allows(stored) {
		return fault.InvalidField("email", "must be at a domain that is allowed to sign up")
	}
	return s.requestLink(ctx, signinlink.PurposeSignUp, email, signUpLife)
}

// SignUpInput is the input for completing a sign-up.
type SignUpInput struct {
	Token       string
	Name        string
	Password    string
	AccountName string
}

// CompleteSignUp creates a user and their own team with an emailed link. Users who can already sign in cannot
// sign up. Errors: NotFound; Invalid.
func (s *Service) CompleteSignUp(ctx context.Context, in SignUpInput) (NewSession, error) {
	email, err := s.findLinkEmail(ctx, signinlink.PurposeSignUp, in.Token)
	if err != nil {
		return NewSession{}, err
	}
	hash, err := s.checkPerson(ctx, email, in.Password, &in.Name, &in.AccountName, true)
	if err != nil {
		return NewSession{}, err
	}
	var entered NewSession
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		who, known, err := s.ensureUser(ctx, tx, email, in.Name, hash)
		switch {
		case err != nil:
			return err
		case known:
			return invalidLinkError()
		}
		if _, err := takeLink(ctx, tx, signinlink.PurposeSignUp, in.Token); err != nil {
			return err
		}
		if err := trust.EndSessions(ctx, tx, who.ID, "", email, ""); err != nil {
			return err
		}
		if _, err := s.accounts.CreateTeam(ctx, tx, email, in.AccountName, who.ID); err != nil {
			return err
		}
		entered, err = s.startSession(ctx, tx, who, ByPassword, false)
		return err
	})
	return s.completeSession(ctx, entered, fault.Wrap("sign up", err))
}
