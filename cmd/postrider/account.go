package main

import (
	"cmp"
	"errors"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/runtime/base/setting"
)

type accountCommand struct {
	Create accountCreateCommand `cmd:"" help:"Make an account; print it as JSON."`
	List   accountListCommand   `cmd:"" help:"Print all accounts as JSON, by email."`
	Show   accountShowCommand   `cmd:"" help:"Print an account and what it has sent of its caps, as JSON."`
	Update accountUpdateCommand `cmd:"" help:"Change an account; print it as JSON. Services follow within five seconds."`
}

type accountCreateCommand struct {
	moneySettings

	Email              string `help:"Address of the account and of its owner." placeholder:"ADDRESS" required:""`
	Name               string `help:"Name of the account."                     placeholder:"NAME"    required:""`
	Plan               string `help:"free, pro, scale, pool, dedicated, or a plan of your own. Else POSTRIDER_DEFAULT_PLAN." placeholder:"PLAN"`
	ProductionUnlocked bool   `help:"On the free plan: may send to anyone from a verified domain."`
	Unmetered          bool   `help:"No plan caps and no rate limit."`
}

func (c *accountCreateCommand) account(cfg setting.Values) accounts.NewAccount {
	return accounts.NewAccount{Name: c.Name, Email: c.Email, Plan: cmp.Or(c.Plan, billing.DefaultPlan(cfg)), ProductionUnlocked: c.ProductionUnlocked, Unmetered: c.Unmetered}
}

func (c *accountCreateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withAccounts(s.ctx, cfg, func(service *accounts.Service) error {
		made, err := service.CreateAccount(s.ctx, c.account(cfg))
		if err != nil {
			return err
		}
		return s.print(accountMade(made))
	})
}

func accountMade(made *ent.Account) any {
	type account struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
		Plan  string `json:"plan"`
	}
	return map[string]account{"account": {made.ID, made.Name, made.Email, made.PlanID}}
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
		return s.print(map[string][]shown.Account{"accounts": shown.List(all, shown.AccountOf)})
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
	MonthlyLimit    *int    `help:"Emails a month that the account allows itself; 0 takes the limit away."                        placeholder:"EMAILS"`
	StoredBytes     **int   `help:"Cap of stored bytes in place of the plan's; none for the plan's."                        placeholder:"NUMBER"`
	DailyBytes      **int   `help:"Cap of bytes stored in a day in place of the plan's; none for the plan's."               placeholder:"NUMBER"`
	RecordRetention *int    `help:"Days after which whole emails are deleted."                                                    placeholder:"DAYS"`
}

func (c *accountUpdateCommand) change() accounts.AccountChange {
	var limit **int
	if c.MonthlyLimit != nil {
		limit = &c.MonthlyLimit
		if *c.MonthlyLimit == 0 {
			limit = new((*int)(nil))
		}
	}
	return accounts.AccountChange{MonthlyLimit: limit, StoredBytes: c.StoredBytes, DailyBytes: c.DailyBytes, Name: c.Name, Plan: c.Plan, PaymentMethod: c.PaymentMethod, ProductionUnlocked: c.Unlock, Suspended: c.Suspend,
		BodyRetentionDays: c.BodyRetention, RecordRetentionDays: c.RecordRetention}
}

func (c *accountUpdateCommand) Validate() error {
	if c.change().Empty() {
		return errors.New("nothing to update: give at least one of --name, --plan, --payment-method, --unlock, --suspend, --monthly-limit, --stored-bytes, --daily-bytes, --body-retention and --record-retention")
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

// printAccount prints an account with its usage.
func (s *session) printAccount(service *accounts.Service, a *ent.Account) error {
	used, err := service.Usage(s.ctx, a.ID)
	if err != nil {
		return err
	}
	view := shown.AccountOf(a)
	view.Usage = shown.UsageOf(used)
	return s.print(map[string]shown.Account{"account": view})
}
