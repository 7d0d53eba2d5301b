package main

import (
	"fmt"

	"github.com/postrider/postrider/cmd/postrider/automate"
	"github.com/postrider/postrider/cmd/postrider/shown"
)

type automationCommand struct {
	Push     automationPushCommand     `cmd:"" help:"Push definitions from files to drafts by name. Exits with code 1 if there are problems."`
	Pull     automationPullCommand     `cmd:"" help:"Write the account's drafts to files."`
	Simulate automationSimulateCommand `cmd:"" help:"Simulate a run of a draft and print it as JSON. Nothing is stored or sent."`
	List     automationListCommand     `cmd:"" help:"List the automations of the account as JSON, except archived ones."`
}

type automationPushCommand struct {
	remote

	Paths    []string `arg:"" help:"JSON or YAML files with one definition each, or folders of such files." name:"path"`
	Activate bool     `help:"Activate changed definitions that have no problems."`
}

func (c *automationPushCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	failed, err := automate.Push{Server: server, Paths: c.Paths, Activate: c.Activate, Out: s.out,
		Log: s.log}.Run(s.ctx)
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

	Folder string   `arg:"" help:"Folder to write files to."`
	Name   []string `help:"Only automations with these names (default: all)." placeholder:"NAME" sep:"none"`
	Format string   `default:"json" enum:"json,yaml" help:"Format of new files: json or yaml."`
}

func (c *automationPullCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	return automate.Pull{Server: server, Folder: c.Folder, Names: c.Name, Format: c.Format, Out: s.out}.Run(s.ctx)
}

type automationSimulateCommand struct {
	remote

	Name   string `arg:"" help:"Name of the automation."`
	Input  string `arg:"" help:"JSON or YAML file with a body of POST /automations/{id}/simulate." optional:""`
	Expect string `enum:",completed,failed,cancelled,not_started" default:"" help:"Exit with code 1 unless the run ends with this status." placeholder:"STATUS"`
}

func (c *automationSimulateCommand) Run(s *session) error {
	server, err := c.server()
	if err != nil {
		return err
	}
	played, err := automate.Simulate{Server: server, Name: c.Name, Input: c.Input}.Run(s.ctx)
	if err != nil {
		return err
	}
	if err := s.print(played.Whole); err != nil {
		return err
	}
	if c.Expect != "" && played.Status != c.Expect {
		return fmt.Errorf("the run is %s, want %s", played.Status, c.Expect)
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
	server, err := c.server()
	if err != nil {
		return err
	}
	list, err := automate.List(s.ctx, server)
	if err != nil {
		return err
	}
	return s.print(map[string]any{"automations": shown.List(list, func(a automate.Automation) line {
		return line{a.ID, a.Name, a.Status, a.Version, a.HasUnpublishedChanges}
	})})
}
