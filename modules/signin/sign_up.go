package signin

import (
	"context"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/signinlink"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
)

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
		if _, err := tx.SignInLink.Delete().Where(signinlink.PurposeEQ(signinlink.PurposeSetup)).Exec(ctx); err != nil {
			return err
		}
		who, _, err := s.person(ctx, tx, in.Email, in.Name, hash)
		if err != nil {
			return err
		}
		if err := team.MakeOperator(ctx, tx, who.ID); err != nil {
			return err
		}
		if err := s.accounts.EnsureOwnedTeam(ctx, tx, in.Email, in.AccountName, who.ID); err != nil {
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

// AskSignUp asks for a link by which somebody signs up. Errors: NotFound unless sign-up is open; Invalid
// for an address that may not.
func (s *Service) AskSignUp(ctx context.Context, email string) error {
	if !s.config.SignUp.Open {
		return fault.NoSuch("path", "sign-up is not open here: ask for an invitation")
	}
	wrong := fault.Fields{}
	if stored := checkEmail(wrong, email); wrong.Err() == nil && !s.config.SignUp.Admits(stored) {
		return fault.InvalidField("email", "is at a domain that may not sign up here")
	}
	return s.ask(ctx, signinlink.PurposeSignUp, email, signUpLife)
}

// SignUpCompleted is what somebody says who signs up.
type SignUpCompleted struct {
	Token       string
	Name        string
	Password    string
	AccountName string
}

// CompleteSignUp makes a user and a team of their own, by a mailed link. Somebody who can sign in already
// does not sign up. Errors: NotFound; Invalid.
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
		who, known, err := s.person(ctx, tx, email, in.Name, hash)
		switch {
		case err != nil:
			return err
		case known:
			return wrongLink()
		}
		if _, err := takeLink(ctx, tx, signinlink.PurposeSignUp, in.Token); err != nil {
			return err
		}
		if err := trust.End(ctx, tx, who.ID, "", email, ""); err != nil {
			return err
		}
		if _, err := s.accounts.CreateTeam(ctx, tx, email, in.AccountName, who.ID); err != nil {
			return err
		}
		entered, err = s.start(ctx, tx, who, ByPassword, false)
		return err
	})
	return s.complete(ctx, entered, fault.Wrap("sign up", err))
}
