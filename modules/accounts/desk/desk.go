package desk

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"go.uber.org/fx"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/account"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

// Module provides *Service.
var Module = fx.Module("desk", fx.Provide(New))

// Service manages accounts and plans for the operator. It is safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *accounts.Service
	plans    *plans.Service
	cursors  *page.Codec
}

// New returns a new Service.
func New(d *db.DB, a *accounts.Service, p *plans.Service, cursors *page.Codec) *Service {
	return &Service{d, a, p, cursors}
}

// AccountStatus is the status of an account.
type AccountStatus string

// The statuses.
const (
	Active     AccountStatus = "active"
	Suspended  AccountStatus = "suspended"
	PaymentDue AccountStatus = "payment_due"
)

// Filter narrows a list of accounts. Zero fields match everything.
type Filter struct {
	Text   string // part of the email or name, or a complete id
	Plan   string
	Status AccountStatus
}

// Accounts returns one page of the installation's accounts, newest first. Error: Invalid.
func (s *Service) Accounts(ctx context.Context, f Filter, r page.Request) (page.Page[*ent.Account], error) {
	if err := fault.CheckTexts(map[string]string{"q": f.Text, "plan": f.Plan}); err != nil {
		return page.Page[*ent.Account]{}, err
	}
	return page.ReadNewest(ctx, s.cursors, page.List{Name: "operator_accounts"}, r.OrDefault(), s.buildQuery(f),
		func(a *ent.Account) string { return a.ID })
}

// Count counts the accounts that match a filter, up to the limit most.
func (s *Service) Count(ctx context.Context, f Filter, most int) (int, error) {
	found, err := s.buildQuery(f).Limit(most).IDs(ctx)
	return len(found), err
}

func (s *Service) buildQuery(f Filter) *ent.AccountQuery {
	query := s.db.Ent.Account.Query().Where(account.System(false))
	if f.Text != "" {
		query.Where(account.Or(account.EmailContainsFold(f.Text), account.NameContainsFold(f.Text), account.ID(f.Text)))
	}
	if f.Plan != "" {
		query.Where(account.PlanID(f.Plan))
	}
	switch f.Status {
	case Active:
		query.Where(account.SuspendedAtIsNil(), account.PaymentDueAtIsNil())
	case Suspended:
		query.Where(account.SuspendedAtNotNil())
	case PaymentDue:
		query.Where(account.PaymentDueAtNotNil())
	}
	return query
}

// Account is an account with its usage.
type Account struct {
	*ent.Account

	Usage accounts.Usage
}

// Account returns one account. Error: NotFound.
func (s *Service) Account(ctx context.Context, accountID string) (found Account, err error) {
	found.Account, err = s.db.Ent.Account.Query().Where(account.ID(accountID), account.System(false)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return found, fault.NoSuch("account", accountID)
	case err != nil:
		return found, fmt.Errorf("account: %w", err)
	}
	found.Usage, err = s.accounts.Usage(ctx, accountID)
	return found, err
}

// CreateAccount creates an account and its owner, on the default plan if in has none. keep runs in the transaction.
// Error: Invalid.
func (s *Service) CreateAccount(ctx context.Context, c accounts.Caller, in accounts.NewAccount,
	keep func(ctx context.Context, tx idempotency.Execer, made *ent.Account) error) (*ent.Account, error) {
	in.Plan = cmp.Or(in.Plan, s.accounts.DefaultPlan())
	return s.accounts.CreateAccountWith(ctx, in, func(tx *ent.Tx, made *ent.Account) error {
		err := writeBoth(ctx, tx, c, audit.Entry{AccountID: made.ID, Action: "operator.account_created",
			Target: made.ID, Changes: map[string]any{"name": made.Name, "email": made.Email, "plan": made.PlanID}})
		if err != nil {
			return err
		}
		return keep(ctx, tx, made)
	})
}

// writeBoth writes an entry to the logs of the account and of the installation.
func writeBoth(ctx context.Context, tx *ent.Tx, c accounts.Caller, e audit.Entry) error {
	e.Actor = audit.OperatorOf(c)
	if err := audit.Write(ctx, tx, e); err != nil || c.Operator != nil { // which wrote both
		return err
	}
	e.AccountID = ""
	return audit.Write(ctx, tx, e)
}

// UpdateAccount changes an account. Errors: NotFound, Invalid.
func (s *Service) UpdateAccount(ctx context.Context, c accounts.Caller, accountID string,
	change accounts.AccountChange) (Account, error) {
	before, err := s.Account(ctx, accountID)
	if err != nil {
		return before, err
	}
	_, err = s.accounts.UpdateAccountWith(ctx, accountID, change, func(tx *ent.Tx) error {
		after, err := tx.Account.Get(ctx, accountID)
		if err != nil {
			return err
		}
		return writeBoth(ctx, tx, c, audit.Entry{AccountID: accountID, Action: "operator.account_updated",
			Target: accountID, Changes: diffFields(accountFields(before.Account), accountFields(after))})
	})
	if err != nil {
		return Account{}, err
	}
	return s.Account(ctx, accountID)
}

// Plans lists the plans of the installation by rank.
func (s *Service) Plans(ctx context.Context) ([]accounts.Plan, error) { return s.plans.Plans(ctx) }

// Plan returns one plan. Error: NotFound.
func (s *Service) Plan(ctx context.Context, planID string) (accounts.Plan, error) {
	return s.plans.Plan(ctx, planID)
}

// UpdatePlan changes an existing plan. Errors: NotFound, Invalid.
func (s *Service) UpdatePlan(ctx context.Context, c accounts.Caller, planID string,
	change plans.PlanChange) (changed accounts.Plan, err error) {
	if _, err := s.plans.Plan(ctx, planID); err != nil {
		return changed, err
	}
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		before, after, err := s.plans.SetIn(ctx, tx, planID, change)
		if err != nil {
			return err
		}
		changed = after
		return audit.Write(ctx, tx, audit.Entry{Actor: audit.OperatorOf(c), Action: "operator.plan_updated", Target: planID,
			Changes: diffFields(planFields(before), planFields(after))})
	})
	return changed, err
}

// diffFields returns the changed fields, with both values.
func diffFields(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for field, now := range after {
		if now != before[field] {
			out[field] = map[string]any{"from": before[field], "to": now}
		}
	}
	return out
}

func accountFields(a *ent.Account) map[string]any {
	return map[string]any{"plan": a.PlanID, "production_unlocked": a.ProductionUnlocked,
		"payment_method": a.PaymentMethodAt != nil,
		"suspended":      a.SuspendedAt != nil, "payment_due": a.PaymentDueAt != nil, "monthly_limit": capValue(a.MonthlyLimit),
		"stored_bytes": capValue(a.StoredBytes), "daily_bytes": capValue(a.DailyBytes)}
}

// planFields returns the fields of a plan by their JSON names, with comparable values.
func planFields(p accounts.Plan) map[string]any {
	v, fields := reflect.ValueOf(p), map[string]any{}
	for i := range v.NumField() {
		value := v.Field(i).Interface()
		if n, isCap := value.(*int); isCap {
			value = capValue(n)
		}
		fields[v.Type().Field(i).Tag.Get("json")] = value
	}
	return fields
}

// capValue returns a comparable value: nil stays nil.
func capValue(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}
