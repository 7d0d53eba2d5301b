package team

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/invitation"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// User returns a user by email or ID, for the operator. Error: NotFound.
func (s *Service) User(ctx context.Context, emailOrID string) (*ent.User, error) {
	found, err := s.db.Ent.User.Query().Where(user.Or(user.ID(emailOrID), user.Email(toStoredEmail(emailOrID)))).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("user", emailOrID)
	case err != nil:
		return nil, fmt.Errorf("user: %w", err)
	}
	return found, nil
}

// Users lists all users of the installation with their memberships, by email, for the operator.
func (s *Service) Users(ctx context.Context) ([]*ent.User, error) {
	rows, err := s.db.Ent.User.Query().WithMemberships().Order(ent.Asc(user.FieldEmail)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	return rows, nil
}

// toStoredEmail returns an email address in its stored form.
func toStoredEmail(email string) string { return accounts.CheckEmail(fault.Fields{}, "email", email) }

// UserFilter narrows a list of users. Zero fields match everything.
type UserFilter struct {
	Text     string // part of the email or name, ignoring case, or a complete id
	Operator *bool
	Disabled *bool
}

// UserPage returns one page of the installation's users, newest first, with their memberships. Error: Invalid.
func (s *Service) UserPage(ctx context.Context, f UserFilter, r page.Request) (page.Page[*ent.User], error) {
	if err := fault.CheckTexts(map[string]string{"q": f.Text}); err != nil {
		return page.Page[*ent.User]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "operator_users"}, r.OrDefault(),
		s.findUsers(f).WithMemberships(), func(u *ent.User) string { return u.ID })
}

// CountUsers returns the number of users that match a filter, up to the limit most.
func (s *Service) CountUsers(ctx context.Context, f UserFilter, most int) (int, error) {
	found, err := s.findUsers(f).Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) findUsers(f UserFilter) *ent.UserQuery {
	query := s.db.Ent.User.Query()
	if f.Text != "" {
		query.Where(user.Or(user.EmailContainsFold(f.Text), user.NameContainsFold(f.Text), user.ID(f.Text)))
	}
	if f.Operator != nil {
		query.Where(user.Operator(*f.Operator))
	}
	switch {
	case f.Disabled == nil:
	case *f.Disabled:
		query.Where(user.DisabledAtNotNil())
	default:
		query.Where(user.DisabledAtIsNil())
	}
	return query
}

// UserByID returns a user with their memberships. Error: NotFound.
func (s *Service) UserByID(ctx context.Context, userID string) (*ent.User, error) {
	found, err := s.db.Ent.User.Query().Where(user.ID(userID)).WithMemberships().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("user", userID)
	case err != nil:
		return nil, fmt.Errorf("user: %w", err)
	}
	return found, nil
}

// UserChange is an operator's change to a user. A nil field stays unchanged.
type UserChange struct {
	Disabled, Operator *bool
	// Disable, if not nil, revokes the access of a disabled user, in the transaction.
	Disable func(ctx context.Context, tx *ent.Tx, who *ent.User) error
}

// errOperators is returned to operator keys, so that a leaked key can neither create operators nor lock them out.
func errOperators() error {
	return fault.Forbiddenf(fault.CodeInsufficientScope,
		"Operators are managed by operators who are signed in, and by the command line")
}

func (c UserChange) validate(by accounts.Caller, who *ent.User) error {
	wrong := fault.Fields{}
	switch {
	case by.Operator != nil && (c.Operator != nil || who.Operator):
		return errOperators()
	case by.Person == nil || by.Person.UserID != who.ID:
	case c.Disabled != nil && *c.Disabled:
		wrong.Add("disabled", "cannot be true for yourself: another operator can disable you")
	case c.Operator != nil && !*c.Operator:
		wrong.Add("operator", "cannot be false for yourself: another operator can revoke the role")
	}
	return wrong.Err()
}

// ChangeAsOperator changes a user on behalf of an operator or an operator key. The zero Caller is the command line.
// Errors: NotFound; Forbidden if a key changes an operator; Invalid if operators lock themselves out.
func (s *Service) ChangeAsOperator(ctx context.Context, by accounts.Caller, emailOrID string,
	c UserChange) (*ent.User, error) {
	found, err := s.User(ctx, emailOrID)
	if err != nil {
		return nil, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, found.ID); err != nil {
			return err
		}
		who, err := tx.User.Get(ctx, found.ID)
		if err != nil {
			return err
		}
		if err := c.validate(by, who); err != nil {
			return err
		}
		update := tx.User.UpdateOneID(who.ID).SetNillableOperator(c.Operator)
		changes := map[string]any{}
		if c.Operator != nil {
			changes["operator"] = *c.Operator
		}
		if c.Disabled != nil {
			changes["disabled"] = *c.Disabled
			if *c.Disabled {
				update.SetDisabledAt(time.Now())
				if err := endOffers(ctx, tx, who, c.Disable); err != nil {
					return err
				}
			} else {
				update.ClearDisabledAt()
			}
		}
		if err := update.Exec(ctx); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{Actor: audit.OperatorOf(by), Action: "user.changed",
			Target: who.ID, Changes: changes})
	})
	if err != nil {
		return nil, fault.Wrap("change user", err)
	}
	return s.UserByID(ctx, found.ID)
}

// endOffers revokes the open invitations of a disabled user, then calls also.
func endOffers(ctx context.Context, tx *ent.Tx, who *ent.User,
	also func(ctx context.Context, tx *ent.Tx, who *ent.User) error) error {
	if err := tx.Invitation.Update().Where(invitation.InvitedBy(who.ID), invitation.AcceptedAtIsNil(),
		invitation.RevokedAtIsNil()).
		SetRevokedAt(time.Now()).ClearDueAt().ClearTokenHash().Exec(ctx); err != nil || also == nil {
		return err
	}
	return also(ctx, tx, who)
}

// CreateUser creates a user on behalf of an operator or an operator key. The zero Caller is the command line. A user
// who has the email is returned unchanged. keep, if not nil, runs in the transaction. Error: Invalid.
func (s *Service) CreateUser(ctx context.Context, by accounts.Caller, email, name string,
	keep func(ctx context.Context, tx idempotency.Execer, made *ent.User) error) (made *ent.User, err error) {
	wrong := fault.Fields{}
	email = accounts.CheckEmail(wrong, "email", email)
	name = accounts.CheckName(wrong, "name", name)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		known, err := tx.User.Query().Where(user.Email(email)).Exist(ctx)
		if err != nil {
			return err
		}
		made, err = accounts.EnsureUser(ctx, tx, email, name)
		if err != nil {
			return err
		}
		if !known {
			err = audit.Write(ctx, tx, audit.Entry{Actor: audit.OperatorOf(by), Action: "user.created", Target: made.ID,
				Changes: map[string]any{"email": email}})
		}
		if err == nil {
			made, err = tx.User.Query().Where(user.ID(made.ID)).WithMemberships().Only(ctx)
		}
		if err != nil || keep == nil {
			return err
		}
		return keep(ctx, tx, made)
	})
	if err != nil {
		return nil, fault.Wrap("create user", err)
	}
	return made, nil
}
