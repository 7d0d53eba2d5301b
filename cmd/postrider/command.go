package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/postrider/postrider/runtime/config"
)

const description = "Transactional email: an HTTP API that accepts, signs and delivers. " +
	"Each setting is a flag, an environment variable and a key of the YAML file that --config names."

// commandLine is all that can be said; kong reads the tags.
type commandLine struct {
	Dev     devCommand     `cmd:"" help:"Run in development mode: loopback only, embedded PostgreSQL, mail caught in an inbox."`
	Serve   serveCommand   `cmd:"" help:"Run in production."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to this version's schema. serve and dev do it too."`
	OpenAPI openAPICommand `cmd:"" help:"Print the OpenAPI document of the modules that are on."                   name:"openapi"`
	Modules modulesCommand `cmd:"" help:"Print the modules, what they are for and what they need."`
	Account accountCommand `cmd:"" help:"Accounts."`
	Key     keyCommand     `cmd:"" help:"API keys."`
	Domain  domainCommand  `cmd:"" help:"Sending domains."`
	Queue   queueCommand   `cmd:"" help:"Mail that waits for delivery, of the whole installation."`

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
	machine  string
	assembly assembly
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
	return serve(s, config.Dev, c.Settings, c.ReadyFile)
}

type serveCommand struct{ config.Settings }

func (c *serveCommand) Run(s *session) error {
	return serve(s, config.Serve, c.Settings, "")
}

func serve(s *session, mode config.Mode, settings config.Settings, readyFile string) error {
	settings.MachineName = s.machine
	cfg, err := config.Load(mode, settings)
	if err != nil {
		return err
	}
	return s.assembly.run(s, cfg, readyFile)
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
	return s.assembly.migrate(s, cfg)
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
	document, err := s.assembly.openAPI(cfg, c.Format)
	if err != nil {
		return err
	}
	_, err = s.out.Write(document)
	return err
}

type modulesCommand struct{}

func (*modulesCommand) Run(s *session) error {
	_, err := io.WriteString(s.out, s.assembly.modules())
	return err
}

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Make an API key; print it and its secret, which is shown this once, as JSON."`
	Revoke keyRevokeCommand `cmd:"" help:"End an API key: no process accepts it five seconds later."`
}

type keyRevokeCommand struct {
	toolSettings

	Account string `help:"Whose key it is." placeholder:"acc_…" required:""`
	Key     string `help:"The key's id."    placeholder:"key_…" required:""`
}

func (c *keyRevokeCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	at, err := s.assembly.revokeKey(s, cfg, c)
	if err != nil {
		return err
	}
	type key struct {
		ID        string    `json:"id"`
		RevokedAt time.Time `json:"revoked_at"`
	}
	return s.print(map[string]key{"api_key": {c.Key, at.UTC()}})
}

type keyCreateCommand struct {
	toolSettings

	Account   string     `help:"Whose key it is."                           placeholder:"acc_…" required:""`
	Name      string     `help:"To recognise the key by."                   placeholder:"NAME"  required:""`
	Scope     string     `default:"full"                                    enum:"full,sending,read" help:"full, sending or read."`
	DomainID  []string   `help:"Domains that it may send from (all)."       name:"domain-id"    placeholder:"dom_…"`
	ExpiresAt *time.Time `help:"When it ends, as 2027-01-31T00:00:00Z (never)." name:"expires-at" placeholder:"TIME"`
}

func (c *keyCreateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	id, secret, err := s.assembly.createKey(s, cfg, c)
	if err != nil {
		return err
	}
	type key struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Scope string `json:"scope"`
	}
	return s.print(struct {
		APIKey key    `json:"api_key"`
		Secret string `json:"secret"`
	}{key{id, c.Name, c.Scope}, secret})
}

type versionCommand struct{}

func (*versionCommand) Run(s *session) error {
	_, err := fmt.Fprintf(s.out, "postrider %s (%s)\n", s.version, platform())
	return err
}
