package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/cmd/postrider/shown"
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/runtime/app/outgoing"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// parseResult is the result of parsing a command line.
type parseResult struct {
	line    commandLine
	command string
}

// parseArguments parses arguments without running the command.
func parseArguments(t *testing.T, args ...string) parseResult {
	t.Helper()
	var got parseResult
	command, err := got.line.parse(args, &session{out: io.Discard, log: io.Discard})
	if err != nil {
		t.Fatalf("parsing %q gave %v, want no error", args, err)
	}
	got.command = command.Command()
	return got
}

// runFailing runs arguments that must fail before anything is changed.
func runFailing(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	code = run(t.Context(), args, &out, &log)
	return code, out.String(), log.String()
}

// printValue returns what a command prints for a value.
func printValue(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	if err := (&session{out: &out}).print(value); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDevRunsInDevelopmentMode(t *testing.T) {
	t.Parallel()
	got := parseArguments(t, "dev", "--http-addr=127.0.0.1:0", "--ready-file", "/x/ready.json", "--mx-port", "2525",
		"--allow-public")
	cfg, err := config.Load(setting.Dev, "laptop", got.line.Dev.settingTexts())
	if err != nil || got.command != "dev" || cfg.Mode != setting.Dev || config.HTTPAddr.Get(cfg) != "127.0.0.1:0" ||
		outgoing.MXPort.Get(cfg) != 2525 || got.line.Dev.ReadyFile != "/x/ready.json" || config.Hostname.Get(cfg) == "" {
		t.Errorf("dev gave %v, %s %+v", err, got.command, cfg)
	}
	public := parseArguments(t, "dev", "--http-addr=:8080", "--allow-public")
	if _, err := config.Load(setting.Dev, "", public.line.Dev.settingTexts()); err != nil {
		t.Errorf("--allow-public gave %v, want no error", err)
	}
	if code, _, stderr := runFailing(t, "dev", "--http-addr=:8080", "--allow-public=false"); code != 2 {
		t.Errorf("--allow-public=false gave code %d, want 2: %s", code, stderr)
	}
}

func TestSettingPrecedence(t *testing.T) { //nolint:paralleltest // sets the environment
	file := filepath.Join(t.TempDir(), "postrider.yaml")
	if err := os.WriteFile(file,
		[]byte("mx_port: 1\nhostname: file.example.com\nlog_level: debug\nallow_public: true\nhttp_addr: ':80'\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("POSTRIDER_CONFIG", file)
	t.Setenv("POSTRIDER_MX_PORT", "2")
	t.Setenv("POSTRIDER_HOSTNAME", "env.example.com")
	t.Setenv("POSTRIDER_DNS", "")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
	cfg, err := config.Load(setting.Dev, "", parseArguments(t, "dev", "--mx-port=3").line.Dev.settingTexts())
	if err != nil {
		t.Fatal(err)
	}
	if outgoing.MXPort.Get(cfg) != 3 || config.Hostname.Get(cfg) != "env.example.com" || config.LogLevel.Get(cfg).
		String() != "DEBUG" ||
		config.HTTPAddr.Get(cfg) != ":80" || config.TraceEndpoint.Get(cfg) != "http://collector:4318" {
		t.Errorf("dev --mx-port=3 gave the configuration %+v", cfg)
	}
	t.Setenv("POSTRIDER_ALLOW_PUBLIC", "false")
	if code, _, _ := runFailing(t, "dev"); code != 2 {
		t.Errorf("allow_public of the file overrides the environment: code %d, want 2", code)
	}
}

func TestToolsHaveOnlyDatabaseSettings(t *testing.T) {
	t.Parallel()
	got := parseArguments(t, "migrate", "--database-url=postgres://u@h/d")
	cfg, err := got.line.Migrate.load()
	if err != nil || got.command != "migrate" || cfg.Mode != setting.Tool || config.DatabaseURL.Get(cfg).
		Reveal() != "postgres://u@h/d" {
		t.Errorf("migrate gave %v, %s %+v", err, got.command, cfg)
	}
	if code, _, stderr := runFailing(t, "migrate", "--mx-port=1"); code != 2 ||
		!strings.Contains(stderr, "unknown flag --mx-port") {
		t.Errorf("migrate --mx-port=1 gave code %d, want 2: %s", code, stderr)
	}
	if got := parseArguments(t, "openapi", "--format=yaml", "--modules=-x"); got.command != "openapi" ||
		got.line.OpenAPI.Format != "yaml" || got.line.OpenAPI.settingTexts()["POSTRIDER_MODULES"] != "-x" {
		t.Errorf("openapi gave %s %+v", got.command, got.line.OpenAPI)
	}
}

func TestPrintAccountsAndKeys(t *testing.T) {
	t.Parallel()
	create := parseArguments(t, "account", "create", "--email=a@example.com", "--name=A & B", "--plan=pro",
		"--unmetered").line.Admin.Account.Create
	want := "{\n  \"account\": {\n    \"id\": \"acc_1\",\n    \"name\": \"A & B\",\n    \"email\": \"a@example.com\",\n    \"plan\": \"pro\"\n  }\n}\n"
	if diff := cmp.Diff(want, printValue(t,
		createdAccount(&ent.Account{ID: "acc_1", Name: "A & B", Email: "a@example.com", PlanID: "pro"}))); diff != "" {
		t.Errorf("account create printed (-want +got):\n%s", diff)
	}
	if got := create.newAccount(setting.Values{}); !got.Unmetered || got.ProductionUnlocked || got.Plan != "pro" ||
		got.Name != "A & B" || got.Email != "a@example.com" {
		t.Errorf("account create would make %+v", got)
	}
	key := parseArguments(t, "key", "create", "--account=acc_1", "--name=ci", "--scope=sending",
		"--domain-id=dom_1,dom_2", "--expires-at=2027-01-31T00:00:00Z").line.Admin.Key.Create
	want = "{\n  \"api_key\": {\n    \"id\": \"key_1\",\n    \"name\": \"ci\",\n    \"scope\": \"sending\"\n  },\n  \"secret\": \"svc_secret\"\n}\n"
	if diff := cmp.Diff(want, printValue(t, createdKey("key_1", "svc_secret", &key))); diff != "" {
		t.Errorf("key create printed (-want +got):\n%s", diff)
	}
	if got := key.newKey("acc_1"); len(got.DomainIDs) != 2 || got.ExpiresAt == nil || got.ExpiresAt.Year() != 2027 ||
		got.AccountID != "acc_1" {
		t.Errorf("key create would make %+v", got)
	}
	plain := parseArguments(t, "key", "create", "--account=acc_1", "--name=ci").line.Admin.Key.Create
	if got := plain.newKey("acc_1"); got.ExpiresAt != nil || got.Scope != "full" {
		t.Errorf("key create without options would make %+v", got)
	}
}

func TestAccountUpdateChangesOnlyGivenFields(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]accounts.AccountChange{
		"--unlock":                               {ProductionUnlocked: new(true)},
		"--no-unlock --resume":                   {ProductionUnlocked: new(false), Suspended: new(false)},
		"--suspend --name=B --no-payment-method": {Suspended: new(true), Name: new("B"), PaymentMethod: new(false)},
		"--plan=pro --payment-method --body-retention=1 --record-retention=2": {Plan: new("pro"), PaymentMethod: new(true),
			BodyRetentionDays: new(1), RecordRetentionDays: new(2)},
	} {
		update := parseArguments(t, append([]string{"account", "update", "ada@example.com"},
			strings.Fields(args)...)...).line.Admin.Account.Update
		if diff := cmp.Diff(want, update.accountChange()); update.Account != "ada@example.com" || diff != "" {
			t.Errorf("account update %s of %q changes (-want +got):\n%s", args, update.Account, diff)
		}
	}
	if got := printValue(t,
		map[string][]shown.Account{"accounts": shown.List(nil, shown.AccountOf)}); got != "{\n  \"accounts\": []\n}\n" {
		t.Errorf("account list without accounts printed %s", got)
	}
	set := parseArguments(t, "plan", "set", "pool", "--included-emails=100000", "--monthly-emails=none",
		"--no-sandboxed").line.Admin.Plan.Set
	plan := set.PlanChange
	if !cmp.Equal(plan, plans.PlanChange{IncludedEmails: new(new(100_000)), MonthlyEmails: new((*int)(nil)),
		Sandboxed: new(false)}) {
		t.Errorf("plan set changes %+v", plan)
	}
	if got := parseArguments(t, "account", "show", "acc_1"); got.line.Admin.Account.Show.Account != "acc_1" {
		t.Errorf("account show acc_1 is about %q", got.line.Admin.Account.Show.Account)
	}
}

// Scripts choose the format of every command of a running Postrider in the same way.
func TestRemoteCommandsHaveFormats(t *testing.T) {
	t.Parallel()
	var line commandLine
	parser, err := line.newParser(&session{out: io.Discard, log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	other := []string{"listen", "mcp", "automation push", "automation pull", "automation list", "automation simulate",
		"templates export-strings"} // XLIFF
	seen := 0
	for _, command := range parser.Model.Leaves(true) {
		flags := map[string]bool{}
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				flags[flag.Name] = true
			}
		}
		name, _, _ := strings.Cut(command.Path(), " <")
		name = strings.TrimPrefix(name, "postrider ")
		if !flags["api-key"] || slices.Contains(other, name) {
			continue
		}
		seen++
		if !flags["quiet"] || !flags["json"] && !flags["format"] {
			t.Errorf("postrider %s has not both --json and --quiet", name)
		}
	}
	if seen < 30 {
		t.Errorf("%d commands use a running Postrider, want at least 30", seen)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	mistake := fmt.Errorf("select: %w", setting.Mistakes{{Setting: "POSTRIDER_MODULES", Problem: "is wrong"}})
	for _, test := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"dev --port 1", 2, "unknown flag --port"},
		{"dev extra", 2, "unexpected argument extra"},
		{"run", 2, "unexpected argument run"},
		{"", 2, "expected one of"},
		{"serve", 2, "2 settings are invalid"},
		{"account update a@example.com", 2, "no fields to update"},
		{"plan set pro", 2, "no fields to update"},
		{"plan set pro --daily-emails=many", 2, "must be a whole number or none"},
		{"plan set pro --max-domains=0", 2, "max_domains: must be between 1"},
		{"account create", 2, "missing flags: --email=ADDRESS, --name=NAME"},
		{"key create --account=a --name=n --scope=all", 2, `--scope must be one of "full","sending","read"`},
		{"key create --account=a --name=n --expires-at=soon", 2, "--expires-at"},
		{"openapi --format=xml", 2, "--format must be one of"},
		{"emails list --limit=-1", 2, "--limit: cannot be negative"},
		{"emails send --variable=a=b", 2, "--variable: requires --template"},
		{"events send user.created --data={", 2, "--data: must be a JSON object"},
		{"webhooks replay wh_1", 2, "--since: is required"},
	} {
		code, stdout, stderr := runFailing(t, strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(stderr, test.stderr) || (code != 0 && stdout != "") {
			t.Errorf("postrider %s: code %d\nstdout %s\nstderr %s", test.args, code, stdout, stderr)
		}
	}
	for _, test := range []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, 0, ""},
		{errors.New("database: no"), 1, "postrider: database: no\n"},
		{mistake, 2, "POSTRIDER_MODULES is wrong"},
	} {
		var stderr bytes.Buffer
		if code := reportError(&stderr, test.err); code != test.code ||
			!strings.Contains(stderr.String(), test.stderr) {
			t.Errorf("a command that failed with %v exited with code %d and printed %q, want %d and %q", test.err, code,
				stderr.String(), test.code, test.stderr)
		}
	}
}
