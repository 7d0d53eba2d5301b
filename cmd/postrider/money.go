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
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withPlans(s.ctx, cfg, func(service *plans.Service) error {
		all, err := service.Plans(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]accounts.Plan{"plans": all})
	})
}

// capType is a number that may be none.
var capType = reflect.TypeFor[**int]()

// capMapper reads a flag for a number that may be none.
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
			return fmt.Errorf("%q is neither a whole number nor none", text)
		}
		given = &n
	}
	target.Set(reflect.ValueOf(&given))
	return nil
}

type planSetCommand struct {
	toolSettings
	plans.Change

	Plan string `arg:"" help:"free, pro, scale, pool, dedicated, or a name of your own." placeholder:"PLAN"`
}

func (c *planSetCommand) Validate() error {
	if c.Change.Empty() {
		return errors.New("nothing to set: give at least one flag")
	}
	return c.Change.Validate().Err()
}

func (c *planSetCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withPlans(s.ctx, cfg, func(service *plans.Service) error {
		changed, err := service.Set(s.ctx, c.Plan, c.Change)
		if err != nil {
			return err
		}
		return s.print(map[string]accounts.Plan{"plan": changed})
	})
}

type billingCommand struct {
	Setup billingSetupCommand `cmd:"" help:"Make what is missing at the payment provider: meter, products, prices, portal, webhook endpoint, whose secret is printed once. Safe to repeat."`
	Check billingCheckCommand `cmd:"" help:"Compare plans here with prices at the payment provider. Exit code 1: something is missing or differs."`
	Sync  billingSyncCommand  `cmd:"" help:"Have the payment provider asked about an account now."`
	Usage billingUsageCommand `cmd:"" help:"Print what waits, fails or is overdue, and usage that was not told to the payment provider, as JSON."`
}

// moneySettings are of commands that have to know who pays.
type moneySettings struct {
	settingFlags `settings:"tool,POSTRIDER_STRIPE_KEY,POSTRIDER_STRIPE_URL,POSTRIDER_BASE_URL,POSTRIDER_DEFAULT_PLAN"`

	Verbose bool `help:"Write log lines to stderr." name:"verbose"`
}

func (m moneySettings) load() (setting.Values, error) {
	cfg, err := m.settingFlags.load()
	return hushed(cfg, m.Verbose), err
}

type billingSetupCommand struct {
	moneySettings

	Prices string `help:"YAML file with what plans cost: docs/billing.md has one." placeholder:"FILE" required:"" type:"existingfile"`
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
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withBilling(s.ctx, cfg, func(_ services, d *desk.Service) error {
		done, err := d.Setup(s.ctx, prices)
		for _, made := range done.Made {
			fmt.Fprintln(s.log, "made", made)
		}
		if err != nil {
			return err
		}
		if done.Secret != "" {
			fmt.Fprintln(s.log, "Set POSTRIDER_STRIPE_WEBHOOK_SECRET to the secret of the webhook endpoint; it is not shown again.")
		}
		return s.print(shown.SetupOf(done))
	})
}

type billingCheckCommand struct{ moneySettings }

func (c *billingCheckCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withBilling(s.ctx, cfg, func(_ services, d *desk.Service) error {
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

	Account string `arg:"" help:"Its email or its id." placeholder:"EMAIL"`
}

func (c *billingSyncCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withBilling(s.ctx, cfg, func(of services, d *desk.Service) error {
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
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withBilling(s.ctx, cfg, func(_ services, d *desk.Service) error {
		state, err := d.State(s.ctx)
		if err != nil {
			return err
		}
		return s.print(shown.BillingOf(state))
	})
}
