package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/config"
)

const description = "Transactional email: an HTTP API that accepts, signs and delivers. " +
	"Each setting is a flag, an environment variable and a key of the YAML file that --config names."

// commandLine is all that can be said; kong reads the tags.
type commandLine struct {
	Dev     devCommand     `cmd:"" help:"Run in development mode: loopback only, embedded PostgreSQL, mail caught in an inbox."`
	Serve   serveCommand   `cmd:"" help:"Run in production."`
	Doctor  doctorCommand  `cmd:"" help:"Look at DNS, port 25, certificates, clock, disks, database and master key; say what is wrong and what to do. Exit code 0: all good, 1: warnings, 2: errors."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to this version's schema. serve and dev do it too."`
	OpenAPI openAPICommand `cmd:"" help:"Print the OpenAPI document of the modules that are on."                   name:"openapi"`
	Modules modulesCommand `cmd:"" help:"Print the modules, what they are for and what they need."`
	Account accountCommand `cmd:"" help:"Accounts."`
	Key     keyCommand     `cmd:"" help:"API keys."`
	Domain  domainCommand  `cmd:"" help:"Sending domains."`
	Queue   queueCommand   `cmd:"" help:"Mail that waits for delivery, of the whole installation."`
	Backup  backupCommand  `cmd:"" help:"Write the database to a folder, while Postrider runs or not. The master key is not in it."`
	Restore restoreCommand `cmd:"" help:"Make a database of a backup. It is held: nothing leaves until postrider hold release."`
	Hold    holdCommand    `cmd:"" help:"Keep the whole installation from sending: mail, scheduled mail and webhooks. Requests are accepted meanwhile."`

	Listen listenCommand `cmd:"" help:"Print the events of an account as they happen, and forward them to a server of your own."`

	Smarthost smarthostCommand `cmd:"" help:"Servers that take the mail of an account or a domain."`
	Source    sourceCommand    `cmd:"" help:"Addresses that mail leaves from."`
	Outbound  outboundCommand  `cmd:"" help:"What was seen on the way out."`

	Version versionCommand `cmd:"" help:"Print the version."`
}

// session is what commands run in.
type session struct {
	ctx      context.Context //nolint:containedctx // kong calls Run without one
	out, log io.Writer
	version  string
	machine  string // what the system calls this machine
	// variables of the environment that commands read
	variables []string
}

// listed gives the view of each, and an empty list rather than none: it prints as [].
func listed[T, V any](all []T, view func(T) V) []V {
	views := make([]V, len(all))
	for i, one := range all {
		views[i] = view(one)
	}
	return views
}

func (s *session) print(value any) error {
	encoder := json.NewEncoder(s.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

type devCommand struct {
	config.Settings

	ReadyFile string `help:"Write addresses, account and API key to this file, as JSON, once everything listens." name:"ready-file" placeholder:"FILE" type:"path"`
}

func (c *devCommand) Run(s *session) error {
	return s.serve(config.Dev, c.Settings, c.ReadyFile)
}

type serveCommand struct{ config.Settings }

func (c *serveCommand) Run(s *session) error {
	return s.serve(config.Serve, c.Settings, "")
}

func (s *session) serve(mode config.Mode, settings config.Settings, readyFile string) error {
	cfg, err := s.config(mode, settings)
	if err != nil {
		return err
	}
	return assembly.Run(s.ctx, cfg, assembly.Options{Version: s.version, ReadyFile: readyFile, Out: s.out, Log: s.log,
		Strays: config.Strays(os.Environ(), s.variables)})
}

// config turns the settings of a service into its configuration.
func (s *session) config(mode config.Mode, settings config.Settings) (config.Config, error) {
	settings.MachineName = s.machine
	return config.Load(mode, settings)
}

// toolSettings are those of commands that work on the database and end.
type toolSettings struct {
	config.StoreSettings
	config.LogSettings
}

func (t toolSettings) load() (config.Config, error) {
	return config.Load(config.Tool, config.Settings{StoreSettings: t.StoreSettings, LogSettings: t.LogSettings})
}

type migrateCommand struct{ toolSettings }

func (c *migrateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return withServices(s.ctx, cfg, func(services) error { return nil }) // opening the store migrates
}

type openAPICommand struct {
	config.ModuleSettings

	Format string `default:"json" enum:"json,yaml,json-3.0" help:"json or yaml (OpenAPI 3.1), or json-3.0."`
}

func (c *openAPICommand) Run(s *session) error {
	cfg, err := config.Load(config.Tool, config.Settings{ModuleSettings: c.ModuleSettings})
	if err != nil {
		return err
	}
	document, err := assembly.OpenAPI(cfg, c.Format)
	if err != nil {
		return err
	}
	_, err = s.out.Write(document)
	return err
}

type modulesCommand struct{}

func (*modulesCommand) Run(s *session) error {
	_, err := io.WriteString(s.out, assembly.ModuleTable())
	return err
}

type versionCommand struct{}

func (*versionCommand) Run(s *session) error {
	_, err := fmt.Fprintf(s.out, "postrider %s (%s)\n", s.version, platform())
	return err
}
