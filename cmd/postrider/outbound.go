package main

import (
	"cmp"
	"fmt"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/tracking/linkrules"
)

type sourceCommand struct {
	Add    sourceAddCommand    `cmd:"" help:"Add a source address of a delivering machine; print it as JSON."`
	List   sourceListCommand   `cmd:"" help:"List source addresses and their warm-up as JSON."`
	Pause  sourcePauseCommand  `cmd:"" help:"Pause sending from an address."`
	Resume sourceResumeCommand `cmd:"" help:"Resume sending from an address."`
	Move   sourceMoveCommand   `cmd:"" help:"Move an address to another process. Its warm-up continues."`
	Remove sourceRemoveCommand `cmd:"" help:"Delete an address and its counters."`
}

type sourceAddCommand struct {
	toolSettings

	Address  string `help:"IPv4 or IPv6 address of a delivering machine." placeholder:"IP" required:""`
	Node     string `help:"Process to send from (see postrider admin nodes; default: any with the address)." placeholder:"NAME"`
	Hostname string `help:"Name in the PTR record, used in EHLO. IPv4 and IPv6 may share a name." placeholder:"NAME" required:""`
	Pool     string `help:"shared (all plans), pool (plans pool, dedicated) or dedicated (one account)." placeholder:"POOL" required:""`
	Account  string `help:"With --pool=dedicated: the account, by email or ID." placeholder:"acc_…"`
	WarmUp   bool   `help:"Limit the volume on the first days; the rest uses the next pool." name:"warm-up"`
	Check    bool   `default:"true" help:"Require that a running process has the address; --no-check skips this." negatable:""`
}

func (c *sourceAddCommand) Run(s *session) error {
	in := outbound.SourceInput{Address: c.Address, Node: c.Node, Hostname: c.Hostname, Pool: c.Pool, Account: c.Account,
		WarmUp: c.WarmUp, Unchecked: !c.Check}
	if err := in.Validate(); err != nil { // before the database is used
		return err
	}
	return c.withOutbound(s, func(service *outbound.Service) error {
		added, err := service.AddSource(s.ctx, in)
		if err != nil {
			return err
		}
		return s.printSource(service, added)
	})
}

type sourceListCommand struct{ toolSettings }

func (c *sourceListCommand) Run(s *session) error {
	return c.withOutbound(s, func(service *outbound.Service) error {
		all, err := service.Sources(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Source{"sources": shown.List(all, shown.SourceOf)})
	})
}

// oneSource is a command about an existing source.
type oneSource struct {
	toolSettings

	Source string `arg:"" help:"Address or ID of the source." placeholder:"IP"`
}

type (
	sourcePauseCommand  struct{ oneSource }
	sourceResumeCommand struct{ oneSource }
	sourceRemoveCommand struct{ oneSource }
)

func (c *sourcePauseCommand) Run(s *session) error  { return c.pause(s, true) }
func (c *sourceResumeCommand) Run(s *session) error { return c.pause(s, false) }

func (c *oneSource) pause(s *session, pause bool) error {
	return c.change(s, func(service *outbound.Service) (*ent.Source, error) {
		return service.PauseSource(s.ctx, c.Source, pause)
	})
}

// change applies a change to the source and prints the result.
func (c *oneSource) change(s *session, do func(*outbound.Service) (*ent.Source, error)) error {
	return c.withOutbound(s, func(service *outbound.Service) error {
		changed, err := do(service)
		if err != nil {
			return err
		}
		return s.printSource(service, changed)
	})
}

type sourceMoveCommand struct {
	oneSource

	Node  string `help:"Process to send from (see postrider admin nodes)." placeholder:"NAME" required:"" xor:"node"`
	Any   bool   `help:"Let any process whose machine has the address send from it." required:"" xor:"node"`
	Check bool   `default:"true" help:"Require that a running process has the address; --no-check skips this." negatable:""`
}

func (c *sourceMoveCommand) Run(s *session) error {
	return c.change(s, func(service *outbound.Service) (*ent.Source, error) {
		return service.MoveSource(s.ctx, c.Source, c.Node, !c.Check)
	})
}

func (c *sourceRemoveCommand) Run(s *session) error {
	return c.withOutbound(s,
		func(service *outbound.Service) error { return service.RemoveSource(s.ctx, c.Source) })
}

// printSource prints a source after a change.
func (s *session) printSource(service *outbound.Service, changed *ent.Source) error {
	all, err := service.Sources(s.ctx)
	if err != nil {
		return err
	}
	var view shown.Source
	for _, state := range all {
		if state.ID == changed.ID {
			view = shown.SourceOf(state)
		}
	}
	return s.print(map[string]shown.Source{"source": view})
}

type tlsReportCommand struct {
	toolSettings

	Day          string `help:"UTC day, such as 2026-11-22 (default: yesterday)." placeholder:"DAY"`
	Domain       string `help:"Receiving domain (default: all)." placeholder:"NAME"`
	Organization string `help:"Reporting organization (default: host name)." placeholder:"NAME"`
	Contact      string `help:"Contact address (default: postmaster@ the organization)." placeholder:"ADDRESS"`
}

func (c *tlsReportCommand) Run(s *session) error {
	q := outbound.TLSReportQuery{Day: c.Day, Domain: c.Domain,
		Organization: cmp.Or(c.Organization, s.machine, "localhost")}
	q.Contact = cmp.Or(c.Contact, "postmaster@"+q.Organization)
	return c.withOutbound(s, func(service *outbound.Service) error {
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

// linkCommand implements postrider admin link.
type linkCommand struct {
	toolSettings

	Target string `arg:"" help:"Host name, which covers its subdomains, or a URL prefix." optional:"" placeholder:"TARGET"`
	Reason string `help:"Reason, for other operators." placeholder:"TEXT"`
	Unflag bool   `help:"Redirect to the target again."`
}

func (c *linkCommand) Run(s *session) error {
	return c.withStore(s, func(of services) error {
		flags := linkrules.NewFlags(of.store.DB)
		var err error
		switch {
		case c.Target == "":
		case c.Unflag:
			err = flags.Remove(s.ctx, c.Target)
		default:
			_, err = flags.Add(s.ctx, c.Target, c.Reason)
		}
		if err != nil {
			return err
		}
		list, err := flags.List(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]linkrules.Flag{"flagged_links": list})
	})
}
