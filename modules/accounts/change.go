package accounts

import (
	"context"
	"fmt"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/ent/membership"
	"github.com/postrider/postrider/ent/plan"
	"github.com/postrider/postrider/ent/user"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
)

// The longest retention periods that an account may choose, in days.
const (
	MaxBodyRetention   = 365
	MaxRecordRetention = 3650
)

// MaxMonthlyLimit is the largest number of emails per month that an account may set as its own limit.
const MaxMonthlyLimit = 1_000_000_000

// AccountChange is the input of UpdateAccount; nil fields stay unchanged.
type AccountChange struct {
	Name                *string
	Email               *string // must be the address of a member
	RequireSecondFactor *bool   // a session without one can only change personal settings
	Plan                *string
	ProductionUnlocked  *bool
	PaymentMethod       *bool // whether one is on file
	Suspended           *bool
	MonthlyLimit        **int // own limit of emails per month; a pointer to nil removes the limit
	PaymentDue          *bool // a payment is overdue
	StoredBytes         **int // overrides the plan's cap of stored bytes; a pointer to nil restores the plan's
	DailyBytes          **int // overrides the plan's cap of bytes per day; a pointer to nil restores the plan's
	BodyRetentionDays   *int  // days after sending until bodies and attachments are deleted
	RecordRetentionDays *int  // days until the whole email is deleted; at least BodyRetentionDays
}

// IsEmpty reports whether the change has no fields.
func (c AccountChange) IsEmpty() bool { return c == AccountChange{} }

// Validate reports every wrong field that can be checked without reading the account.
func (c AccountChange) Validate() fault.Fields {
	wrong := fault.Fields{}
	if c.Name != nil {
		checkName(wrong, "name", *c.Name, true)
	}
	if c.Email != nil {
		CheckEmail(wrong, "email", *c.Email)
	}
	days := func(field string, n *int, most int) {
		if n != nil && (*n < 1 || *n > most) {
			wrong.Add(field, "must be between 1 and %d", most)
		}
	}
	if c.MonthlyLimit != nil && *c.MonthlyLimit != nil && (**c.MonthlyLimit < 1 || **c.MonthlyLimit > MaxMonthlyLimit) {
		wrong.Add("monthly_limit", "must be between 1 and %d, or null for no limit", MaxMonthlyLimit)
	}
	CheckBytes(wrong, "stored_bytes", c.StoredBytes)
	CheckBytes(wrong, "daily_bytes", c.DailyBytes)
	days("body_retention_days", c.BodyRetentionDays, MaxBodyRetention)
	days("record_retention_days", c.RecordRetentionDays, MaxRecordRetention)
	return wrong
}

// MaxBytes is the largest byte quota.
const MaxBytes = 1_000_000_000_000_000

// CheckBytes reports a byte quota that is out of range.
func CheckBytes(wrong fault.Fields, field string, n **int) {
	if n != nil && *n != nil && (**n < 1 || **n > MaxBytes) {
		wrong.Add(field, "must be between 1 and %d, or null", MaxBytes)
	}
}

// A body belongs to its record, so the record must be kept at least as long.
func (c AccountChange) checkRetention(wrong fault.Fields, current *ent.Account) {
	body, record := current.BodyRetentionDays, current.RecordRetentionDays
	if c.BodyRetentionDays != nil {
		body = *c.BodyRetentionDays
	}
	if c.RecordRetentionDays != nil {
		record = *c.RecordRetentionDays
	}
	switch {
	case body <= record:
	case c.RecordRetentionDays != nil:
		wrong.Add("record_retention_days", "must be at least body_retention_days, which is %d", body)
	case c.BodyRetentionDays != nil:
		wrong.Add("body_retention_days", "must be at most record_retention_days, which is %d", record)
	}
}

// UpdateAccount changes an account: immediately in this process, within CacheTTL in others. Emails sent under
// the old plan count toward the caps of the new one.
func (s *Service) UpdateAccount(ctx context.Context, accountID string, c AccountChange) (*ent.Account, error) {
	return s.UpdateAccountWith(ctx, accountID, c, func(*ent.Tx) error { return nil })
}

// UpdateAccountWith is UpdateAccount that also calls a function in its transaction.
func (s *Service) UpdateAccountWith(ctx context.Context, accountID string, c AccountChange,
	also func(*ent.Tx) error) (*ent.Account, error) {
	err := s.db.InTx(ctx, func(tx *ent.Tx) error {
		if err := s.UpdateAccountIn(ctx, tx, accountID, c); err != nil {
			return err
		}
		return also(tx)
	})
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("account", accountID)
	case err != nil:
		return nil, fmt.Errorf("update account: %w", err)
	}
	s.Forget(accountID)
	if c.Suspended != nil {
		s.keys.InvalidateAll() // the cache has no index by account, and suspensions are rare
	}
	return s.accountRow(ctx, accountID)
}

