package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/postrider/postrider/cmd/postrider/table"
	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/store"
	"github.com/postrider/postrider/runtime/storage/db/months"
	"github.com/postrider/postrider/runtime/work/node"
)

const description = "Transactional email: an HTTP API that accepts, signs and delivers messages. " +
	"You can set each setting with a flag, an environment variable or a key in the YAML file of --config."

// commandLine declares all commands and flags. Kong reads the tags.
type commandLine struct {
	Dev     devCommand     `cmd:"" help:"Run in development mode: local, embedded PostgreSQL, mail goes to an inbox." group:"run"`
	Serve   serveCommand   `cmd:"" help:"Run in production." group:"run"`
	Doctor  doctorCommand  `cmd:"" help:"Check DNS, ports, certificates, disks and the database, and suggest fixes." group:"run"`
	Health  healthCommand  `cmd:"" help:"Report whether the service on this machine is ready, as GET /readyz does." group:"run"`
	Migrate migrateCommand `cmd:"" help:"Migrate the database to the schema of this version, as serve and dev do." group:"run"`
	Admin   adminCommand   `cmd:"" help:"Manage the installation, on a machine that can reach its database." group:"run"`
	OpenAPI openAPICommand `cmd:"" help:"Print the OpenAPI document of the enabled modules." name:"openapi" group:"run"`
	Modules modulesCommand `cmd:"" help:"List the modules, whether they are enabled, and what they require." group:"run"`

	Login        loginCommand        `cmd:"" help:"Store the URL of a Postrider server and an API key for these commands." group:"use"`
	Logout       logoutCommand       `cmd:"" help:"Delete a stored URL and API key." group:"use"`
	Whoami       whoamiCommand       `cmd:"" help:"Print the server, account and API key that commands use." group:"use"`
	Emails       emailsCommand       `cmd:"" help:"Send and manage emails." group:"use"`
	Domains      domainsCommand      `cmd:"" help:"Manage domains." group:"use"`
	Templates    templatesCommand    `cmd:"" help:"Manage templates, including as files." group:"use"`
	Webhooks     webhooksCommand     `cmd:"" help:"Manage webhook endpoints." group:"use"`
	Suppressions suppressionsCommand `cmd:"" help:"Manage the suppression list." group:"use"`
	Keys         keysCommand         `cmd:"" help:"Manage API keys." group:"use"`
	Events       eventsCommand       `cmd:"" help:"Send and list custom events." group:"use"`
	Received     receivedCommand     `cmd:"" help:"Read received emails." group:"use"`
	Automation   automationCommand   `cmd:"" help:"Manage automations as files." group:"use"`
	Listen       listenCommand       `cmd:"" help:"Print the events of an account, and forward them to your server." group:"use"`
	MCP          mcpCommand          `cmd:"" help:"Serve tools for an AI agent over standard input and output." name:"mcp" group:"use"`

	Version    versionCommand    `cmd:"" help:"Print the version."`
	Help       helpCommand       `cmd:"" help:"Print help for a command."`
	Completion completionCommand `cmd:"" help:"Print a shell completion script."`
	Man        manCommand        `cmd:"" help:"Print the man page."`

	PrintVersion kong.VersionFlag `help:"Print the version." name:"version"`
}

