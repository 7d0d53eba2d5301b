package team

import (
	"context"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// InvitationLife is how long an invitation is open.
const InvitationLife = 7 * 24 * time.Hour

// MaxInvitations is the maximum number of open invitations in an account.
const MaxInvitations = 50

// mailsPerDay limits the invitation emails of an account in 24 hours, including repeated ones.
const mailsPerDay = 100

const mailsOfDaySQL = `
SELECT count(*) FROM audit_entries WHERE account_id = $1 AND id COLLATE "C" > $2 AND action IN ('invitation.created', 'invitation.resent')`

// mayMail enforces the limits for invitation emails: the team's, under the account's lock, and those of the
// inviter and the mailbox across all teams.
func (s *Service) mayMail(ctx context.Context, tx *ent.Tx, c accounts.Caller, email string) error {
	n, err := db.One(ctx, tx, db.Value[int], mailsOfDaySQL, c.AccountID,
		id.Since(id.AuditEntry, time.Now().Add(-24*time.Hour)))
	if err == nil && n >= mailsPerDay {
		return &fault.Error{Kind: fault.Limit, Code: fault.CodeRateLimit, RetryAfter: time.Hour,
			Message: fmt.Sprintf("This team has sent %d invitation emails in 24 hours, which is the limit",
				mailsPerDay)}
	}
	if err != nil || s.bounds == nil {
		return err
	}
	return s.bounds.CountInvite(ctx, tx, c.ID(), email)
}

// Channel is the notification channel for due invitation emails.
const Channel = "invitations"

// NewInvitation is the input of Invite.
type NewInvitation struct {
	Email string
	Role  rights.Role
	// Keep, if not nil, runs in the transaction.
	Keep func(ctx context.Context, tx db.Execer, made *ent.Invitation) error
}

// Validate reports every invalid field.
func (in NewInvitation) Validate() error {
	wrong := fault.Fields{}
	accounts.CheckEmail(wrong, "email", in.Email)
	if !in.Role.IsKnown() {
		wrong.Add("role", "must be one of owner, admin, developer, billing, viewer")
	}
	return wrong.Err()
}

// Invite invites a mailbox to the caller's account. Errors: Invalid; Forbidden if the caller's role does not
// allow it; Conflict for a member, for an invited mailbox, and over MaxInvitations; Limit over the daily
// emails.
func (s *Service) Invite(ctx context.Context, c accounts.Caller, in NewInvitation) (made *ent.Invitation, err error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	in.Email = toStoredEmail(in.Email)
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := lockAccount(ctx, tx, c.AccountID); err != nil {
			return err
		}
		if err := s.mayInvite(ctx, tx, c, in); err != nil {
			return err
		}
		if err := s.mayMail(ctx, tx, c, in.Email); err != nil {
			return err
		}
		create := tx.Invitation.Create().SetID(id.New(id.Invitation)).SetAccountID(c.AccountID).SetEmail(in.Email).
			SetRole(invitation.Role(in.Role)).SetExpiresAt(time.Now().Add(InvitationLife)).SetDueAt(time.Now())
		if c.Person != nil {
			create.SetInvitedBy(c.Person.UserID)
		}
		made, err = create.Save(ctx)
		if err != nil {
			return err
		}
		made = made.Unwrap()
		if in.Keep != nil {
			if err := in.Keep(ctx, tx, made); err != nil {
				return err
			}
		}
		if err := db.Notify(ctx, tx, Channel); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c),
			Action: "invitation.created", Target: made.ID,
			Changes: map[string]any{"email": in.Email, "role": in.Role}})
	})
	if err != nil {
		return nil, fault.Wrap("invite", err)
	}
	return made, nil
}

// mayInvite validates an invitation under the account's lock. Expired invitations do not count.
func (s *Service) mayInvite(ctx context.Context, tx *ent.Tx, c accounts.Caller, in NewInvitation) error {
	own, err := actingRole(ctx, tx, c)
	if err != nil {
		return err
	}
	if !own.CanGrant(in.Role) {
		return errRoleTooHigh(own, in.Role)
	}
	is, err := tx.Membership.Query().
		Where(membership.AccountID(c.AccountID), membership.HasUserWith(user.Email(in.Email))).Exist(ctx)
	if err != nil {
		return err
	}
	if is {
		return fault.Conflictf(fault.CodeConflict, "%s is already a member of this team", in.Email)
	}
	open := tx.Invitation.Query().Where(invitation.AccountID(c.AccountID), invitation.AcceptedAtIsNil(),
		invitation.RevokedAtIsNil())
	if _, err := tx.Invitation.Update().Where(invitation.AccountID(c.AccountID), invitation.AcceptedAtIsNil(),
		invitation.RevokedAtIsNil(), whereExpired()).
		SetRevokedAt(time.Now()).ClearDueAt().Save(ctx); err != nil {
		return err
	}
	invited, err := open.Clone().Where(invitation.Email(in.Email)).Exist(ctx)
	if err != nil {
		return err
	}
	if invited {
		return fault.Conflictf(fault.CodeConflict, "%s is already invited: send that invitation again, or revoke it",
			in.Email)
	}
	n, err := open.Count(ctx)
	if err != nil {
		return err
	}
	if n >= MaxInvitations {
		return fault.Conflictf(fault.CodeConflict,
			"The team has %d open invitations, which is the limit: revoke one first", MaxInvitations)
	}
	return nil
}