// Forget drops the account from the cache of this process.
func (s *Service) Forget(accountID string) {
	s.accounts.Invalidate(accountID)
	s.accounts.Invalidate(id.TestTenantOf(accountID))
}

// ForgetAll drops all accounts and keys from the caches of this process.
func (s *Service) ForgetAll() {
	s.accounts.InvalidateAll()
	s.keys.InvalidateAll()
	s.operators.known.InvalidateAll()
}

// ForgetKeys drops all API keys from the cache of this process.
func (s *Service) ForgetKeys() { s.keys.InvalidateAll() }

// UpdateAccountIn is UpdateAccount within a transaction. The caller must call Forget afterwards.
func (s *Service) UpdateAccountIn(ctx context.Context, tx *ent.Tx, accountID string, c AccountChange) error {
	current, err := tx.Account.Query().Where(account.ID(accountID)).ForUpdate().Only(ctx)
	if err != nil {
		return err
	}
	wrong := c.Validate()
	c.checkRetention(wrong, current)
	if err := checkPlan(ctx, tx, wrong, c.Plan); err != nil {
		return err
	}
	if err := c.checkMember(ctx, tx, wrong, accountID); err != nil {
		return err
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := c.apply(tx.Account.UpdateOneID(accountID)).Exec(ctx); err != nil || !c.changesCaps(current) {
		return err
	}
	return recountForNewPlan(ctx, tx, accountID)
}

// checkMember rejects an email that no member has: a sandboxed account must not be able to write to a
// stranger's mailbox.
func (c AccountChange) checkMember(ctx context.Context, tx *ent.Tx, wrong fault.Fields, accountID string) error {
	if c.Email == nil || wrong["email"] != "" {
		return nil
	}
	is, err := tx.Membership.Query().
		Where(membership.AccountID(accountID),
			membership.HasUserWith(user.Email(CheckEmail(wrong, "email", *c.Email)))).Exist(ctx)
	if err == nil && !is {
		wrong.Add("email", "must be the address of a member")
	}
	return err
}

// changesCaps reports whether the change affects the caps of the account.
func (c AccountChange) changesCaps(current *ent.Account) bool {
	return c.Plan != nil && *c.Plan != current.PlanID || c.MonthlyLimit != nil || c.PaymentDue != nil &&
		*c.PaymentDue != (current.PaymentDueAt != nil)
}

func checkPlan(ctx context.Context, tx *ent.Tx, wrong fault.Fields, planID *string) error {
	if planID == nil {
		return nil
	}
	known, err := tx.Plan.Query().Where(plan.ID(*planID)).Exist(ctx)
	if err == nil && !known {
		wrong.Add("plan", "%q is not a plan of this installation", *planID)
	}
	return err
}

func (c AccountChange) apply(u *ent.AccountUpdateOne) *ent.AccountUpdateOne {
	if c.Name != nil {
		u.SetName(checkName(fault.Fields{}, "name", *c.Name, true))
	}
	if c.Email != nil {
		u.SetEmail(CheckEmail(fault.Fields{}, "email", *c.Email))
	}
	u.Modify(func(b *entsql.UpdateBuilder) { b.Set(account.FieldChangedAt, entsql.Expr("clock_timestamp()")) })
	u.SetNillableRequireSecondFactor(c.RequireSecondFactor).SetNillablePlanID(c.Plan).
		SetNillableProductionUnlocked(c.ProductionUnlocked).
		SetNillableBodyRetentionDays(c.BodyRetentionDays).SetNillableRecordRetentionDays(c.RecordRetentionDays)
	setSince(u, account.FieldPaymentMethodAt, c.PaymentMethod)
	setSince(u, account.FieldSuspendedAt, c.Suspended)
	setSince(u, account.FieldPaymentDueAt, c.PaymentDue)
	switch {
	case c.MonthlyLimit == nil:
	case *c.MonthlyLimit == nil:
		u.ClearMonthlyLimit()
	default:
		u.SetMonthlyLimit(**c.MonthlyLimit)
	}
	if c.StoredBytes != nil {
		u.ClearStoredBytes().SetNillableStoredBytes(*c.StoredBytes)
	}
	if c.DailyBytes != nil {
		u.ClearDailyBytes().SetNillableDailyBytes(*c.DailyBytes)
	}
	return u
}

// setSince sets a timestamp column to the time, by the database clock, at which a condition became true, or
// clears it. A time that is already set stays.
func setSince(u *ent.AccountUpdateOne, field string, so *bool) {
	if so == nil {
		return
	}
	u.Modify(func(b *entsql.UpdateBuilder) {
		if *so {
			b.Set(field, entsql.ExprFunc(func(e *entsql.Builder) {
				e.WriteString("coalesce(").Ident(field).
					WriteString(", now())")
			}))
		} else {
			b.SetNull(field)
		}
	})
}
