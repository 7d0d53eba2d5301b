package signin

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/signin/guessing"
	"github.com/postrider/postrider/modules/signin/trust"
	"github.com/postrider/postrider/runtime/base/fault"
)

const teamsADay = 20 // per user

// CreateTeam creates another account, owned by the caller. Errors: Forbidden if sign-up is not open and the
// caller is not an operator; Conflict over the limit of teams on the free plan; Invalid.
func (s *Service) CreateTeam(ctx context.Context, c accounts.Caller, name string) (accountID string, err error) {
	if !c.Person.Operator && !s.config.SignUp.Allows(c.Person.Email) {
		return "", fault.Forbiddenf(fault.CodeInsufficientRole,
			"Only operators can create teams while sign-up is not open")
	}
	wrong := fault.Fields{}
	if name = accounts.CheckName(wrong, "name", name); name == "" && wrong["name"] == "" {
		wrong.Add("name", "is required")
	}
	if err := wrong.Err(); err != nil {
		return "", err
	}
	if _, err := s.guard.Begin(ctx, s.guard.LimitRate("teams", c.Person.UserID, teamsADay, 24*time.Hour)); err != nil {
		return "", guessing.WithMessage(err, "You have created %d teams in 24 hours, which is the limit", teamsADay)
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := trust.LockUser(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		if err := s.accounts.CheckTeamLimit(ctx, tx, c.Person.UserID); err != nil {
			return err
		}
		made, err := s.accounts.CreateTeam(ctx, tx, c.Person.Email, name, c.Person.UserID)
		if err != nil {
			return err
		}
		accountID = made.ID
		return audit.Write(ctx, tx, audit.Entry{AccountID: made.ID, Actor: audit.ActorOf(c), Action: "account.created",
			Target: made.ID, Changes: map[string]any{"name": name}})
	})
	if err != nil {
		return "", fault.Wrap("new team", err)
	}
	s.seen.sessions.InvalidateAll()
	return accountID, nil
}
