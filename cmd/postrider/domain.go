package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/table"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/dnscheck"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
)

type domainCommand struct {
	Check domainCheckCommand `cmd:"" help:"Look up a domain's DNS records as verification does; print what is wrong and what to do. With a database and its master key a sample is signed and verified with each DKIM record. Exit code 0: all good."`
}

type domainCheckCommand struct {
	settingFlags `settings:"tool,POSTRIDER_DNS,POSTRIDER_BASE_URL,POSTRIDER_RETURN_PATH_HOST,POSTRIDER_SPF_INCLUDE,POSTRIDER_SMTP_HOST,POSTRIDER_MASTER_KEY"`

	Verbose  bool   `help:"Write log lines to stderr." name:"verbose"`
	Account  string `help:"Whose domain it is, when several accounts have added it (the one that has it verified)." placeholder:"acc_…"`
	Selector string `help:"Without a database: the DKIM selector to look at."                   placeholder:"NAME"`
	DNSOnly  bool   `help:"Ask no database, even if there is one: without ownership and keys."  name:"dns-only"`
	Name     string `arg:"" help:"The domain name."`
}

var errDomainWrong = errors.New("DNS records are missing or wrong")

func (c *domainCheckCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	columns, sound, err := c.check(s.ctx, hushed(cfg, c.Verbose))
	if err != nil {
		return err
	}
	if _, err := io.WriteString(s.out, columns); err != nil {
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
func (c *domainCheckCommand) check(ctx context.Context, cfg setting.Values) (columns string, sound bool, err error) {
	inspection := domains.Inspection{Config: domains.ConfigOf(cfg), Name: c.Name, Selector: c.Selector, AccountID: c.Account}
	if inspection.Resolver, err = dnsx.New(dnsx.Config{Server: config.DNSServer.Of(cfg), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return "", false, err
	}
	var seen []dnscheck.Inspected
	var notes []string
	if c.DNSOnly || config.Embedded(cfg) && !store.HoldsData(config.DataDir.Of(cfg)) {
		notes = append(notes, "Without a database: ownership and keys are not looked at.")
		seen, err = domains.Inspect(ctx, inspection)
	} else {
		sealed := store.HasKeys(cfg)
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
	if strings.HasSuffix(config.ReturnPathHost.Of(cfg), ".test") { // RFC 2606: nobody's mail goes there
		notes = append(notes, "The names expected are those of development mode: give POSTRIDER_BASE_URL as the service has it for its own.")
	}
	return table.Domain(seen, notes)
}
