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
	Set    smarthostSetCommand    `cmd:"" help:"Send the mail of an account, or of one of its domains, through a server of its own; print it as JSON, without the password."`
	List   smarthostListCommand   `cmd:"" help:"Print the smarthosts as JSON, without passwords."`
	Remove smarthostRemoveCommand `cmd:"" help:"Delete a smarthost."`
}

type smarthostSetCommand struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY"`

	Account       string `help:"Whose mail: email or id." placeholder:"acc_…" required:""`
	Domain        string `help:"Name or id of one of its domains (all its mail)." placeholder:"NAME"`
	URL           string `help:"smtp://user@host:587, smtps://user@host:465; ?verify=off at its end accepts any certificate. user:password@ works too, and stays in the history of your shell." name:"url" placeholder:"URL" required:""`
	Password      string `env:"POSTRIDER_SMARTHOST_PASSWORD" help:"Password of the user. Rather set it in the environment, or use --password-stdin, than on the command line." placeholder:"TEXT"`
	PasswordStdin bool   `help:"Read the password from the first line of the standard input." name:"password-stdin"`
	Use           string `default:"always" enum:"always,fallback" help:"always; or fallback: after a direct attempt that was refused because of who connects, or that reached nobody."`
}

var (
	errTwoPasswords = errors.New("--password-stdin and --password (POSTRIDER_SMARTHOST_PASSWORD): give one of them")
	errNoPassword   = errors.New("--password-stdin: the standard input has no password")
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
	in := outbound.SmarthostInput{Account: c.Account, Domain: c.Domain, Use: c.Use, URL: secret.New(c.URL), Password: secret.New(c.Password)}
	// Before the database is touched; and a password that nothing else can open is
	// worth nothing.
	if err := in.Validate(); err != nil {
		return err
	}
	if !store.HasKeys(cfg) {
		return setting.Mistakes{{Setting: "POSTRIDER_MASTER_KEY", Problem: "is required: the service's own, which seals passwords"}}
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error {
		stored, err := service.SetSmarthost(s.ctx, in)
		if err != nil {
			return err
		}
		return s.print(map[string]shown.Smarthost{"smarthost": shown.SmarthostOf(stored)})
	})
}

type smarthostListCommand struct {
	toolSettings

	Account string `help:"Whose: email or id (all)." placeholder:"acc_…"`
}

func (c *smarthostListCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error {
		all, err := service.Smarthosts(s.ctx, c.Account)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Smarthost{"smarthosts": shown.List(all, shown.SmarthostOf)})
	})
}

type smarthostRemoveCommand struct {
	toolSettings

	ID string `arg:"" help:"Its id." placeholder:"smh_…"`
}

func (c *smarthostRemoveCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error { return service.RemoveSmarthost(s.ctx, c.ID) })
}
