package team

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Module provides *Service.
var Module = fx.Module("team", fx.Provide(New),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "invitations", Columns: []clockstep.TimeColumn{
			{Table: "invitations", Name: "due_at"},
			{Table: "invitations", Name: "expires_at", Limit: InvitationLife, Reset: InvitationLife},
		}}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep { return module.Sweep{What: "old invitations", Run: s.sweep} }),
)

// Params contains the parameters of New.
type Params struct {
	fx.In

	DB       *db.DB
	Accounts *accounts.Service
	Signals  *db.Signals `optional:"true"`
	Cursors  *page.Codec // for paged lists
	Bounds   MailBounds  `optional:"true"` // nil if only the limits of the team apply
}

// MailBounds limits the emails that users can cause to other people's mailboxes, across all teams.
type MailBounds interface {
	// CountInvite counts an email to a mailbox, in the transaction that requests it. Error: Limit.
	CountInvite(ctx context.Context, tx *ent.Tx, inviterID, email string) error
}

// Service manages members and invitations. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *accounts.Service
	signals  *db.Signals
	cursors  *page.Codec
	bounds   MailBounds
}

// New returns a new service.
func New(p Params) *Service { return &Service{p.DB, p.Accounts, p.Signals, p.Cursors, p.Bounds} }

// lockAccount locks the row of an account until the transaction ends, so that role changes are serialized.
func lockAccount(ctx context.Context, tx *ent.Tx, accountID string) (*ent.Account, error) {
	found, err := tx.Account.Query().Where(account.ID(accountID)).ForUpdate().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("account", accountID)
	}
	return found, err
}

// roleOf returns the current role of a member, or an empty role if the user is not a member.
func roleOf(ctx context.Context, tx *ent.Tx, accountID, userID string) (rights.Role, error) {
	found, err := tx.Membership.Query().Where(membership.AccountID(accountID), membership.UserID(userID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return rights.Role(found.Role), nil
}

// actingRole returns the role of a caller that changes a team, read again under the lock. Operator keys act as an
// owner. API keys and the command line have no role and are rejected.
func actingRole(ctx context.Context, tx *ent.Tx, c accounts.Caller) (rights.Role, error) {
	if c.Operator != nil {
		return rights.RoleOwner, nil
	}
	if c.Person == nil {
		return "", fault.Forbiddenf(fault.CodeInsufficientScope,
			"This operation is for people who are signed in, not for API keys")
	}
	return roleOf(ctx, tx, c.AccountID, c.Person.UserID)
}

func errRoleTooHigh(own, other rights.Role) error {
	return fault.Forbiddenf(fault.CodeInsufficientRole,
		"Your role in this team is %q, which does not allow changes to the role %q", own, other)
}

// Membership is an account that a user belongs to.
type Membership struct {
	AccountID   string
	AccountName string
	Role        rights.Role
	MovedTo     *string // base URL of the installation that has the account; nil if this one has it
}

const maxMemberships = 1000

// Memberships lists the accounts of a user, by name.
func (s *Service) Memberships(ctx context.Context, userID string) ([]Membership, error) {
	rows, err := s.db.Ent.Membership.Query().Where(membership.UserID(userID)).WithAccount().Limit(maxMemberships).
		Order(membership.ByAccountField(account.FieldName), ent.Asc(membership.FieldAccountID)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("memberships: %w", err)
	}
	list := make([]Membership, len(rows))
	for i, row := range rows {
		list[i] = Membership{row.AccountID, row.Edges.Account.Name, rights.Role(row.Role), row.Edges.Account.MovedTo}
	}
	return list, nil
}

// SignedIn records a sign-in and the browser's preferred language, in the transaction of the session. An empty
// language keeps the stored one.
func (s *Service) SignedIn(ctx context.Context, tx *ent.Tx, userID, language string) error {
	update := tx.User.UpdateOneID(userID).SetLastSignInAt(time.Now())
	if language != "" {
		update.SetLanguage(language)
	}
	return update.Exec(ctx)
}

// MakeOperator grants a user operator rights, in a transaction.
func MakeOperator(ctx context.Context, tx *ent.Tx, userID string) error {
	return tx.User.UpdateOneID(userID).SetOperator(true).Exec(ctx)
}
