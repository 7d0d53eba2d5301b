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
	Create accountCreateCommand `cmd:"" help:"Create an account and print it as JSON."`
	List   accountListCommand   `cmd:"" help:"List all accounts as JSON, ordered by email."`
	Show   accountShowCommand   `cmd:"" help:"Show an account and its usage as JSON."`
	Update accountUpdateCommand `cmd:"" help:"Update an account and print it as JSON. Takes effect within 5 seconds."`
	Export accountExportCommand `cmd:"" help:"Write an account with its settings and history to a file."`
	Import accountImportCommand `cmd:"" help:"Create the account of a file that account export wrote, and print what it contains as JSON."`
	Move   accountMoveCommand   `cmd:"" help:"Move an account to another installation while clients use it."`
	Finish accountFinishCommand `cmd:"" name:"finish-move" help:"End an account that was exported with --move, and print the move code as JSON."`
	Cancel accountCancelCommand `cmd:"" name:"cancel-move" help:"Resume an account that was exported with --move."`
	Start  accountStartCommand  `cmd:"" name:"start-move" help:"Start the imported copy of an account whose move has finished at the source."`
}

type accountCreateCommand struct {
	moneySettings

	Email              string `help:"Email address of the account and of its owner." placeholder:"ADDRESS" required:""`
	Name               string `help:"Name of the account." placeholder:"NAME" required:""`
	Plan               string `help:"Plan of the account (default: POSTRIDER_DEFAULT_PLAN)." placeholder:"PLAN"`
	ProductionUnlocked bool   `help:"On the free plan: allow any recipient from a verified domain."`
	Unmetered          bool   `help:"Do not apply the caps and rate limits of the plan."`
}

func (c *accountCreateCommand) newAccount(cfg setting.Values) accounts.NewAccount {
	return accounts.NewAccount{Name: c.Name, Email: c.Email, Plan: cmp.Or(c.Plan, billing.DefaultPlan(cfg)),
		ProductionUnlocked: c.ProductionUnlocked, Unmetered: c.Unmetered}
}

func (c *accountCreateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, cfg, func(of services) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		made, err := service.CreateAccount(s.ctx, c.newAccount(cfg))
		if err != nil {
			return err
		}
		return s.print(createdAccount(made))
	})
}

func createdAccount(made *ent.Account) any {
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
	return c.withAccounts(s, func(service *accounts.Service) error {
		all, err := service.Accounts(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Account{"accounts": shown.List(all, shown.AccountOf)})
	})
}

type accountShowCommand struct {
	toolSettings

	Account string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
}

func (c *accountShowCommand) Run(s *session) error {
	return c.withAccounts(s, func(service *accounts.Service) error {
		found, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		return s.printAccount(service, found)
	})
}

type accountUpdateCommand struct {
	toolSettings

	Account         string  `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
	Name            *string `help:"Name of the account." placeholder:"NAME"`
	Plan            *string `help:"free, pro, scale, pool, dedicated, or a custom plan." placeholder:"PLAN"`
	PaymentMethod   *bool   `help:"Whether a payment method is on file (free plan: unlocks production)." negatable:""`
	Unlock          *bool   `help:"Unlock production on the free plan; --no-unlock reverts it." negatable:""`
	Suspend         *bool   `help:"Suspend the account: its mail waits until --resume." negatable:"resume"`
	BodyRetention   *int    `help:"Days until bodies and attachments are deleted." placeholder:"DAYS"`
	MonthlyLimit    *int    `help:"Monthly email limit that the account sets for itself; 0 removes it." placeholder:"EMAILS"`
	StoredBytes     **int   `help:"Cap on stored bytes that overrides the plan's, or none to use the plan's." placeholder:"NUMBER"`
	DailyBytes      **int   `help:"Cap on bytes stored per day that overrides the plan's, or none to use the plan's." placeholder:"NUMBER"`
	RecordRetention *int    `help:"Days until emails are deleted." placeholder:"DAYS"`
}

func (c *accountUpdateCommand) accountChange() accounts.AccountChange {
	var limit **int
	if c.MonthlyLimit != nil {
		limit = &c.MonthlyLimit
		if *c.MonthlyLimit == 0 {
			limit = new((*int)(nil))
		}
	}
	return accounts.AccountChange{MonthlyLimit: limit, StoredBytes: c.StoredBytes, DailyBytes: c.DailyBytes,
		Name: c.Name, Plan: c.Plan, PaymentMethod: c.PaymentMethod, ProductionUnlocked: c.Unlock, Suspended: c.Suspend,
		BodyRetentionDays: c.BodyRetention, RecordRetentionDays: c.RecordRetention}
}

func (c *accountUpdateCommand) Validate() error {
	if c.accountChange().IsEmpty() {
		return errors.New("no fields to update: set at least one of --name, --plan, --payment-method, --unlock, --suspend, " +
			"--monthly-limit, --stored-bytes, --daily-bytes, --body-retention and --record-retention")
	}
	return nil
}

func (c *accountUpdateCommand) Run(s *session) error {
	return c.withAccounts(s, func(service *accounts.Service) error {
		found, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		if found, err = service.UpdateAccount(s.ctx, found.ID, c.accountChange()); err != nil {
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
