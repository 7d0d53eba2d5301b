package team

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/apikey"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/alerts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Member is a member of an account.
type Member struct {
	User *ent.User
	Role rights.Role
	Row  *ent.Membership
}

const maxMembers = 1000

// Members lists the members of an account, oldest membership first.
func (s *Service) Members(ctx context.Context, accountID string) ([]Member, error) {
	rows, err := s.members(accountID).WithUser().Order(ent.Asc(membership.FieldID)).Limit(maxMembers).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	list := make([]Member, len(rows))
	for i, row := range rows {
		list[i] = Member{row.Edges.User, rights.Role(row.Role), row}
	}
	return list, nil
}

// lockMember locks the account, then locks and returns a member.
func lockMember(ctx context.Context, tx *ent.Tx, accountID, userID string) (*ent.Membership, error) {
	found, err := tx.Membership.Query().Where(membership.AccountID(accountID), membership.UserID(userID)).
		WithUser().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fault.NoSuch("member", userID)
	}
	return found, err
}

// SetRole changes the role of a member. Errors: NotFound; Forbidden if the caller's role does not allow it;
// Conflict for the last owner.
func (s *Service) SetRole(ctx context.Context, c accounts.Caller, userID string,
	role rights.Role) (changed Member, err error) {
	if !role.IsKnown() {
		return changed, fault.InvalidField("role", "must be one of owner, admin, developer, billing, viewer")
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		account, err := lockAccount(ctx, tx, c.AccountID)
		if err != nil {
			return err
		}
		row, err := s.mayChange(ctx, tx, c, userID, role)
		if err != nil {
			return err
		}
		before := rights.Role(row.Role)
		if before != role {
			if err := keepAnOwner(ctx, tx, c.AccountID, before, role); err != nil {
				return err
			}
			if err := tx.Membership.UpdateOneID(row.ID).SetRole(membership.Role(role)).Exec(ctx); err != nil {
				return err
			}
			if err := revokeInvitationsOf(ctx, tx, c.AccountID, userID, role); err != nil {
				return err
			}
			if err := alerts.Add(ctx, tx, alerts.Alert{UserID: userID, Email: row.Edges.User.Email,
				Kind: alerts.RoleChanged,
				Names: map[string]string{"team": account.Name, "role": string(role),
					"before": string(before)}}); err != nil {
				return err
			}
			if err := audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c),
				Action: "member.role_changed", Target: userID,
				Changes: map[string]any{"email": row.Edges.User.Email, "from": before, "to": role}}); err != nil {
				return err
			}
		}
		changed = Member{row.Edges.User.Unwrap(), role, row.Unwrap()}
		return nil
	})
	s.accounts.ForgetKeys()
	if err != nil {
		return Member{}, fault.Wrap("change role", err)
	}
	return changed, nil
}

// mayChange returns a member whom the caller may give the role, or remove if the role is "".
func (s *Service) mayChange(ctx context.Context, tx *ent.Tx, c accounts.Caller, userID string,
	role rights.Role) (*ent.Membership, error) {
	own, err := actingRole(ctx, tx, c)
	if err != nil {
		return nil, err
	}
	row, err := lockMember(ctx, tx, c.AccountID, userID)
	if err != nil {
		return nil, err
	}
	if current := rights.Role(row.Role); !own.CanGrant(current) {
		return nil, errRoleTooHigh(own, current)
	}
	if role != "" && !own.CanGrant(role) {
		return nil, errRoleTooHigh(own, role)
	}
	return row, nil
}

// mayRemove returns a member whom the caller may remove. The operation itself requires no right, because
// every member may leave.
func (s *Service) mayRemove(ctx context.Context, tx *ent.Tx, c accounts.Caller,
	userID string) (*ent.Membership, error) {
	if err := c.Authorize(rights.Team); err != nil {
		return nil, err
	}
	return s.mayChange(ctx, tx, c, userID, "")
}

// keepAnOwner rejects a change that would leave an account without an owner.
func keepAnOwner(ctx context.Context, tx *ent.Tx, accountID string, before, after rights.Role) error {
	if before != rights.RoleOwner || after == rights.RoleOwner {
		return nil
	}
	owners, err := tx.Membership.Query().
		Where(membership.AccountID(accountID), membership.RoleEQ(membership.RoleOwner)).Count(ctx)
	if err != nil {
		return err
	}
	if owners <= 1 {
		return fault.Conflictf(fault.CodeConflict,
			"This is the last owner of the team: make another member an owner first")
	}
	return nil
}

// Remove removes a member from the account. A member may always leave. Within five seconds their sessions
// lose access to the account. Their invitations are revoked, and their keys may only send and read sent mail.
// Errors: NotFound; Forbidden if the caller's role does not allow it; Conflict for the last owner.
func (s *Service) Remove(ctx context.Context, c accounts.Caller, userID string) error {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		account, err := lockAccount(ctx, tx, c.AccountID)
		if err != nil {
			return err
		}
		var row *ent.Membership
		if c.Person != nil && c.Person.UserID == userID {
			row, err = lockMember(ctx, tx, c.AccountID, userID)
		} else {
			row, err = s.mayRemove(ctx, tx, c, userID)
		}
		if err != nil {
			return err
		}
		if err := keepAnOwner(ctx, tx, c.AccountID, rights.Role(row.Role), ""); err != nil {
			return err
		}
		keys, err := leave(ctx, tx, account, row)
		if err != nil {
			return err
		}
		if c.Person == nil || c.Person.UserID != userID {
			if err := alerts.Add(ctx, tx, alerts.Alert{UserID: userID, Email: row.Edges.User.Email,
				Kind: alerts.MemberRemoved, Names: map[string]string{"team": account.Name}}); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c),
			Action: "member.removed", Target: userID,
			Changes: map[string]any{"email": row.Edges.User.Email, "role": row.Role, "api_keys": keys}})
	})
	s.accounts.ForgetKeys()
	return fault.Wrap("remove member", err)
}

