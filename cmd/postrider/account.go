package main

import (
	"errors"

	runtime "github.com/postrider/postrider/runtime/assembly"
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

func (c *accountCreateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	id, err := s.assembly.createAccount(s, cfg, c)
	if err != nil {
		return err
	}
	type account struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
		Plan  string `json:"plan"`
	}
	return s.print(map[string]account{"account": {id, c.Name, c.Email, c.Plan}})
}

type accountListCommand struct{ toolSettings }

func (c *accountListCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	all, err := s.assembly.listAccounts(s, cfg)
	if err != nil {
		return err
	}
	return s.print(map[string][]runtime.AccountView{"accounts": all})
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
	found, err := s.assembly.showAccount(s, cfg, c.Account)
	if err != nil {
		return err
	}
	return s.print(map[string]runtime.AccountView{"account": found})
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

func (c *accountUpdateCommand) change() runtime.AccountChange {
	return runtime.AccountChange{Name: c.Name, Plan: c.Plan, PaymentMethod: c.PaymentMethod, ProductionUnlocked: c.Unlock, Suspended: c.Suspend,
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
	changed, err := s.assembly.updateAccount(s, cfg, c.Account, c.change())
	if err != nil {
		return err
	}
	return s.print(map[string]runtime.AccountView{"account": changed})
}
