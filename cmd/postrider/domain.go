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
	Check domainCheckCommand `cmd:"" help:"Check the DNS records of a domain as verification does, and suggest fixes."`
}

type domainCheckCommand struct {
	settingFlags `settings:"tool,POSTRIDER_DNS,POSTRIDER_BASE_URL,POSTRIDER_RETURN_PATH_HOST,POSTRIDER_SPF_INCLUDE,POSTRIDER_SMTP_HOST,POSTRIDER_MASTER_KEY"`

	Verbose  bool   `help:"Write log lines to stderr." name:"verbose"`
	Account  string `help:"Account of the domain, if several accounts have added it." placeholder:"acc_…"`
	Selector string `help:"DKIM selector to look up, if no database is used." placeholder:"NAME"`
	DNSOnly  bool   `help:"Do not use a database: skips ownership and keys." name:"dns-only"`
	Name     string `arg:"" help:"Domain name."`
}

var errDomainWrong = errors.New("DNS records are missing or wrong")

func (c *domainCheckCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	columns, sound, err := c.check(s.ctx, silenceLogs(cfg, c.Verbose))
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

// check looks up the records of the domain. It returns a table, and reports whether every record that
// verification requires was found. With a database, it expects the values stored for the domain; without one,
// it checks what DNS alone can show.
func (c *domainCheckCommand) check(ctx context.Context, cfg setting.Values) (columns string, sound bool, err error) {
	inspection := domains.Inspection{Config: domains.ConfigOf(cfg), Name: c.Name, Selector: c.Selector,
		AccountID: c.Account}
	if inspection.Resolver, err = dnsx.New(dnsx.Config{Server: config.DNSServer.Get(cfg),
		Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return "", false, err
	}
	var seen []dnscheck.Inspected
	var notes []string
	if c.DNSOnly || config.IsEmbedded(cfg) && !store.HoldsData(config.DataDir.Get(cfg)) {
		notes = append(notes, "No database: ownership and keys were not checked.")
		seen, err = domains.Inspect(ctx, inspection)
	} else {
		sealed := store.HasKeys(cfg)
		err = withServices(ctx, cfg, func(of services) error {
			inspection.DB = of.store.DB
			if inspection.Box = of.store.Box; !sealed {
				inspection.Box = nil
				notes = append(notes,
					"No POSTRIDER_MASTER_KEY: keys were compared with their records, but no sample was signed.")
			}
			seen, err = domains.Inspect(ctx, inspection)
			return err
		})
	}
	if err != nil {
		return "", false, err
	}
	if strings.HasSuffix(config.ReturnPathHost.Get(cfg), ".test") { // reserved by RFC 2606
		notes = append(notes,
			"The expected names are those of development mode. Set POSTRIDER_BASE_URL as for the service.")
	}
	return table.Domain(seen, notes)
}
