package main

import (
	"fmt"

	"github.com/postrider/postrider/cmd/postrider/automate"
	"github.com/postrider/postrider/cmd/postrider/shown"
)

type automationCommand struct {
	Push     automationPushCommand     `cmd:"" help:"Make the drafts of the account what files say, matched by name, and print what speaks against activating them. Exit code 1 if something does."`
	Pull     automationPullCommand     `cmd:"" help:"Write the drafts of the account to files."`
	Simulate automationSimulateCommand `cmd:"" help:"Play one run of a draft on a virtual clock, and print it as JSON. Nothing is stored or sent."`
	List     automationListCommand     `cmd:"" help:"Print the automations of the account as JSON, without those that are archived."`
}

// remote is a running Postrider, and the key that is used there.
type remote struct {
	BaseURL string `default:"http://127.0.0.1:8080" env:"POSTRIDER_BASE_URL"                                       help:"Where Postrider is reached." name:"base-url" placeholder:"URL"`
	APIKey  string `env:"POSTRIDER_API_KEY"         help:"A full key of the account. Rather set it in the environment." name:"api-key"                     placeholder:"svc_…" required:""`
}

func (r remote) server() automate.Server {
	return automate.Server{BaseURL: r.BaseURL, APIKey: r.APIKey}
}

type automationPushCommand struct {
	remote

	Paths    []string `arg:""                                                          help:"Files with one definition each, in JSON or YAML, or folders with such files." name:"path"`
	Activate bool     `help:"Activate what has changed and has nothing against it."`
}

func (c *automationPushCommand) Run(s *session) error {
	failed, err := automate.Push{Server: c.server(), Paths: c.Paths, Activate: c.Activate, Out: s.out, Log: s.log}.Run(s.ctx)
	if err != nil {
		return err
	}
	if failed > 0 {
		return exitError(exitFailure)
	}
	return nil
}

type automationPullCommand struct {
	remote

	Folder string   `arg:""           help:"Where the files are written."`
	Name   []string `help:"Only the automations of these names (all)." placeholder:"NAME" sep:"none"`
	Format string   `default:"json"   enum:"json,yaml"                                    help:"json or yaml, for files that are new."`
}

func (c *automationPullCommand) Run(s *session) error {
	return automate.Pull{Server: c.server(), Folder: c.Folder, Names: c.Name, Format: c.Format, Out: s.out}.Run(s.ctx)
}

type automationSimulateCommand struct {
	remote

	Name   string `arg:""                                                               help:"Of the automation."`
	Input  string `arg:""                                                               help:"File with the event and what happens later, as POST /automations/{id}/simulate takes it, in JSON or YAML." optional:""`
	Expect string `enum:",completed,failed,cancelled,not_started"                       default:""                                                                                                       help:"Exit code 1 unless the run ends so: completed, failed, cancelled or not_started." placeholder:"STATUS"`
}

func (c *automationSimulateCommand) Run(s *session) error {
	played, err := automate.Simulate{Server: c.server(), Name: c.Name, Input: c.Input}.Run(s.ctx)
	if err != nil {
		return err
	}
	if err := s.print(played.Whole); err != nil {
		return err
	}
	if c.Expect != "" && played.Status != c.Expect {
		return fmt.Errorf("the run is %s, and was expected to be %s", played.Status, c.Expect)
	}
	return nil
}

type automationListCommand struct{ remote }

func (c *automationListCommand) Run(s *session) error {
	type line struct {
		ID                    string `json:"id"`
		Name                  string `json:"name"`
		Status                string `json:"status"`
		Version               *int   `json:"version"`
		HasUnpublishedChanges bool   `json:"has_unpublished_changes"`
	}
	list, err := c.server().List(s.ctx)
	if err != nil {
		return err
	}
	return s.print(map[string]any{"automations": shown.List(list, func(a automate.Automation) line {
		return line{a.ID, a.Name, a.Status, a.Version, a.HasUnpublishedChanges}
	})})
}
