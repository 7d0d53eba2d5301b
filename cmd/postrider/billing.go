package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing/desk"
	"github.com/postrider/postrider/runtime/base/setting"
)

type planListCommand struct{ toolSettings }

func (c *planListCommand) Run(s *session) error {
	return c.withPlans(s, func(service *plans.Service) error {
		all, err := service.Plans(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]accounts.Plan{"plans": all})
	})
}

// capType is the type of a cap, which may be none.
var capType = reflect.TypeFor[**int]()

// capMapper parses a flag with a number or none.
type capMapper struct{}

// Decode implements kong.Mapper.
func (capMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("number", &text); err != nil {
		return err
	}
	var given *int
	if text != "none" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q must be a whole number or none", text)
		}
		given = &n
	}
	target.Set(reflect.ValueOf(&given))
	return nil
}

type planSetCommand struct {
	toolSettings
	plans.PlanChange

	Plan string `arg:"" help:"free, pro, scale, pool, dedicated, or a custom name." placeholder:"PLAN"`
}

func (c *planSetCommand) Validate() error {
	if c.PlanChange.IsEmpty() {
		return errors.New("no fields to update: set at least one flag")
	}
	return c.PlanChange.Validate().Err()
}

func (c *planSetCommand) Run(s *session) error {
	return c.withPlans(s, func(service *plans.Service) error {
		changed, err := service.Set(s.ctx, c.Plan, c.PlanChange)
		if err != nil {
			return err
		}
		return s.print(map[string]accounts.Plan{"plan": changed})
	})
}

type billingCommand struct {
	Setup billingSetupCommand `cmd:"" help:"Create missing objects at the payment provider. Safe to repeat."`
	Check billingCheckCommand `cmd:"" help:"Compare plans with provider prices. Exits with code 1 if they differ."`
	Sync  billingSyncCommand  `cmd:"" help:"Update an account from the payment provider now."`
	Usage billingUsageCommand `cmd:"" help:"Print waiting, failed and overdue billing work as JSON."`
}

// moneySettings are the settings of commands that need to know which customers pay.
type moneySettings struct {
	settingFlags `settings:"tool,POSTRIDER_STRIPE_KEY,POSTRIDER_STRIPE_URL,POSTRIDER_BASE_URL,POSTRIDER_DEFAULT_PLAN"`

	Verbose bool `help:"Write log lines to stderr." name:"verbose"`
}

func (m moneySettings) load() (setting.Values, error) {
	cfg, err := m.settingFlags.load()
	return silenceLogs(cfg, m.Verbose), err
}

type billingSetupCommand struct {
	moneySettings

	Prices string `help:"YAML file with the prices of plans (example: docs/billing.md)." placeholder:"FILE" required:"" type:"existingfile"`
}

func (c *billingSetupCommand) Run(s *session) error {
	content, err := os.ReadFile(c.Prices)
	if err != nil {
		return err
	}
	prices, err := desk.ReadPrices(content)
	if err != nil {
		return err
	}
	return c.withBilling(s, func(_ services, d *desk.Service) error {
		done, err := d.Setup(s.ctx, prices)
		for _, made := range done.Made {
			fmt.Fprintln(s.log, "created", made)
		}
		if err != nil {
			return err
		}
		if done.Secret != "" {
			fmt.Fprintln(s.log,
				"Set POSTRIDER_STRIPE_WEBHOOK_SECRET to the secret of the webhook endpoint; it will not be shown again.")
		}
		return s.print(shown.SetupOf(done))
	})
}

type billingCheckCommand struct{ moneySettings }

func (c *billingCheckCommand) Run(s *session) error {
	return c.withBilling(s, func(_ services, d *desk.Service) error {
		found, err := d.Check(s.ctx)
		if err != nil {
			return err
		}
		if err := s.print(shown.FindingsOf(found)); err != nil {
			return err
		}
		if len(found) > 0 {
			return exitError(1)
		}
		return nil
	})
}

type billingSyncCommand struct {
	moneySettings

	Account string `arg:"" help:"Email or ID of the account." placeholder:"EMAIL"`
}

func (c *billingSyncCommand) Run(s *session) error {
	return c.withBilling(s, func(of services, d *desk.Service) error {
		service, err := of.accounts()
		if err != nil {
			return err
		}
		found, err := service.Find(s.ctx, c.Account)
		if err != nil {
			return err
		}
		return d.Sync(s.ctx, found.ID)
	})
}

type billingUsageCommand struct{ moneySettings }

func (c *billingUsageCommand) Run(s *session) error {
	return c.withBilling(s, func(_ services, d *desk.Service) error {
		state, err := d.State(s.ctx)
		if err != nil {
			return err
		}
		return s.print(shown.BillingOf(state))
	})
}
