package main

import (
	"bufio"
	"errors"
	"os"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/store"
)

type smarthostCommand struct {
	Set    smarthostSetCommand    `cmd:"" help:"Send the mail of an account or domain through a smarthost. Prints JSON."`
	List   smarthostListCommand   `cmd:"" help:"List smarthosts as JSON, without passwords."`
	Remove smarthostRemoveCommand `cmd:"" help:"Delete a smarthost."`
}

type smarthostSetCommand struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY"`

	Account       string `help:"Account, by email or ID." placeholder:"acc_…" required:""`
	Domain        string `help:"Name or ID of a domain of the account (default: all)." placeholder:"NAME"`
	URL           string `help:"smtp://user@host:587 or smtps://user@host:465; ?verify=off skips TLS checks." name:"url" placeholder:"URL" required:""`
	Password      string `env:"POSTRIDER_SMARTHOST_PASSWORD" help:"Password of the user. Prefer the environment or --password-stdin." placeholder:"TEXT"`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." name:"password-stdin"`
	Use           string `default:"always" enum:"always,fallback" help:"always, or fallback: only after a direct attempt was refused or failed."`
}

var (
	errTwoPasswords = errors.New("--password-stdin cannot be combined with --password (POSTRIDER_SMARTHOST_PASSWORD)")
	errNoPassword   = errors.New("--password-stdin: standard input contains no password")
)

func (c *smarthostSetCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if c.PasswordStdin {
		if c.Password != "" {
			return errTwoPasswords
		}
		line, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if c.Password = strings.TrimRight(line, "\r\n"); c.Password == "" {
			return errors.Join(errNoPassword, err)
		}
	}
	in := outbound.SmarthostInput{Account: c.Account, Domain: c.Domain, Use: c.Use, URL: secret.New(c.URL),
		Password: secret.New(c.Password)}
	// Check the input before the database is used. Require the master key, because the service cannot decrypt the
	// password without it.
	if err := in.Validate(); err != nil {
		return err
	}
	if !store.HasKeys(cfg) {
		return setting.Mistakes{{Setting: "POSTRIDER_MASTER_KEY",
			Problem: "is required: set it to the key of the service, which encrypts passwords"}}
	}
	return withServices(s.ctx, cfg, func(of services) error {
		service, err := of.outbound()
		if err != nil {
			return err
		}
		stored, err := service.SetSmarthost(s.ctx, in)
		if err != nil {
			return err
		}
		return s.print(map[string]shown.Smarthost{"smarthost": shown.SmarthostOf(stored)})
	})
}

type smarthostListCommand struct {
	toolSettings

	Account string `help:"Only this account, by email or ID." placeholder:"acc_…"`
}

func (c *smarthostListCommand) Run(s *session) error {
	return c.withOutbound(s, func(service *outbound.Service) error {
		all, err := service.Smarthosts(s.ctx, c.Account)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Smarthost{"smarthosts": shown.List(all, shown.SmarthostOf)})
	})
}

type smarthostRemoveCommand struct {
	toolSettings

	ID string `arg:"" help:"ID of the smarthost." placeholder:"smh_…"`
}

func (c *smarthostRemoveCommand) Run(s *session) error {
	return c.withOutbound(s,
		func(service *outbound.Service) error { return service.RemoveSmarthost(s.ctx, c.ID) })
}
