package main

import (
	"errors"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
)

type accountCommand struct {
	Create accountCreateCommand `cmd:"" help:"Make an account; print it as JSON."`
	List   accountListCommand   `cmd:"" help:"Print all accounts as JSON, by email."`
	Show   accountShowCommand   `cmd:"" help:"Print an account and what it has sent of its caps, as JSON."`
	Update accountUpdateCommand `cmd:"" help:"Change an account; print it as JSON. Services follow within five seconds."`
}

type accountCreateCommand struct {
	toolSettings

	Email              string `help:"Address of the account and of its owner." placeholder:"ADDRESS" required:""`
	Name               string `help:"Name of the account."                     placeholder:"NAME"    required:""`
	Plan               string `default:"free" help:"free, pro, scale, pool or dedicated."`
	ProductionUnlocked bool   `help:"On the free plan: may send to anyone from a verified domain."`
	Unmetered          bool   `help:"No plan caps and no rate limit."`
}

func (c *accountCreateCommand) account() accounts.NewAccount {
	return accounts.NewAccount{Name: c.Name, Email: c.Email, Plan: c.Plan, ProductionUnlocked: c.ProductionUnlocked, Unmetered: c.Unmetered}
}

func (c *accountCreateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		made, err := service.CreateAccount(s.ctx, c.account())
		if err != nil {
			return err
		}
		return s.print(accountMade(made.ID, c))
	})
}

func accountMade(id string, c *accountCreateCommand) any {
	type account struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
		Plan  string `json:"plan"`
	}
	return map[string]account{"account": {id, c.Name, c.Email, c.Plan}}
}

type accountListCommand struct{ toolSettings }

func (c *accountListCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		all, err := service.Accounts(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]accountView{"accounts": listed(all, viewOf)})
	})
}

type accountShowCommand struct {
	toolSettings

	Account string `arg:"" help:"Its email or its id." placeholder:"EMAIL"`
}

func (c *accountShowCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		found, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		return s.printAccount(service, found)
	})
}

type accountUpdateCommand struct {
	toolSettings

	Account         string  `arg:""     help:"Its email or its id."                                                               placeholder:"EMAIL"`
	Name            *string `help:"Name of the account."                                                                          placeholder:"NAME"`
	Plan            *string `help:"free, pro, scale, pool, dedicated, or a plan of your own."                                     placeholder:"PLAN"`
	PaymentMethod   *bool   `help:"Whether a payment method is on file: with a verified domain it unlocks production on the free plan." negatable:""`
	Unlock          *bool   `help:"Unlock production on the free plan whatever is on file, or take that back."                    negatable:""`
	Suspend         *bool   `help:"Suspend the account: it can do everything but send, and its mail waits. --resume ends that."   negatable:"resume"`
	BodyRetention   *int    `help:"Days after which bodies and attachments are deleted."                                          placeholder:"DAYS"`
	RecordRetention *int    `help:"Days after which whole emails are deleted."                                                    placeholder:"DAYS"`
}

func (c *accountUpdateCommand) change() accounts.AccountChange {
	return accounts.AccountChange{Name: c.Name, Plan: c.Plan, PaymentMethod: c.PaymentMethod, ProductionUnlocked: c.Unlock, Suspended: c.Suspend,
		BodyRetentionDays: c.BodyRetention, RecordRetentionDays: c.RecordRetention}
}

var errNothingToUpdate = errors.New("nothing to update: give at least one of --name, --plan, --payment-method, --unlock, --suspend, --body-retention and --record-retention")

func (c *accountUpdateCommand) Validate() error {
	if c.change().Empty() {
		return errNothingToUpdate
	}
	return nil
}

func (c *accountUpdateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		found, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		if found, err = service.UpdateAccount(s.ctx, found.ID, c.change()); err != nil {
			return err
		}
		return s.printAccount(service, found)
	})
}

// accountView is an account as these commands print it.
type accountView struct {
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
	Usage               *accountUsage `json:"usage,omitempty"` // of one account alone
}

// accountUsage is what an account has sent of its caps; nil caps are none.
type accountUsage struct {
	Day        int64 `json:"day"`
	Month      int64 `json:"month"`
	DailyCap   *int  `json:"daily_cap"`
	MonthlyCap *int  `json:"monthly_cap"`
}

func viewOf(a *ent.Account) accountView {
	view := accountView{ID: a.ID, Name: a.Name, Email: a.Email, Plan: a.PlanID, ProductionUnlocked: a.ProductionUnlocked,
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

// printAccount prints an account with its usage.
func (s *session) printAccount(service *accounts.Service, a *ent.Account) error {
	used, err := service.Usage(s.ctx, a.ID)
	if err != nil {
		return err
	}
	view := viewOf(a)
	view.Usage = &accountUsage{Day: used.Day, Month: used.Month, DailyCap: used.DailyCap, MonthlyCap: used.MonthlyCap}
	return s.print(map[string]accountView{"account": view})
}
