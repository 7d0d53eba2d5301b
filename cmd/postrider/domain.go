package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/store"
)

type domainCommand struct {
	Check domainCheckCommand `cmd:"" help:"Look up a domain's DNS records as verification does; print what is wrong and what to do. Exit code 0: all good."`
}

type domainCheckCommand struct {
	toolSettings

	DNS            string `env:"POSTRIDER_DNS"              help:"Resolver to ask (the system's)."                                            name:"dns"              placeholder:"IP:PORT"`
	BaseURL        string `env:"POSTRIDER_BASE_URL"         help:"The public URL, whose host the names below lie under."                      name:"base-url"         placeholder:"URL"`
	ReturnPathHost string `env:"POSTRIDER_RETURN_PATH_HOST" help:"Target of the return path CNAME (rp. under the base URL's host)."           name:"return-path-host" placeholder:"NAME"`
	SPFInclude     string `env:"POSTRIDER_SPF_INCLUDE"      help:"Name that SPF records include (spf. under the base URL's host)."            name:"spf-include"      placeholder:"NAME"`
	MasterKey      string `env:"POSTRIDER_MASTER_KEY"       help:"With a database: opens the DKIM keys, so that a sample is signed and verified with each record." name:"master-key" placeholder:"KEY,..."`
	SMTPHost       string `env:"POSTRIDER_SMTP_HOST"        help:"Name that MX records point to (smtp. under the base URL's host)."           name:"smtp-host"        placeholder:"NAME"`
	Account        string `help:"Whose domain it is, when several accounts have added it (the one that has it verified)." placeholder:"acc_…"`
	Selector       string `help:"Without a database: the DKIM selector to look at."                   placeholder:"NAME"`
	DNSOnly        bool   `help:"Ask no database, even if there is one: without ownership and keys."  name:"dns-only"`
	Name           string `arg:"" help:"The domain name."`
}

var errDomainWrong = errors.New("DNS records are missing or wrong")

func (c *domainCheckCommand) Run(s *session) error {
	cfg, err := config.Load(config.Tool, config.Settings{StoreSettings: c.StoreSettings, LogSettings: c.LogSettings, DNS: c.DNS, BaseURL: c.BaseURL,
		ReturnPathHost: c.ReturnPathHost, SPFInclude: c.SPFInclude, SMTPHost: c.SMTPHost, MasterKey: c.MasterKey})
	if err != nil {
		return err
	}
	table, sound, err := c.check(s.ctx, cfg)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(s.out, table); err != nil {
		return err
	}
	if !sound {
		return errDomainWrong
	}
	return nil
}

// check looks the domain's records up and gives a table, and whether all that
// verification needs is there. With a database the domain's own values are expected;
// without one it is what DNS alone can tell.
func (c *domainCheckCommand) check(ctx context.Context, cfg config.Config) (table string, sound bool, err error) {
	inspection := domains.Inspection{Config: domains.ConfigOf(cfg), Name: c.Name, Selector: c.Selector, AccountID: c.Account}
	if inspection.Resolver, err = dnsx.New(dnsx.Config{Server: cfg.Mail.DNS, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return "", false, err
	}
	defer inspection.Resolver.Close()
	var seen []domains.Inspected
	var notes []string
	if c.DNSOnly || cfg.Database.Embedded() && !store.HoldsData(cfg.DataDir) {
		notes = append(notes, "Without a database: ownership and keys are not looked at.")
		seen, err = domains.Inspect(ctx, inspection)
	} else {
		sealed := store.FindKeys(&cfg)
		err = withServices(ctx, cfg, func(of services) error {
			inspection.DB = of.store.DB
			if inspection.Box = of.store.Box; !sealed {
				inspection.Box = nil
				notes = append(notes, "Without POSTRIDER_MASTER_KEY: keys were compared with their records, no sample was signed.")
			}
			seen, err = domains.Inspect(ctx, inspection)
			return err
		})
	}
	if err != nil {
		return "", false, err
	}
	if strings.HasSuffix(cfg.Names.ReturnPathHost, ".test") { // RFC 2606: nobody's mail goes there
		notes = append(notes, "The names expected are those of development mode: give POSTRIDER_BASE_URL as the service has it for its own.")
	}
	return domainTable(seen, notes)
}
