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

const description = "Transactional email: an HTTP API that accepts, signs and delivers. " +
	"Each setting is a flag, an environment variable and a key of the YAML file that --config names."

// commandLine is all that can be said; kong reads the tags.
type commandLine struct {
	Dev       devCommand       `cmd:"" help:"Run in development mode: loopback only, embedded PostgreSQL, mail caught in an inbox."`
	Serve     serveCommand     `cmd:"" help:"Run in production."`
	Doctor    doctorCommand    `cmd:"" help:"Look at DNS, port 25, certificates, clock, disks, database and master key; say what is wrong and what to do. Exit code 0: all good, 1: warnings, 2: errors."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database to this version's schema. serve and dev do it too."`
	Partition partitionCommand `cmd:"" help:"Split the tables that grow with mail into months, beside the traffic; make months ahead, and drop empty ones. It moves no row, can be stopped, and goes on when it is run again."`
	OpenAPI   openAPICommand   `cmd:"" help:"Print the OpenAPI document of the modules that are on."                   name:"openapi"`
	Modules   modulesCommand   `cmd:"" help:"Print the modules: which are on, what they are for and what they need."`
	Account   accountCommand   `cmd:"" help:"Accounts."`
	Plan      struct {
		List planListCommand `cmd:"" help:"Print the plans as JSON, from the least to the greatest."`
		Set  planSetCommand  `cmd:"" help:"Change a plan, or make one; print it as JSON. Services follow within five seconds."`
	} `cmd:"" help:"Plans: what accounts may do, and what is in their price."`
	Billing billingCommand `cmd:"" help:"What customers pay: the payment provider, seen by the operator."`
	User    userCommand    `cmd:"" help:"People who sign in."`
	Key     keyCommand     `cmd:"" help:"API keys."`
	Domain  domainCommand  `cmd:"" help:"Sending domains."`
	Email   struct {
		List emailListCommand `cmd:"" help:"Print an account's emails as JSON, the newest first; those that a search text finds, as the API and the dashboard take it: receipt to:bob@example.net is:bounced."`
	} `cmd:"" help:"Emails of an account."`
	Link       linkCommand  `cmd:"" help:"Stop tracked links of all accounts from redirecting to a target; print the flagged targets as JSON. Services follow within five seconds."`
	Queue      queueCommand `cmd:"" help:"Mail that waits for delivery, of the whole installation."`
	Statistics struct {
		Rebuild statisticsRebuildCommand `cmd:"" help:"Recompute statistics from stored events and print the progress. Where events were deleted since, the larger figure stays. Safe to repeat, while Postrider runs or not."`
	} `cmd:"" help:"What became of mail, counted."`
	Backup  backupCommand  `cmd:"" help:"Write the database to a folder, while Postrider runs or not. The master key is not in it."`
	Restore restoreCommand `cmd:"" help:"Make a database of a backup. It is held: nothing leaves until postrider hold release."`
	Hold    holdCommand    `cmd:"" help:"Keep the whole installation from sending: mail, scheduled mail and webhooks. Requests are accepted meanwhile."`

	Nodes nodesCommand `cmd:"" help:"Print the processes that share the database: version, what each does, addresses, last sign of life. Those that died are listed for an hour."`

	SetupLink  setUpLinkCommand  `cmd:"" help:"Print the link by which the first person comes in, while nobody can sign in."`
	Automation automationCommand `cmd:"" help:"Definitions of automations as files, for an account of a running Postrider."`
	Listen     listenCommand     `cmd:"" help:"Print the events of an account as they happen, and forward them to a server of your own."`
	Export     struct {
		Status exportStatusCommand `cmd:"" help:"Print how far the export is, what waits and the latest error, as JSON."`
		Rewind exportRewindCommand `cmd:"" help:"Send everything again that has happened since a time. Readers that have it get it twice."`
	} `cmd:"" help:"The export of all events to NATS JetStream (POSTRIDER_EVENTS_TO)."`

	Smarthost smarthostCommand `cmd:"" help:"Servers that take the mail of an account or a domain."`
	Source    sourceCommand    `cmd:"" help:"Addresses that mail leaves from."`
	Outbound  struct {
		TLSReport tlsReportCommand `cmd:"" help:"Print how TLS went with receiving domains on a day: for each a report in the form of RFC 8460." name:"tls-report"`
	} `cmd:"" help:"What was seen on the way out."`

	Version    versionCommand    `cmd:"" help:"Print the version."`
	Help       helpCommand       `cmd:"" help:"Print what a command does, and its flags."`
	Completion completionCommand `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Man        manCommand        `cmd:"" help:"Print the man page."`

	PrintVersion kong.VersionFlag `help:"Print the version." name:"version"`
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

func (s *session) print(value any) error {
	encoder := json.NewEncoder(s.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

type devCommand struct {
	settingFlags

	ReadyFile string `help:"Write addresses, account and API key to this file, as JSON, once everything listens." name:"ready-file" placeholder:"FILE" type:"path"`
}

func (c *devCommand) Run(s *session) error {
	return s.serve(setting.Dev, c.settingFlags, c.ReadyFile)
}

type serveCommand struct{ settingFlags }

func (c *serveCommand) Run(s *session) error {
	return s.serve(setting.Serve, c.settingFlags, "")
}

func (s *session) serve(mode setting.Mode, flags settingFlags, readyFile string) error {
	cfg, err := config.Load(mode, s.machine, flags.texts())
	if err != nil {
		return err
	}
	return app.Run(s.ctx, cfg, app.Options{Version: s.version, ReadyFile: readyFile, Out: s.out, Log: s.log,
		Strays: setting.Strays(os.Environ(), s.variables)})
}

// toolSettings are those of commands that work on the database and end.
type toolSettings struct {
	settingFlags `settings:"tool"`

	Verbose bool `help:"Write log lines to stderr." name:"verbose"`
}

func (t toolSettings) load() (setting.Values, error) {
	cfg, err := t.settingFlags.load()
	return hushed(cfg, t.Verbose), err
}

// hushed keeps log lines from people who did not ask for them. What went wrong is the error
// of the command.
func hushed(cfg setting.Values, verbose bool) setting.Values {
	const nothing = slog.Level(100)
	if verbose {
		return cfg
	}
	return config.LogLevel.With(cfg, nothing)
}

type migrateCommand struct {
	toolSettings

	Plan bool `help:"Say what would be done, and change nothing."`
}

func (c *migrateCommand) Run(s *session) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if c.Plan {
		return s.planMigrations(cfg)
	}
	log := telemetry.NewLogger(config.LogFormat.Of(cfg), config.LogLevel.Of(cfg), s.log)
	opened, err := store.Open(s.ctx, config.Migrate.With(cfg, config.MigrateOn), log)
	if err != nil {
		return err
	}
	opened.Close(log, store.StopLimit)
	return nil
}

// planMigrations prints what the database lacks, and what that does to programs of older versions.
func (s *session) planMigrations(cfg setting.Values) error {
	planned, err := store.Plan(s.ctx, cfg)
	if err != nil {
		return err
	}
	if len(planned) == 0 {
		fmt.Fprintln(s.out, "The database has the schema of this version: nothing to do.")
		return nil
	}
	means := map[string]string{"expand": "programs of the version before go on working", "contract": "only programs that do not need what goes may run", "": "programs of older versions do not start afterwards"}
	for _, p := range planned {
		alone := ""
		if p.Alone {
			alone = "; beside the traffic, may take long"
		}
		fmt.Fprintf(s.out, "%s: %s%s\n", p.Name, means[p.Kind], alone)
	}
	return nil
}

type partitionCommand struct {
	toolSettings

	Tables []string `arg:"" enum:"facts,received_emails,webhook_deliveries,emails,recipients,attempts" help:"facts, received_emails, webhook_deliveries, emails, recipients, attempts; all of them." name:"table" optional:""`
	Plan   bool     `help:"Say what would be done, in SQL, and change nothing."                xor:"way"`
	Undo   bool     `help:"Make the tables plain again, while all rows are in the first month." xor:"way"`
}

func (c *partitionCommand) Run(s *session) error {
	tables, err := months.Named(c.Tables...)
	if err != nil {
		return err
	}
	if c.Undo { // the last one first
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
			if _, err := months.Keep(s.ctx, of.store.DB, of.log); err != nil {
				return err
			}
		}
		return of.printMonths(s, tables)
	})
}

// maySplit refuses to split a table on which processes work whose programs do not know how.
func (of services) maySplit(s *session, t months.Table) error {
	split, err := months.Split(s.ctx, of.store.DB.SQL, t.Name)
	needs := t.Needs(of.store.DB)
	if err != nil || split || needs == "" {
		return err
	}
	all, err := node.Processes(s.ctx, of.store.DB)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.Alive && p.Schema < needs {
			return fmt.Errorf("the process %s is of version %s, which is too old: once %s is split, it would do wrong there; bring it to this version (%s), or name the other tables", p.Name, p.Version, t.Name, s.version)
		}
	}
	return nil
}

// planMonths prints what splitting a table would do.
func (of services) planMonths(s *session, t months.Table) error {
	steps, err := months.Plan(s.ctx, of.store.DB, t)
	if err != nil {
		return err
	}
	for _, step := range steps {
		how := "beside the traffic"
		if step.Brief {
			how = "one transaction, requests wait"
		}
		fmt.Fprintf(s.out, "-- %s (%s)\n%s;\n\n", step.What, how, strings.Join(step.Statements, ";\n"))
	}
	return nil
}

// printMonths prints how tables stand.
func (of services) printMonths(s *session, tables []months.Table) error {
	var all []months.State
	for _, t := range tables {
		state, err := months.Look(s.ctx, of.store.DB.SQL, t)
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

	Format string `default:"json" enum:"json,yaml,json-3.0" help:"json or yaml (OpenAPI 3.1), or json-3.0."`
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

type versionCommand struct{}

func (*versionCommand) Run(s *session) error {
	_, err := fmt.Fprintf(s.out, "postrider %s (%s)\n", s.version, s.platform())
	return err
}
