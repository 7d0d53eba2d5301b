package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	runtime "github.com/postrider/postrider/runtime/assembly"
	"github.com/postrider/postrider/runtime/config"
)

// call is what the command line made of its arguments.
type call struct {
	what      string
	cfg       config.Config
	readyFile string
	account   accountCreateCommand
	key       keyCreateCommand
	change    runtime.AccountChange
}

// saying runs the command line over an assembly that only listens.
func saying(t *testing.T, answer error, args ...string) (code int, got call, stdout, stderr string) {
	t.Helper()
	fake := assembly{
		run: func(_ *session, cfg config.Config, readyFile string) error {
			got = call{what: "run", cfg: cfg, readyFile: readyFile}
			return answer
		},
		migrate: func(_ *session, cfg config.Config) error { got = call{what: "migrate", cfg: cfg}; return answer },
		openAPI: func(cfg config.Config, format string) ([]byte, error) {
			got = call{what: "openapi " + format, cfg: cfg}
			return []byte("document\n"), answer
		},
		modules: func() string { return "table\n" },
		createAccount: func(_ *session, cfg config.Config, c *accountCreateCommand) (string, error) {
			got = call{what: "account", cfg: cfg, account: *c}
			return "acc_1", answer
		},
		listAccounts: func(_ *session, cfg config.Config) ([]runtime.AccountView, error) {
			got = call{what: "list", cfg: cfg}
			return []runtime.AccountView{}, answer
		},
		showAccount: func(_ *session, cfg config.Config, account string) (runtime.AccountView, error) {
			got = call{what: "show " + account, cfg: cfg}
			return runtime.AccountView{Email: account}, answer
		},
		updateAccount: func(_ *session, cfg config.Config, account string, c runtime.AccountChange) (runtime.AccountView, error) {
			got = call{what: "update " + account, cfg: cfg, change: c}
			return runtime.AccountView{Email: account}, answer
		},
		createKey: func(_ *session, cfg config.Config, c *keyCreateCommand) (string, string, error) {
			got = call{what: "key", cfg: cfg, key: *c}
			return "key_1", "svc_secret", answer
		},
	}
	var out, log bytes.Buffer
	code = run(context.Background(), args, &out, &log, fake)
	return code, got, out.String(), log.String()
}

func TestDevRunsInDevelopmentMode(t *testing.T) {
	t.Parallel()
	code, got, _, stderr := saying(t, nil, "dev", "--http-addr=127.0.0.1:0", "--ready-file", "/x/ready.json", "--mx-port", "2525", "--allow-public")
	if code != 0 || got.what != "run" || got.cfg.Mode != config.Dev || got.cfg.HTTP.Addr != "127.0.0.1:0" ||
		got.cfg.Mail.MXPort != 2525 || got.readyFile != "/x/ready.json" || got.cfg.Mail.Hostname == "" {
		t.Errorf("code %d, %+v, %s", code, got, stderr)
	}
	if code, _, _, _ := saying(t, nil, "dev", "--http-addr=:8080", "--allow-public"); code != 0 {
		t.Errorf("--allow-public: code %d", code)
	}
	if code, _, _, _ := saying(t, nil, "dev", "--http-addr=:8080", "--allow-public=false"); code != 2 {
		t.Errorf("--allow-public=false: code %d", code)
	}
}