// whereExpired selects invitations that have expired by the clock of the database.
func whereExpired() func(*entsql.Selector) {
	return func(s *entsql.Selector) { s.Where(entsql.ExprP("expires_at <= now()")) }
}

// Invitations lists the open invitations of an account, newest first.
func (s *Service) Invitations(ctx context.Context, accountID string) ([]*ent.Invitation, error) {
	rows, err := s.open(accountID).Order(ent.Desc(invitation.FieldID)).Limit(MaxInvitations).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("invitations: %w", err)
	}
	return rows, nil
}

// Revoke revokes an invitation. It is idempotent. Errors: NotFound; Forbidden if the caller's role does not
// allow it; Conflict if the invitation was accepted.
func (s *Service) Revoke(ctx context.Context, c accounts.Caller, invitationID string) error {
	_, err := s.change(ctx, c, invitationID, "invitation.revoked",
		func(u *ent.InvitationUpdateOne) { u.SetRevokedAt(time.Now()).ClearDueAt().ClearTokenHash() })
	return err
}

// Resend sends an invitation again, with a new link that is valid for seven days. The old link becomes
// invalid when the email is written. Errors: those of Revoke; Limit over the daily emails.
func (s *Service) Resend(ctx context.Context, c accounts.Caller, invitationID string) (*ent.Invitation, error) {
	return s.change(ctx, c, invitationID, "invitation.resent", func(u *ent.InvitationUpdateOne) {
		u.SetExpiresAt(time.Now().Add(InvitationLife)).SetDueAt(time.Now()).SetAttempts(0)
	})
}

func (s *Service) change(ctx context.Context, c accounts.Caller, invitationID, action string,
	apply func(*ent.InvitationUpdateOne)) (changed *ent.Invitation, err error) {
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		row, err := s.lockChangeable(ctx, tx, c, invitationID)
		if err != nil {
			return err
		}
		if row.RevokedAt != nil {
			if changed = row.Unwrap(); action == "invitation.revoked" {
				return nil
			}
			return fault.Conflictf(fault.CodeConflict, "This invitation was revoked: invite again")
		}
		if action == "invitation.resent" {
			if err := s.mayMail(ctx, tx, c, row.Email); err != nil {
				return err
			}
		}
		update := tx.Invitation.UpdateOneID(invitationID)
		apply(update)
		if changed, err = update.Save(ctx); err != nil {
			return err
		}
		changed = changed.Unwrap()
		if err := db.Notify(ctx, tx, Channel); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{AccountID: c.AccountID, Actor: audit.ActorOf(c), Action: action,
			Target:  invitationID,
			Changes: map[string]any{"email": row.Email, "role": row.Role}})
	})
	if err != nil {
		return nil, fault.Wrap("change invitation", err)
	}
	return changed, nil
}

// lockChangeable locks the account, then returns and locks an invitation that the caller may change.
func (s *Service) lockChangeable(ctx context.Context, tx *ent.Tx, c accounts.Caller,
	invitationID string) (*ent.Invitation, error) {
	if _, err := lockAccount(ctx, tx, c.AccountID); err != nil {
		return nil, err
	}
	own, err := actingRole(ctx, tx, c)
	if err != nil {
		return nil, err
	}
	row, err := tx.Invitation.Query().Where(invitation.ID(invitationID), invitation.AccountID(c.AccountID)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("invitation", invitationID)
	case err != nil:
		return nil, err
	case !own.CanGrant(rights.Role(row.Role)):
		return nil, errRoleTooHigh(own, rights.Role(row.Role))
	case row.AcceptedAt != nil:
		return nil, fault.Conflictf(fault.CodeConflict, "This invitation was accepted")
	}
	return row, nil
}
