package assembly

import (
	"context"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/config"
)

// AccountView is an account as `postrider account` prints it.
type AccountView struct {
	ID                  string        `json:"id"`
	Name                string        `json:"name"`
	Email               string        `json:"email"`
	Plan                string        `json:"plan"`
	ProductionUnlocked  bool          `json:"production_unlocked"` // by the operator
	PaymentMethodAt     *time.Time    `json:"payment_method_at"`
	SuspendedAt         *time.Time    `json:"suspended_at"`
	Unmetered           bool          `json:"unmetered"`
	BodyRetentionDays   int           `json:"body_retention_days"`
	RecordRetentionDays int           `json:"record_retention_days"`
	CreatedAt           time.Time     `json:"created_at"`
	Usage               *AccountUsage `json:"usage,omitempty"` // of one account alone
}

// AccountUsage is what an account has sent of its caps; nil numbers are not
// counted, nil caps are none.
type AccountUsage struct {
	Day        *int64 `json:"day"`
	Month      *int64 `json:"month"`
	DailyCap   *int   `json:"daily_cap"`
	MonthlyCap *int   `json:"monthly_cap"`
}

// AccountChange is what `postrider account update` takes.
type AccountChange = accounts.AccountChange

func viewOf(a *ent.Account) AccountView {
	view := AccountView{ID: a.ID, Name: a.Name, Email: a.Email, Plan: a.PlanID, ProductionUnlocked: a.ProductionUnlocked,
		PaymentMethodAt: a.PaymentMethodAt, SuspendedAt: a.SuspendedAt, Unmetered: a.Unmetered,
		BodyRetentionDays: a.BodyRetentionDays, RecordRetentionDays: a.RecordRetentionDays, CreatedAt: a.CreatedAt.UTC()}
	for _, at := range []**time.Time{&view.PaymentMethodAt, &view.SuspendedAt} {
		if *at != nil {
			utc := (*at).UTC()
			*at = &utc
		}
	}
	return view
}

// ListAccounts gives all accounts by their email.
func ListAccounts(ctx context.Context, cfg config.Config) ([]AccountView, error) {
	list := []AccountView{}
	err := withAccounts(ctx, cfg, func(s *accounts.Service) error {
		all, err := s.Accounts(ctx)
		for _, a := range all {
			list = append(list, viewOf(a))
		}
		return err
	})
	return list, err
}

// ShowAccount gives the account with the email or the id, and its usage.
func ShowAccount(ctx context.Context, cfg config.Config, account string) (view AccountView, err error) {
	err = withAccounts(ctx, cfg, func(s *accounts.Service) error {
		found, err := s.Find(ctx, account)
		if err != nil {
			return err
		}
		view, err = withUsage(ctx, s, found)
		return err
	})
	return view, err
}

// UpdateAccount changes the account with the email or the id.
func UpdateAccount(ctx context.Context, cfg config.Config, account string, c AccountChange) (view AccountView, err error) {
	err = withAccounts(ctx, cfg, func(s *accounts.Service) error {
		found, err := s.Find(ctx, account)
		if err != nil {
			return err
		}
		if found, err = s.UpdateAccount(ctx, found.ID, c); err != nil {
			return err
		}
		view, err = withUsage(ctx, s, found)
		return err
	})
	return view, err
}

func withUsage(ctx context.Context, s *accounts.Service, a *ent.Account) (AccountView, error) {
	used, err := s.Usage(ctx, a.ID)
	if err != nil {
		return AccountView{}, err
	}
	view := viewOf(a)
	view.Usage = &AccountUsage{DailyCap: used.DailyCap, MonthlyCap: used.MonthlyCap}
	if used.Counted {
		view.Usage.Day, view.Usage.Month = &used.Day, &used.Month
	}
	return view, nil
}