const leftSQL = `
INSERT INTO former_members (account_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT (account_id, user_id) DO UPDATE SET role = EXCLUDED.role, created_at = now()`

// leave deletes a membership and revokes the member's open invitations. It returns the number of remaining
// API keys that the member created.
func leave(ctx context.Context, tx *ent.Tx, from *ent.Account, row *ent.Membership) (keys int, err error) {
	if err := tx.Membership.DeleteOneID(row.ID).Exec(ctx); err != nil {
		return 0, err
	}
	if _, err := db.Exec(ctx, tx, leftSQL, from.ID, row.UserID, string(row.Role)); err != nil {
		return 0, err
	}
	if err := revokeInvitationsOf(ctx, tx, from.ID, row.UserID, ""); err != nil {
		return 0, err
	}
	if row.Edges.User.Email == from.Email {
		if err := passEmailOn(ctx, tx, from.ID); err != nil {
			return 0, err
		}
	}
	return tx.APIKey.Query().Where(apikey.AccountID(from.ID), apikey.CreatedBy(row.UserID), apikey.RevokedAtIsNil()).
		Count(ctx)
}

// revokeInvitationsOf revokes a member's open invitations to roles that the member may no longer grant, or
// all of them if the role is "". Otherwise a removed member could use them to return.
func revokeInvitationsOf(ctx context.Context, tx *ent.Tx, accountID, userID string, now rights.Role) error {
	var beyond []invitation.Role
	for _, role := range rights.Roles() {
		if !now.CanGrant(role) {
			beyond = append(beyond, invitation.Role(role))
		}
	}
	return tx.Invitation.Update().Where(invitation.AccountID(accountID), invitation.InvitedBy(userID),
		invitation.RoleIn(beyond...), invitation.AcceptedAtIsNil(), invitation.RevokedAtIsNil()).
		SetRevokedAt(time.Now()).ClearDueAt().ClearTokenHash().Exec(ctx)
}

// passEmailOn sets the account's email to that of its oldest owner.
func passEmailOn(ctx context.Context, tx *ent.Tx, accountID string) error {
	oldest, err := tx.Membership.Query().
		Where(membership.AccountID(accountID), membership.RoleEQ(membership.RoleOwner)).
		WithUser().Order(ent.Asc(membership.FieldID)).First(ctx)
	if err != nil {
		return err
	}
	return tx.Account.UpdateOneID(accountID).SetEmail(oldest.Edges.User.Email).Exec(ctx)
}

// Join adds a user to an account, in a transaction. An existing member keeps the wider role.
func Join(ctx context.Context, tx *ent.Tx, accountID, userID string, role rights.Role) error {
	if _, err := lockAccount(ctx, tx, accountID); err != nil {
		return err
	}
	current, err := roleOf(ctx, tx, accountID, userID)
	switch {
	case err != nil:
		return err
	case current == "":
		if _, err := db.Exec(ctx, tx, `DELETE FROM former_members WHERE account_id = $1 AND user_id = $2`, accountID, userID); err != nil {
			return err
		}
		return tx.Membership.Create().SetAccountID(accountID).SetUserID(userID).SetRole(membership.Role(role)).Exec(ctx)
	case role == rights.RoleOwner && current != rights.RoleOwner:
		return tx.Membership.Update().Where(membership.AccountID(accountID), membership.UserID(userID)).
			SetRole(membership.RoleOwner).Exec(ctx)
	}
	return nil
}

// ProfileChange is a user's change to their own profile. A nil field stays unchanged.
type ProfileChange struct {
	Name  *string
	Email *string // in its stored form; accounts that have the old email get the new one
}

// ChangeUser updates a user, in a transaction. Error: Conflict if another user has the email.
func ChangeUser(ctx context.Context, tx *ent.Tx, userID string, c ProfileChange) error {
	before, err := tx.User.Query().Where(user.ID(userID)).ForUpdate().Only(ctx)
	if err != nil {
		return err
	}
	update := tx.User.UpdateOneID(userID).SetNillableName(c.Name).SetNillableEmail(c.Email)
	if err := update.Exec(ctx); err != nil {
		if ent.IsConstraintError(err) {
			return fault.Conflictf(fault.CodeConflict, "Another user already has the email %s", *c.Email).
				WithCause(err)
		}
		return err
	}
	if c.Email == nil || *c.Email == before.Email {
		return nil
	}
	_, err = tx.ExecContext(ctx, `
UPDATE accounts a SET email = $2, updated_at = now()
 WHERE a.email = $1 AND EXISTS (SELECT FROM memberships m WHERE m.account_id = a.id AND m.user_id = $3)`, before.Email, *c.Email, userID)
	return err
}