// adminCommand contains the commands that use the database of the installation. They also work without `admin`.
type adminCommand struct {
	Partition partitionCommand `cmd:"" help:"Split tables that grow with mail into months, while Postrider runs."`
	Account   accountCommand   `cmd:"" help:"Accounts."`
	Plan      struct {
		List planListCommand `cmd:"" help:"List the plans as JSON, in ascending order."`
		Set  planSetCommand  `cmd:"" help:"Create or update a plan and print it as JSON. Takes effect within 5 seconds."`
	} `cmd:"" help:"Manage plans: their limits and included usage."`
	Billing billingCommand `cmd:"" help:"Manage the payment provider."`
	User    userCommand    `cmd:"" help:"Manage users."`
	Key     keyCommand     `cmd:"" help:"Manage API keys."`

	OperatorKey operatorKeyCommand `cmd:"" help:"Manage operator keys, which act for any account." name:"operator-key"`

	Domain domainCommand `cmd:"" help:"Check sending domains."`
	Email  struct {
		List emailListCommand `cmd:"" help:"List or search the emails of an account as JSON, newest first."`
	} `cmd:"" help:"List emails of an account."`
	Link       linkCommand  `cmd:"" help:"Stop tracked links from redirecting to a target, or list such targets."`
	Queue      queueCommand `cmd:"" help:"Manage queued mail of the whole installation."`
	Statistics struct {
		Rebuild statisticsRebuildCommand `cmd:"" help:"Recompute statistics from stored events. Safe to repeat while Postrider runs."`
	} `cmd:"" help:"Manage statistics."`
	Backup  backupCommand  `cmd:"" help:"Back up the database to a folder, without the master key."`
	Restore restoreCommand `cmd:"" help:"Restore a backup. Nothing is sent until postrider admin hold release."`
	Hold    holdCommand    `cmd:"" help:"Stop sending mail and webhooks while still accepting requests."`

	Nodes nodesCommand `cmd:"" help:"List the processes that share the database, and those that died recently."`

	SetupLink setUpLinkCommand `cmd:"" help:"Print the link for creating the first user, as long as no user can sign in."`
	Export    struct {
		Status exportStatusCommand `cmd:"" help:"Print the position, backlog and latest error of the export as JSON."`
		Rewind exportRewindCommand `cmd:"" help:"Re-export all events since a time. Consumers receive duplicates."`
	} `cmd:"" help:"Manage the export of events to NATS JetStream (POSTRIDER_EVENTS_TO)."`

	Smarthost smarthostCommand `cmd:"" help:"Manage mail servers that forward the mail of an account or domain."`
	Source    sourceCommand    `cmd:"" help:"Manage source IP addresses."`
	Outbound  struct {
		TLSReport tlsReportCommand `cmd:"" help:"Print TLS reports (RFC 8460) about receiving domains for one day." name:"tls-report"`
	} `cmd:"" help:"Report on outgoing connections."`
}

// session is the environment of a command.
type session struct {
	ctx      context.Context //nolint:containedctx // kong calls Run without one
	out, log io.Writer
	version  string
	machine  string // host name of this machine
	// environment variables that commands read
	variables []string
}

