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
	Add    sourceAddCommand    `cmd:"" help:"Let mail leave from an address of a machine that delivers; print it as JSON."`
	List   sourceListCommand   `cmd:"" help:"Print the source addresses and how far their warm-up is, as JSON."`
	Pause  sourcePauseCommand  `cmd:"" help:"Let no mail leave from an address for now."`
	Resume sourceResumeCommand `cmd:"" help:"Let mail leave from it again."`
	Move   sourceMoveCommand   `cmd:"" help:"Say by which process mail leaves from an address; its warm-up goes on."`
	Remove sourceRemoveCommand `cmd:"" help:"Forget an address and what was counted of it."`
}

type sourceAddCommand struct {
	toolSettings

	Address  string `help:"IPv4 or IPv6 address of a machine that delivers." placeholder:"IP" required:""`
	Node     string `help:"Name of the process that mail leaves from it by (any whose machine has the address): postrider nodes lists them." placeholder:"NAME"`
	Hostname string `help:"The name in its PTR record, for EHLO. An IPv4 and an IPv6 address with the same name in the same pool are used as one." placeholder:"NAME" required:""`
	Pool     string `help:"shared: for all plans; pool: for the plans pool and dedicated; dedicated: for one account of the plan dedicated." placeholder:"POOL" required:""`
	Account  string `help:"With --pool=dedicated: whose it is, email or id." placeholder:"acc_…"`
	WarmUp   bool   `help:"Receivers do not know it yet: send little on the first days, what is more leaves by the next pool." name:"warm-up"`
	Check    bool   `default:"true" help:"Make sure that a process that runs has the address, or the one that --node names; --no-check adds it all the same, as for a machine that is planned." negatable:""`
}

func (c *sourceAddCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	in := outbound.SourceInput{Address: c.Address, Node: c.Node, Hostname: c.Hostname, Pool: c.Pool, Account: c.Account, WarmUp: c.WarmUp, Unchecked: !c.Check}
	if err := in.Validate(); err != nil { // before the database is touched
		return err
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error {
		added, err := service.AddSource(s.ctx, in)
		if err != nil {
			return err
		}
		return s.printSource(service, added)
	})
}

type sourceListCommand struct{ toolSettings }

func (c *sourceListCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error {
		all, err := service.Sources(s.ctx)
		if err != nil {
			return err
		}
		return s.print(map[string][]shown.Source{"sources": shown.List(all, shown.SourceOf)})
	})
}

// oneSource is a command about one that is there.
type oneSource struct {
	toolSettings

	Source string `arg:"" help:"Its address or its id." placeholder:"IP"`
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

// change does something to the source, and prints how it stands then.
func (c *oneSource) change(s *session, do func(*outbound.Service) (*ent.Source, error)) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error {
		changed, err := do(service)
		if err != nil {
			return err
		}
		return s.printSource(service, changed)
	})
}

type sourceMoveCommand struct {
	oneSource

	Node  string `help:"Name of the process that mail leaves from it by: postrider nodes lists them." placeholder:"NAME" required:"" xor:"node"`
	Any   bool   `help:"By any process whose machine has the address." required:"" xor:"node"`
	Check bool   `default:"true" help:"Make sure that the process has the address, or with --any some process; --no-check moves it all the same, as before its machine starts." negatable:""`
}

func (c *sourceMoveCommand) Run(s *session) error {
	return c.change(s, func(service *outbound.Service) (*ent.Source, error) {
		return service.MoveSource(s.ctx, c.Source, c.Node, !c.Check)
	})
}

func (c *sourceRemoveCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withOutbound(s.ctx, cfg, func(service *outbound.Service) error { return service.RemoveSource(s.ctx, c.Source) })
}

// printSource prints how a source stands once something was done to it.
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

	Day          string `help:"UTC day, as 2026-11-22 (yesterday)." placeholder:"DAY"`
	Domain       string `help:"Receiving domain (all)." placeholder:"NAME"`
	Organization string `help:"Who reports (the machine's name)." placeholder:"NAME"`
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

// linkCommand is postrider link.
type linkCommand struct {
	toolSettings

	Target string `arg:"" help:"A host name, which covers the names below it, or the beginning of a URL." optional:"" placeholder:"TARGET"`
	Reason string `help:"Why, for other operators." placeholder:"TEXT"`
	Unflag bool   `help:"Redirect to it again."`
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
