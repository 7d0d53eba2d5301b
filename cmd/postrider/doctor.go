package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/postrider/postrider/cmd/postrider/table"
	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/app/checks"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/ops/store"
)

// doctorCommand has the settings of the service, so that it checks the same configuration.
type doctorCommand struct {
	settingFlags

	JSON bool     `help:"Print the report as JSON." name:"json"`
	Only []string `help:"Run only checks whose names start with these words, such as dns.spf." name:"only" placeholder:"CHECK,..."`
}

func (c *doctorCommand) Run(s *session) error {
	report, err := c.runChecks(s)
	if err != nil {
		return err
	}
	if c.JSON {
		err = s.print(report)
	} else {
		_, err = io.WriteString(s.out, table.Report(report))
	}
	if err == nil && report.ExitCode() != 0 {
		return exitError(report.ExitCode())
	}
	return err
}

// runChecks runs the checks. It creates and changes nothing.
func (c *doctorCommand) runChecks(s *session) (report doctor.Report, err error) {
	cfg, err := config.Load(setting.Tool, s.machine, c.settingTexts())
	if err != nil {
		return doctor.Report{}, err
	}
	resolver, err := dnsx.New(dnsx.Config{Server: config.DNSServer.Get(cfg), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return doctor.Report{}, err
	}
	params := checks.Params{Config: cfg, Resolver: resolver, Modules: app.ModuleNames(false)}
	before := c.settingFindings()
	if store.HasKeys(cfg) {
		if params.Box, err = store.Keys(cfg); err != nil {
			before = append(before, doctor.Finding{Check: "master_key", Level: doctor.Error, Found: err.Error(),
				Expected: "a valid master key", Do: "Check POSTRIDER_MASTER_KEY."})
		}
	}
	if params.DB, err = store.Peek(s.ctx, cfg); err != nil {
		found := doctor.UnusableFindings(err)
		if errors.Is(err, store.ErrNotRunning) {
			found[0].Level, found[0].Do = doctor.Skipped, "Start the service: its database is checked while it runs."
		}
		before = append(before, found...)
	} else {
		defer func() { err = errors.Join(err, params.DB.Close()) }()
	}
	d, err := checks.New(s.ctx, params)
	if err != nil { // for example because the database was never migrated
		before = append(before, doctor.Finding{Check: "database", Level: doctor.Error, Found: err.Error(),
			Expected: "the tables of Postrider", Do: "Start the service once, or run postrider migrate."})
	}
	seen := d.Run(s.ctx)
	report = doctor.Report{Records: seen.Records, Findings: []doctor.Finding{}}
	report.Add(before...)
	report.Add(seen.Findings...)
	return c.selectChecks(report)
}

// selectChecks returns the report without the checks that --only does not select.
func (c *doctorCommand) selectChecks(whole doctor.Report) (doctor.Report, error) {
	if len(c.Only) == 0 {
		return whole, nil
	}
	part := doctor.Report{Records: []doctor.RequiredRecord{}, Findings: []doctor.Finding{}}
	for _, word := range c.Only {
		some := slices.DeleteFunc(slices.Clone(whole.Findings),
			func(f doctor.Finding) bool { return f.Check != word && !strings.HasPrefix(f.Check, word+".") })
		if len(some) == 0 {
			return doctor.Report{}, fmt.Errorf("--only: no check starts with %q; the checks are %s", word,
				strings.Join(checkNames(whole), ", "))
		}
		part.Add(some...)
	}
	return part, nil
}

func checkNames(r doctor.Report) []string {
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Check)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// settingFindings returns the problems that prevent a service from starting with these settings.
func (c *doctorCommand) settingFindings() []doctor.Finding {
	_, err := config.Load(setting.Serve, "", c.settingTexts())
	var wrong setting.Mistakes
	if !errors.As(err, &wrong) {
		return []doctor.Finding{{Check: "settings", Found: "the settings are valid",
			Expected: "settings that a service can start with"}}
	}
	var all []doctor.Finding
	for _, m := range wrong {
		all = append(all, doctor.Finding{Check: "settings", Level: doctor.Error, Found: m.Setting + " " + m.Problem,
			Expected: "settings that a service can start with",
			Do:       "Run doctor with the same environment and flags as the service, and set " + m.Setting + "."})
	}
	return all
}
