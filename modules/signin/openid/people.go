package openid

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/identity"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/trust"
)

// lockSQL serializes sign-ins by subject and by email, so that the second of two concurrent first sign-ins
// finds the user that the first one created.
const lockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('signin/openid/' || $1, 0))`

func lockName(ctx context.Context, tx *ent.Tx, name string) error {
	_, err := tx.ExecContext(ctx, lockSQL, name)
	return err
}

// signIn signs in a user of the provider.
func (s *Service) signIn(ctx context.Context, p pendingSignIn, who claims) (signin.NewSession, error) {
	options, err := s.people.Options(ctx)
	switch {
	case err != nil:
		return signin.NewSession{}, err
	case options.SetUp: // The first user must be the operator, who has the set-up link from the log.
		return signin.NewSession{}, refuse(SetUpFirst)
	}
	return s.people.SignInAs(ctx, signin.ByOIDC, func(ctx context.Context, tx *ent.Tx) (*ent.User, bool, error) {
		if err := markUsed(ctx, tx, p); err != nil {
			return nil, false, err
		}
		found, err := s.admit(ctx, tx, who)
		return found, who.hasSecondFactor(), err
	})
}

// admit returns the user for the provider's claims. It links an existing user or creates a new one if needed.
func (s *Service) admit(ctx context.Context, tx *ent.Tx, who claims) (*ent.User, error) {
	if err := lockName(ctx, tx, who.Issuer+"\x1f"+who.Subject); err != nil {
		return nil, err
	}
	k, open, err := s.lookUp(ctx, tx, who)
	if err != nil {
		return nil, err
	}
	what, err := s.config.decide(who, k)
	if err != nil {
		return nil, err
	}
	switch what {
	case enter:
		return k.linked, nil
	case link:
		return k.holder, s.linkUser(ctx, tx, k.holder, "", who)
	}
	made, err := accounts.EnsureUser(ctx, tx, who.storedEmail(), who.validName())
	if err != nil {
		return nil, err
	}
	if err := s.linkNewUser(ctx, tx, made, who); err != nil {
		return nil, err
	}
	if what == join {
		return made, s.joinTeam(ctx, tx, made)
	}
	for _, invitation := range open {
		if err := team.Accept(ctx, tx, invitation, made); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// lookUp returns the stored state for the provider's claims and, for an unknown email, its open invitations.
func (s *Service) lookUp(ctx context.Context, tx *ent.Tx,
	who claims) (k storedState, open []*ent.Invitation, err error) {
	linked, err := tx.Identity.Query().Where(identity.Issuer(who.Issuer), identity.Subject(who.Subject)).Only(ctx)
	switch {
	case err == nil:
		k.linked, err = tx.User.Query().Where(user.ID(linked.UserID)).Only(ctx)
		return k, nil, err
	case !ent.IsNotFound(err):
		return k, nil, err
	}
	email := who.storedEmail()
	if email == "" {
		return k, nil, nil
	}
	if err := lockName(ctx, tx, email); err != nil {
		return k, nil, err
	}
	k.holder, err = tx.User.Query().Where(user.Email(email)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		k.holder = nil
		open, err = team.OpenInvitationsTo(ctx, tx, email)
		k.invited = len(open) > 0
		return k, open, err
	case err != nil:
		return k, nil, err
	}
	k.other, err = tx.Identity.Query().Where(identity.Issuer(who.Issuer), identity.UserID(k.holder.ID)).Exist(ctx)
	return k, nil, err
}

// linkUser links a user to a subject of the provider. It ends the user's sessions except the given one.
func (s *Service) linkUser(ctx context.Context, tx *ent.Tx, to *ent.User, session string, who claims) error {
	if err := trust.LockUser(ctx, tx, to.ID); err != nil {
		return err
	}
	if err := tx.Identity.Create().SetUserID(to.ID).SetIssuer(who.Issuer).SetSubject(who.Subject).
		Exec(ctx); err != nil {
		return err
	}
	return trust.RecordChange(ctx, tx, trust.CredentialChange{UserID: to.ID, Email: to.Email, KeepSession: session,
		Kind: alerts.ProviderLinked, Action: actionLinked,
		Details: map[string]any{"issuer": who.Issuer, "subject": who.Subject}})
}

const actionLinked = "identity.linked"

// linkNewUser links a newly created user to a subject of the provider.
func (s *Service) linkNewUser(ctx context.Context, tx *ent.Tx, made *ent.User, who claims) error {
	if err := tx.Identity.Create().SetUserID(made.ID).SetIssuer(who.Issuer).SetSubject(who.Subject).
		Exec(ctx); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{Actor: audit.Actor{Kind: audit.ByUser, ID: made.ID, Name: made.Email},
		Action: actionLinked, Target: made.ID,
		Changes: map[string]any{"issuer": who.Issuer, "subject": who.Subject}})
}

// joinTeam adds a new user to the team in POSTRIDER_OIDC_JOIN.
func (s *Service) joinTeam(ctx context.Context, tx *ent.Tx, made *ent.User) error {
	j := s.config.Join
	if err := team.Join(ctx, tx, j.AccountID, made.ID, j.Role); err != nil {
		return fmt.Errorf("POSTRIDER_OIDC_JOIN: %w", err)
	}
	return audit.Write(ctx, tx, audit.Entry{AccountID: j.AccountID,
		Actor: audit.Actor{Kind: audit.ByUser, ID: made.ID, Name: made.Email}, Action: "member.joined",
		Target: made.ID, Changes: map[string]any{"email": made.Email, "role": j.Role, "method": signin.ByOIDC}})
}

// linkCaller links the caller to a subject of the provider and replaces an earlier link. The browser must
// still be signed in as the user who started linking.
func (s *Service) linkCaller(ctx context.Context, p pendingSignIn, c accounts.Caller, who claims) error {
	if c.Person == nil || c.Person.UserID != p.UserID {
		return refuse(SignedOut)
	}
	return s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := markUsed(ctx, tx, p); err != nil {
			return err
		}
		if err := lockName(ctx, tx, who.Issuer+"\x1f"+who.Subject); err != nil {
			return err
		}
		found, err := tx.Identity.Query().Where(identity.Issuer(who.Issuer), identity.Subject(who.Subject)).Only(ctx)
		switch {
		case err == nil && found.UserID == p.UserID:
			return nil
		case err == nil:
			return refuse(SubjectTaken)
		case !ent.IsNotFound(err):
			return err
		}
		if _, err := tx.Identity.Delete().Where(identity.Issuer(who.Issuer), identity.UserID(p.UserID)).
			Exec(ctx); err != nil {
			return err
		}
		return s.linkUser(ctx, tx, &ent.User{ID: p.UserID, Email: c.Person.Email}, c.Person.SessionID, who)
	})
}

// Unlink removes the caller's link to the provider and ends their other sessions. Repeated calls have no
// effect.
func (s *Service) Unlink(ctx context.Context, c accounts.Caller) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		n, err := tx.Identity.Delete().Where(identity.UserID(c.Person.UserID)).Exec(ctx)
		if err != nil || n == 0 {
			return err
		}
		return trust.RecordChange(ctx, tx, trust.CredentialChange{UserID: c.Person.UserID, Email: c.Person.Email,
			KeepSession: c.Person.SessionID, Kind: alerts.ProviderUnlinked, Action: "identity.unlinked"})
	})
	if err != nil {
		return fmt.Errorf("unlink the provider: %w", err)
	}
	return nil
}