func TestFlagsWinOverEnvironmentWinsOverFile(t *testing.T) { //nolint:paralleltest // sets the environment
	file := filepath.Join(t.TempDir(), "postrider.yaml")
	if err := os.WriteFile(file, []byte("mx_port: 1\nhostname: file.example.com\nlog_level: debug\nallow_public: true\nhttp_addr: ':80'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("POSTRIDER_CONFIG", file)
	t.Setenv("POSTRIDER_MX_PORT", "2")
	t.Setenv("POSTRIDER_HOSTNAME", "env.example.com")
	t.Setenv("POSTRIDER_DNS", "")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
	code, got, _, stderr := saying(t, nil, "dev", "--mx-port=3")
	if code != 0 {
		t.Fatalf("code %d: %s", code, stderr)
	}
	if got.cfg.Mail.MXPort != 3 || got.cfg.Mail.Hostname != "env.example.com" || got.cfg.Log.Level.String() != "DEBUG" ||
		got.cfg.HTTP.Addr != ":80" || got.cfg.Trace.Endpoint != "http://collector:4318" {
		t.Errorf("config %+v", got.cfg)
	}
	t.Setenv("POSTRIDER_ALLOW_PUBLIC", "false")
	if code, _, _, _ := saying(t, nil, "dev"); code != 2 {
		t.Errorf("the file's allow_public wins over the environment: code %d", code)
	}
}

func TestToolsTakeTheStoreOnly(t *testing.T) {
	t.Parallel()
	code, got, _, stderr := saying(t, nil, "migrate", "--database-url=postgres://u@h/d")
	if code != 0 || got.what != "migrate" || got.cfg.Mode != config.Tool || got.cfg.Database.URL.Reveal() != "postgres://u@h/d" {
		t.Errorf("code %d, %+v, %s", code, got, stderr)
	}
	if code, _, _, stderr := saying(t, nil, "migrate", "--mx-port=1"); code != 2 || !strings.Contains(stderr, "unknown flag --mx-port") {
		t.Errorf("code %d: %s", code, stderr)
	}
	if code, got, stdout, _ := saying(t, nil, "openapi", "--format=yaml", "--modules=-x"); code != 0 || got.what != "openapi yaml" ||
		got.cfg.Modules != "-x" || stdout != "document\n" {
		t.Errorf("code %d, %+v, %q", code, got, stdout)
	}
	if code, _, stdout, _ := saying(t, nil, "modules"); code != 0 || stdout != "table\n" {
		t.Errorf("code %d, %q", code, stdout)
	}
}

func TestAccountsAndKeysArePrintedAsJSON(t *testing.T) {
	t.Parallel()
	code, got, stdout, _ := saying(t, nil, "account", "create", "--email=a@example.com", "--name=A & B", "--plan=pro", "--unmetered")
	want := "{\n  \"account\": {\n    \"id\": \"acc_1\",\n    \"name\": \"A & B\",\n    \"email\": \"a@example.com\",\n    \"plan\": \"pro\"\n  }\n}\n"
	if diff := cmp.Diff(want, stdout); code != 0 || diff != "" || !got.account.Unmetered || got.account.ProductionUnlocked {
		t.Errorf("code %d, %+v (-want +got):\n%s", code, got.account, diff)
	}
	code, got, stdout, _ = saying(t, nil, "key", "create", "--account=acc_1", "--name=ci", "--scope=sending", "--domain-id=dom_1,dom_2", "--expires-at=2027-01-31T00:00:00Z")
	want = "{\n  \"api_key\": {\n    \"id\": \"key_1\",\n    \"name\": \"ci\",\n    \"scope\": \"sending\"\n  },\n  \"secret\": \"svc_secret\"\n}\n"
	if diff := cmp.Diff(want, stdout); code != 0 || diff != "" || len(got.key.DomainID) != 2 || got.key.ExpiresAt == nil || got.key.ExpiresAt.Year() != 2027 {
		t.Errorf("code %d, %+v (-want +got):\n%s", code, got.key, diff)
	}
	if _, got, _, _ := saying(t, nil, "key", "create", "--account=acc_1", "--name=ci"); got.key.ExpiresAt != nil || got.key.Scope != "full" {
		t.Errorf("defaults %+v", got.key)
	}
}

func TestAccountUpdateChangesOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]runtime.AccountChange{
		"--unlock":                               {ProductionUnlocked: new(true)},
		"--no-unlock --resume":                   {ProductionUnlocked: new(false), Suspended: new(false)},
		"--suspend --name=B --no-payment-method": {Suspended: new(true), Name: new("B"), PaymentMethod: new(false)},
		"--plan=pro --payment-method --body-retention=1 --record-retention=2": {Plan: new("pro"), PaymentMethod: new(true),
			BodyRetentionDays: new(1), RecordRetentionDays: new(2)},
	} {
		code, got, stdout, stderr := saying(t, nil, append([]string{"account", "update", "ada@example.com"}, strings.Fields(args)...)...)
		if diff := cmp.Diff(want, got.change); code != 0 || got.what != "update ada@example.com" || diff != "" || !strings.Contains(stdout, `"account": {`) {
			t.Errorf("%s: code %d, %s %s (-want +got):\n%s", args, code, got.what, stderr, diff)
		}
	}
	if code, got, stdout, _ := saying(t, nil, "account", "list"); code != 0 || got.what != "list" || stdout != "{\n  \"accounts\": []\n}\n" {
		t.Errorf("list: code %d, %s, %s", code, got.what, stdout)
	}
	if code, got, _, _ := saying(t, nil, "account", "show", "acc_1"); code != 0 || got.what != "show acc_1" {
		t.Errorf("show: code %d, %s", code, got.what)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	mistake := fmt.Errorf("select: %w", config.Mistakes{{Setting: "POSTRIDER_MODULES", Problem: "is wrong"}})
	for _, test := range []struct {
		answer error
		args   string
		code   int
		stderr string
	}{
		{nil, "dev", 0, ""},
		{errors.New("database: no"), "dev", 1, "postrider: database: no\n"},
		{mistake, "dev", 2, "POSTRIDER_MODULES is wrong"},
		{nil, "dev --port 1", 2, "unknown flag --port"},
		{nil, "dev extra", 2, "unexpected argument extra"},
		{nil, "run", 2, "unexpected argument run"},
		{nil, "", 2, "expected one of"},
		{nil, "serve", 2, "2 settings are wrong"},
		{nil, "account update a@example.com", 2, "nothing to update"},
		{nil, "account create", 2, "missing flags: --email=ADDRESS, --name=NAME"},
		{nil, "key create --account=a --name=n --scope=all", 2, `--scope must be one of "full","sending","read"`},
		{nil, "key create --account=a --name=n --expires-at=soon", 2, "--expires-at"},
		{nil, "openapi --format=xml", 2, "--format must be one of"},
	} {
		code, _, stdout, stderr := saying(t, test.answer, strings.Fields(test.args)...)
		if code != test.code || !strings.Contains(stderr, test.stderr) || (code != 0 && stdout != "") {
			t.Errorf("postrider %s: code %d\nstdout %s\nstderr %s", test.args, code, stdout, stderr)
		}
	}
}