func (s *session) print(value any) error {
	encoder := json.NewEncoder(s.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

type devCommand struct {
	settingFlags

	ReadyFile string `help:"Write addresses, account and API key to this file as JSON once ready." name:"ready-file" placeholder:"FILE" type:"path"`
}

func (c *devCommand) Run(s *session) error {
	return s.serve(setting.Dev, c.settingFlags, c.ReadyFile)
}

type serveCommand struct{ settingFlags }

func (c *serveCommand) Run(s *session) error {
	return s.serve(setting.Serve, c.settingFlags, "")
}

func (s *session) serve(mode setting.Mode, flags settingFlags, readyFile string) error {
	cfg, err := config.Load(mode, s.machine, flags.settingTexts())
	if err != nil {
		return err
	}
	return app.Run(s.ctx, cfg, app.Options{Version: s.version, ReadyFile: readyFile, Out: s.out, Log: s.log,
		Strays: setting.UnknownVariables(os.Environ(), s.variables)})
}

// toolSettings are the settings of commands that use the database and exit.
type toolSettings struct {
	settingFlags `settings:"tool"`

	Verbose bool `help:"Write log lines to stderr." name:"verbose"`
}

func (t toolSettings) load() (setting.Values, error) {
	cfg, err := t.settingFlags.load()
	return silenceLogs(cfg, t.Verbose), err
}

// keyedSettings are toolSettings with the master key.
type keyedSettings struct {
	settingFlags `settings:"tool,POSTRIDER_MASTER_KEY"`

	Verbose bool `help:"Write log lines to stderr." name:"verbose"`
}

func (t keyedSettings) load() (setting.Values, error) {
	cfg, err := t.settingFlags.load()
	return silenceLogs(cfg, t.Verbose), err
}

// silenceLogs disables log lines unless the user asked for them. The error of the command reports a failure.
func silenceLogs(cfg setting.Values, verbose bool) setting.Values {
	const nothing = slog.Level(100)
	if verbose {
		return cfg
	}
	return config.LogLevel.Override(cfg, nothing)
}

type migrateCommand struct {
	toolSettings

	Plan bool `help:"Print pending migrations and change nothing."`
}

func (c *migrateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if c.Plan {
		return s.planMigrations(cfg)
	}
	log := telemetry.NewLogger(config.LogFormat.Get(cfg), config.LogLevel.Get(cfg), s.log)
	opened, err := store.Open(s.ctx, config.Migrate.Override(cfg, config.MigrateOn), log)
	if err != nil {
		return err
	}
	opened.Close(log, store.StopLimit)
	return nil
}

// planMigrations prints the pending migrations, and their effect on processes of older versions.
func (s *session) planMigrations(cfg setting.Values) error {
	planned, err := store.Plan(s.ctx, cfg)
	if err != nil {
		return err
	}
	if len(planned) == 0 {
		fmt.Fprintln(s.out, "The database has the schema of this version. There is nothing to do.")
		return nil
	}
	means := map[string]string{
		"expand":   "processes of the previous version keep working",
		"contract": "stop processes of older versions that need the removed parts first",
		"":         "processes of older versions cannot start afterwards",
	}
	for _, p := range planned {
		alone := ""
		if p.Alone {
			alone = "; runs while requests continue, and can take a long time"
		}
		fmt.Fprintf(s.out, "%s: %s%s\n", p.Name, means[p.Kind], alone)
	}
	return nil
}

type partitionCommand struct {
	toolSettings

	Tables []string `arg:"" enum:"facts,received_emails,webhook_deliveries,emails,recipients,attempts" help:"Tables to split (default: all that grow with mail)." name:"table" optional:""`
	Plan   bool     `help:"Print the SQL statements and change nothing." xor:"way"`
	Undo   bool     `help:"Merge the tables again. Requires that all rows are in the first month." xor:"way"`
}

func (c *partitionCommand) Run(s *session) error {
	tables, err := months.FindTables(c.Tables...)
	if err != nil {
		return err
	}
	if c.Undo { // in reverse order
		slices.Reverse(tables)
	}
	tell := func(what string) { fmt.Fprintln(s.out, what) }
	return c.withStore(s, func(of services) error {
		for _, t := range tables {
			switch {
			case c.Plan:
				err = of.planMonths(s, t)
			case c.Undo:
				err = months.Undo(s.ctx, of.store.DB, t, of.log, tell)
			default:
				if err = of.maySplit(s, t); err == nil {
					err = months.Move(s.ctx, of.store.DB, t, of.log, tell)
				}
			}
			if err != nil {
				return err
			}
		}
		if !c.Plan && !c.Undo {
			if _, err := months.Maintain(s.ctx, of.store.DB, of.log); err != nil {
				return err
			}
		}
		return of.printMonths(s, tables)
	})
}

// maySplit refuses to split a table while a process of an older version, which cannot use split tables, is
// running.
func (of services) maySplit(s *session, t months.Table) error {
	split, err := months.Split(s.ctx, of.store.DB.SQL, t.Name)
	needs := t.RequiredMigration(of.store.DB)
	if err != nil || split || needs == "" {
		return err
	}
	all, err := node.Processes(s.ctx, of.store.DB)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Alive && p.Schema < needs {
			return fmt.Errorf("process %s runs version %s, which cannot use a split table %s: update it to this version (%s), "+
				"or name the other tables", p.Name, p.Version, t.Name, s.version)
		}
	}
	return nil
}

// planMonths prints the steps of splitting a table.
func (of services) planMonths(s *session, t months.Table) error {
	steps, err := months.Plan(s.ctx, of.store.DB, t)
	if err != nil {
		return err
	}
	for _, step := range steps {
		how := "while requests continue"
		if step.Brief {
			how = "in one transaction; requests wait"
		}
		fmt.Fprintf(s.out, "-- %s (%s)\n%s;\n\n", step.What, how, strings.Join(step.Statements, ";\n"))
	}
	return nil
}

// printMonths prints whether tables are split, and their months.
func (of services) printMonths(s *session, tables []months.Table) error {
	var all []months.TableState
	for _, t := range tables {
		state, err := months.ReadTableState(s.ctx, of.store.DB.SQL, t)
		if err != nil {
			return err
		}
		all = append(all, state)
	}
	_, err := io.WriteString(s.out, table.Months(all))
	return err
}

type openAPICommand struct {
	settingFlags `settings:"POSTRIDER_MODULES"`

	Format string `default:"json" enum:"json,yaml,json-3.0,yaml-3.0" help:"Output format: json or yaml (OpenAPI 3.1), json-3.0 or yaml-3.0."`
}

func (c *openAPICommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	document, err := app.OpenAPI(cfg, c.Format)
	if err != nil {
		return err
	}
	_, err = s.out.Write(document)
	return err
}

type modulesCommand struct {
	settingFlags `settings:"POSTRIDER_MODULES"`
}

func (c *modulesCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	table, err := app.ModuleTable(cfg)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.out, table)
	return err
}
