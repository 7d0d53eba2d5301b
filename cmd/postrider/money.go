package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/postrider/postrider/cmd/postrider/shown"
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
		return s.print(map[string][]shown.Plan{"plans": shown.List(all, shown.PlanOf)})
	})
}

// numberOrNone is a flag for a number that may be none.
type numberOrNone struct{ value *int }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *numberOrNone) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		n.value = nil
		return nil
	}
	given, err := strconv.Atoi(string(text))
	if err != nil {
		return fmt.Errorf("%q is neither a whole number nor none", text)
	}
	n.value = &given
	return nil
}

// behind gives the number for a change: nil where the flag was not given.
func (n *numberOrNone) behind() **int {
	if n == nil {
		return nil
	}
	return &n.value
}

type planSetCommand struct {
	toolSettings

	Plan              string        `arg:""     help:"free, pro, scale, pool, dedicated, or a name of your own."                          placeholder:"PLAN"`
	Name              *string       `help:"What people call it."                                                                          placeholder:"NAME"`
	RequestsPerSecond *int          `help:"API requests a second."                                                                        placeholder:"NUMBER"`
	DailyEmails       *numberOrNone `help:"Hard cap of emails a day, or none."                                                            placeholder:"NUMBER"`
	MonthlyEmails     *numberOrNone `help:"Hard cap of emails a month, or none."                                                          placeholder:"NUMBER"`
	DailySMS          *numberOrNone `help:"Hard cap of text messages a day by the provider of the installation, or none."                 name:"daily-sms"     placeholder:"NUMBER"`
	StoredBytes       *numberOrNone `help:"Hard cap of stored bytes, or none."                                                            placeholder:"NUMBER"`
	DailyBytes        *numberOrNone `help:"Hard cap of bytes stored in a day (UTC), or none."                                             placeholder:"NUMBER"`
	IncludedEmails    *numberOrNone `help:"Emails a month that the price includes, or none."                                              placeholder:"NUMBER"`
	Overage           *bool         `help:"Whether emails beyond the included ones are sent, and metered."                                negatable:""`
	MaxDomains        *int          `help:"Sending domains."                                                                              placeholder:"NUMBER"`
	Sandboxed         *bool         `help:"Whether accounts write only to themselves until they have a verified domain and a payment method." negatable:""`
	Rank              *int          `help:"Changes to a plan of a greater rank hold at once, others at the end of the period."            placeholder:"NUMBER"`
	SelfService       *bool         `help:"Whether customers may choose it."                                                              negatable:""`
}

func (c *planSetCommand) change() plans.Change {
	return plans.Change{Name: c.Name, RequestsPerSecond: c.RequestsPerSecond, DailyEmails: c.DailyEmails.behind(), MonthlyEmails: c.MonthlyEmails.behind(),
		DailySMS: c.DailySMS.behind(), StoredBytes: c.StoredBytes.behind(), DailyBytes: c.DailyBytes.behind(), IncludedEmails: c.IncludedEmails.behind(), Overage: c.Overage, MaxDomains: c.MaxDomains, Sandboxed: c.Sandboxed,
		Rank: c.Rank, SelfService: c.SelfService}
}

func (c *planSetCommand) Validate() error {
	if c.change().Empty() {
		return errors.New("nothing to set: give at least one flag")
	}
	return c.change().Validate().Err()
}

func (c *planSetCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withPlans(s.ctx, cfg, func(service *plans.Service) error {
		changed, err := service.Set(s.ctx, c.Plan, c.change())
		if err != nil {
			return err
		}
		return s.print(map[string]shown.Plan{"plan": shown.PlanOf(changed)})
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
