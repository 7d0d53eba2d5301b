package main

import (
	"cmp"
	"fmt"

	"github.com/postrider/postrider/modules/outbound"
)

type outboundCommand struct {
	TLSReport tlsReportCommand `cmd:"" help:"Print how TLS went with receiving domains on a day: for each a report in the form of RFC 8460." name:"tls-report"`
}

type tlsReportCommand struct {
	toolSettings

	Day          string `help:"UTC day, as 2026-11-22 (yesterday)."                  placeholder:"DAY"`
	Domain       string `help:"Receiving domain (all)."                              placeholder:"NAME"`
	Organization string `help:"Who reports (the machine's name)."                    placeholder:"NAME"`
	Contact      string `help:"Address for questions (postmaster@ and who reports)." placeholder:"ADDRESS"`
}

func (c *tlsReportCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	q := outbound.TLSReportQuery{Day: c.Day, Domain: c.Domain, Organization: cmp.Or(c.Organization, s.machine, "localhost")}
	q.Contact = cmp.Or(c.Contact, "postmaster@"+q.Organization)
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error {
		reports, err := service.TLSReports(s.ctx, q)
		if err != nil {
			return err
		}
		for _, report := range reports {
			if err := s.print(report); err != nil {
				return fmt.Errorf("print: %w", err)
			}
		}
		return nil
	})
}
