package accounts

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Usage is the number of emails that an account has sent. With caps, it also includes scheduled emails, on
// the day they are due.
type Usage struct {
	Day, Month           int64 // emails
	DailyCap, MonthlyCap *int  // nil if unlimited
	DayEnds, MonthEnds   time.Time

	// Bytes stored in total and today, up to a few seconds ago; nil if no quota applies.
	StoredBytes, DailyBytes       *int64
	StoredBytesCap, DailyBytesCap *int // nil if unlimited
}

// Profile is an account as its owner sees it, never from the cache.
type Profile struct {
	Account

	CreatedAt time.Time
	UpdatedAt time.Time
	Usage     Usage
}

// Profile returns an account and its usage. For a test tenant, both are those of test mode.
func (s *Service) Profile(ctx context.Context, accountID string) (Profile, error) {
	row, err := s.accountRow(ctx, id.HomeAccount(accountID))
	if err != nil {
		return Profile{}, err
	}
	found := Profile{Account: tenantOf(accountOf(row), accountID), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}
	found.Usage, err = s.usageOf(ctx, found.Account)
	return found, err
}

// Usage returns the usage of an account.
func (s *Service) Usage(ctx context.Context, accountID string) (Usage, error) {
	account, err := s.Account(ctx, accountID)
	if err != nil {
		return Usage{}, err
	}
	return s.usageOf(ctx, account)
}

func (s *Service) usageOf(ctx context.Context, a Account) (Usage, error) {
	c := a.caps()
	var used periodCount
	var err error
	if c.isUnlimited() {
		used, err = s.countSent(ctx, a.ID)
	} else {
		used, err = s.readCounters(ctx, s.db.Hot, a.ID)
	}
	if err != nil {
		return Usage{}, fmt.Errorf("usage: %w", err)
	}
	usage := Usage{Day: used.day, Month: used.month, DailyCap: c.daily, MonthlyCap: c.monthly,
		DayEnds: used.dayEndsAt(), MonthEnds: used.monthEndsAt()}
	if err := s.addBytes(ctx, a, &usage); err != nil {
		return Usage{}, fmt.Errorf("usage: %w", err)
	}
	return usage, nil
}

// bytesSQL subtracts bytes that processes have reserved but not used, as they reported them (package
// storage).
const bytesSQL = `
SELECT greatest(c.stored - lent.bytes, 0), CASE WHEN c.day = ` + dayNow + ` THEN greatest(c.day_bytes - lent.bytes, 0) ELSE 0 END
  FROM storage_counters c, LATERAL (SELECT coalesce(sum(a.bytes), 0)::bigint AS bytes FROM storage_allowances a WHERE a.account_id = c.account_id) lent
 WHERE c.account_id = $1`

// addBytes adds the bytes stored by an account with a byte quota.
func (s *Service) addBytes(ctx context.Context, a Account, usage *Usage) error {
	quota := a.ByteQuota()
	if quota.IsUnlimited() {
		return nil
	}
	usage.StoredBytes, usage.DailyBytes = new(int64), new(int64)
	usage.StoredBytesCap, usage.DailyBytesCap = quota.Stored, quota.Daily
	return db.Each(ctx, s.db.Hot, func(row db.Row) error { return row.Scan(usage.StoredBytes, usage.DailyBytes) },
		bytesSQL, a.ID)
}

// Accounts lists every account of the installation with its plan, by email. Only the operator may see this
// list.
func (s *Service) Accounts(ctx context.Context) ([]*ent.Account, error) {
	rows, err := s.db.Ent.Account.Query().Where(account.System(false)).WithPlan().Order(ent.Asc(account.FieldEmail)).
		All(ctx)
	if err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	return rows, nil
}

// Find returns the account with the email or id, for the operator.
func (s *Service) Find(ctx context.Context, emailOrID string) (*ent.Account, error) {
	if id.Is(id.Account, emailOrID) {
		return s.accountRow(ctx, emailOrID)
	}
	return s.AccountByEmail(ctx, emailOrID)
}

// accountRow reads an account with its plan.
func (s *Service) accountRow(ctx context.Context, accountID string) (*ent.Account, error) {
	row, err := s.db.Ent.Account.Query().Where(account.ID(accountID)).WithPlan().Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, fault.NoSuch("account", accountID)
	case err != nil:
		return nil, fmt.Errorf("account: %w", err)
	}
	return row, nil
}

func residenceOf(row *ent.Account) (r Residence) {
	if row.MovedTo != nil {
		return Residence{MovedTo: *row.MovedTo, Forward: row.ForwardRequests}
	}
	return Residence{Frozen: row.FrozenAt != nil}
}

func accountOf(row *ent.Account) Account {
	return Account{ID: row.ID, Name: row.Name, Email: row.Email, Plan: PlanOf(row.Edges.Plan),
		ProductionUnlocked: row.ProductionUnlocked,
		PaymentMethod:      row.PaymentMethodAt != nil, Unmetered: row.Unmetered, Suspended: row.SuspendedAt != nil,
		System: row.System, Residence: residenceOf(row), SecondFactor: row.RequireSecondFactor,
		MonthlyLimit: row.MonthlyLimit, PaymentDue: row.PaymentDueAt != nil, StoredBytes: row.StoredBytes,
		DailyBytes:        row.DailyBytes,
		BodyRetentionDays: row.BodyRetentionDays, RecordRetentionDays: row.RecordRetentionDays}
}
