package config_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/blob"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
)

const masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// production is the least that serve takes.
func production() config.Settings {
	return config.Settings{BaseURL: "https://mail.example.com", MasterKey: masterKey, MachineName: "box7"}
}

// options lets cmp compare configurations by what they reveal.
var options = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b secret.Key) bool { return a.Setting().Equal(b.Setting()) }),
}

func TestDefaultsOfDevelopment(t *testing.T) {
	t.Parallel()
	got, err := config.Resolve(config.Dev, config.Settings{MachineName: "laptop"})
	want := config.Config{
		Mode: config.Dev, DataDir: "data",
		HTTP:    config.HTTP{Addr: "127.0.0.1:8080", BaseURL: "http://127.0.0.1:8080"},
		Process: config.Process{Node: "laptop"},
		Secrets: config.Secrets{KeyFile: "data/master.key"},
		Spool:   config.Spool{Dir: "data/spool", Bytes: 2 << 30},
		Mail:    config.Mail{Outbound: config.Outbound{How: config.Capture}, MXPort: 25, Hostname: "laptop", Concurrency: 128, InboundAddr: "127.0.0.1:2525"},
		Relay:   config.Relay{Addr: "127.0.0.1:2587", TLSAddr: "127.0.0.1:2465"},
		Names: config.Names{TrackingHost: "links.postrider.test", SandboxDomain: "sandbox.postrider.test", ReturnPathHost: "rp.postrider.test",
			SPFInclude: "spf.postrider.test", SMTPHost: "smtp.postrider.test"},
		Webhooks: config.Webhooks{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, PlainLoopback: true},
		Log:      config.Log{Format: telemetry.Text, Level: slog.LevelInfo},
	}
	if diff := cmp.Diff(want, got, options); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if !got.Database.Embedded() {
		t.Error("no embedded database")
	}
}

func TestDefaultsOfProduction(t *testing.T) {
	t.Parallel()
	got, err := config.Resolve(config.Serve, production())
	keys, keyErr := secret.ParseKeys(secret.New(masterKey))
	if keyErr != nil {
		t.Fatal(keyErr)
	}
	want := config.Config{
		Mode: config.Serve, DataDir: "/var/lib/postrider",
		HTTP:    config.HTTP{Addr: "127.0.0.1:8080", BaseURL: "https://mail.example.com"},
		Process: config.Process{Node: "box7"},
		Secrets: config.Secrets{Keys: keys},
		Spool:   config.Spool{Dir: "/var/lib/postrider/spool", Bytes: 2 << 30},
		Mail:    config.Mail{Outbound: config.Outbound{How: config.MX}, MXPort: 25, Hostname: "box7", Concurrency: 128, InboundAddr: ":25"},
		Relay:   config.Relay{Addr: ":587", TLSAddr: ":465"},
		Names: config.Names{TrackingHost: "mail.example.com", SandboxDomain: "sandbox.mail.example.com", ReturnPathHost: "rp.mail.example.com",
			SPFInclude: "spf.mail.example.com", SMTPHost: "smtp.mail.example.com"},
		Log: config.Log{Format: telemetry.JSON, Level: slog.LevelInfo},
	}
	if diff := cmp.Diff(want, got, options); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEverySettingArrives(t *testing.T) {
	t.Parallel()
	s := config.Settings{
		StoreSettings: config.StoreSettings{DatabaseURL: "postgres://u:p@db.example.com:6543/mail", DataDir: "/srv/x/", PostgresBin: "/pg/bin",
			PostgresFallback: "/pg/npm", UnsafeCommit: "true"},
		ModuleSettings: config.ModuleSettings{Modules: " -sending "},
		LogSettings:    config.LogSettings{LogFormat: "text", LogLevel: "DEBUG"},
		HTTPAddr:       ":0", AllowPublic: "1", BaseURL: "http://Bücher.example:8443/", TrustedProxies: "192.0.2.9",
		MasterKey: masterKey, Node: "api-1", DrainDelay: "5s",
		Outbound: "smtps://user%40x:p%2Fw@relay.example.com", MXPort: "2525", MXAllow: "10.1.2.3/8, 192.0.2.7,fd00::/8",
		Fallback: "smtp://relay.example.net",
		DNS:      "192.0.2.1", Hostname: "MX1.Example.com.", DeliveryConcurrency: "7", LanesFile: "/etc/lanes.txt",
		InboundAddr: "127.0.0.1:26", InboundProxies: "10.0.0.0/8",
		RelayAddr: "127.0.0.1:588", RelayTLSAddr: "127.0.0.1:466", RelayProxies: "10.0.0.0/8", SMTPTLSCert: "/tls/cert.pem", SMTPTLSKey: "/tls/key.pem",
		SandboxDomain: "try.example.com", ReturnPathHost: "b.example.com", SPFInclude: "s.example.com", SMTPHost: "relay.example.com",
		TrackingHost: "T.example.com", TrackingTLSAddr: ":8443", ACMEEmail: "ops@example.com", ACMECA: "https://ca.example/dir",
		OTLPEndpoint: "http://collector:4318", MachineName: "unused", WebhookAllow: "10.2.3.4",
		RspamdURL: "http://127.0.0.1:11333/", Blobs: "s3://KEY:se%2Fcret@store.example:9000/mail/received?region=eu-1&tls=off",
		SpoolDir: "/scratch", SpoolBytes: "1073741824",
	}
	got, err := config.Resolve(config.Dev, s)
	want := config.Config{
		Mode: config.Dev, DataDir: "/srv/x", Modules: "-sending",
		Database: config.Database{URL: secret.New("postgres://u:p@db.example.com:6543/mail"), PostgresBin: "/pg/bin", PostgresFallback: "/pg/npm",
			RiskLosingAcceptedMail: true},
		HTTP: config.HTTP{Addr: ":0", BaseURL: "http://xn--bcher-kva.example:8443",
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}},
		Process: config.Process{Node: "api-1", DrainDelay: 5 * time.Second},
		Secrets: config.Secrets{Keys: got.Secrets.Keys},
		Spool:   config.Spool{Dir: "/scratch", Bytes: 1 << 30},
		Mail: config.Mail{
			Outbound: config.Outbound{How: config.Smarthost, Host: "relay.example.com", Port: 465, ImplicitTLS: true, Username: "user@x", Password: secret.New("p/w")},
			Fallback: config.Outbound{How: config.Smarthost, Host: "relay.example.net", Port: 587},
			MXPort:   2525, MXAllow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("fd00::/8")},
			DNS: "192.0.2.1:53", Hostname: "mx1.example.com", Concurrency: 7, LanesFile: "/etc/lanes.txt",
			InboundAddr: "127.0.0.1:26", InboundGiven: true, InboundProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		Relay: config.Relay{Addr: "127.0.0.1:588", AddrGiven: true, TLSAddr: "127.0.0.1:466", TLSAddrGiven: true,
			Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, CertFile: "/tls/cert.pem", KeyFile: "/tls/key.pem"},
		Tracking: config.Tracking{TLSAddr: ":8443", CA: "https://ca.example/dir", Email: "ops@example.com"},
		Webhooks: config.Webhooks{Allow: []netip.Prefix{netip.MustParsePrefix("10.2.3.4/32")}, PlainLoopback: true},
		Inbound: config.Inbound{RspamdURL: "http://127.0.0.1:11333", Blobs: blob.Config{Endpoint: "store.example:9000", Plain: true, Region: "eu-1", Bucket: "mail", Prefix: "received",
			AccessKey: "KEY", SecretKey: secret.New("se/cret"), PathStyle: true}},
		Names: config.Names{TrackingHost: "t.example.com", SandboxDomain: "try.example.com", ReturnPathHost: "b.example.com", SPFInclude: "s.example.com", SMTPHost: "relay.example.com"},
		Log:   config.Log{Format: telemetry.Text, Level: slog.LevelDebug},
		Trace: config.Trace{Endpoint: "http://collector:4318"},
	}
	if diff := cmp.Diff(want, got, options); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if len(got.Secrets.Keys) != 1 {
		t.Errorf("%d keys", len(got.Secrets.Keys))
	}
}

// mistaken is the settings named by the error, in its order.
func mistaken(t *testing.T, err error) []string {
	t.Helper()
	var all config.Mistakes
	if err == nil {
		return nil
	}
	if !errors.As(err, &all) {
		t.Fatalf("error %v (%T) is no Mistakes", err, err)
	}
	var settings []string
	for _, m := range all {
		if !strings.Contains(err.Error(), m.Setting+" "+m.Problem) {
			t.Errorf("the text leaves out %v:\n%s", m, err)
		}
		settings = append(settings, m.Setting)
	}
	return settings
}

func TestServeSaysEverythingThatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := config.Resolve(config.Serve, config.Settings{})
	got := mistaken(t, err)
	if diff := cmp.Diff([]string{"POSTRIDER_BASE_URL", "POSTRIDER_MASTER_KEY"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(err.Error(), "2 settings are wrong:\n") {
		t.Errorf("text %q", err)
	}
	if _, err := config.Resolve(config.Tool, config.Settings{}); err != nil {
		t.Errorf("a command that ends by itself: %v", err)
	}
}

func TestEveryMistakeIsReportedAtOnceAndNoSecretIsShown(t *testing.T) {
	t.Parallel()
	s := config.Settings{
		StoreSettings: config.StoreSettings{DatabaseURL: "postgres://u:hush@host:99999999/x", UnsafeCommit: "perhaps"},
		LogSettings:   config.LogSettings{LogFormat: "xml", LogLevel: "loud"},
		HTTPAddr:      "8080", AllowPublic: "maybe", BaseURL: "ftp://x", MasterKey: "hush,hush",
		Outbound: "smtp://user:hush@:25:25", MXPort: "0", MXAllow: "10.0.0.0/8,10.0.0.0/99,x", DNS: "dns.example.com:53", Hostname: "a_b",
		DeliveryConcurrency: "-1", InboundAddr: "25", InboundProxies: "x", SandboxDomain: "..", ReturnPathHost: "a b", SPFInclude: "1.2.3.4", SMTPHost: strings.Repeat("a", 64),
		OTLPEndpoint: "localhost:4317", RspamdURL: "127.0.0.1:11333", Blobs: "s3://KEY:hush@store.example",
	}
	_, err := config.Resolve(config.Serve, s)
	got := mistaken(t, err)
	slices.Sort(got)
	want := []string{"DATABASE_URL", "POSTRIDER_ALLOW_PUBLIC", "POSTRIDER_BASE_URL", "POSTRIDER_BLOBS", "POSTRIDER_DELIVERY_CONCURRENCY", "POSTRIDER_DNS", "POSTRIDER_HOSTNAME",
		"POSTRIDER_HTTP_ADDR", "POSTRIDER_INBOUND_ADDR", "POSTRIDER_INBOUND_PROXIES", "POSTRIDER_LOG_FORMAT", "POSTRIDER_LOG_LEVEL", "POSTRIDER_MASTER_KEY", "POSTRIDER_MX_ALLOW", "POSTRIDER_MX_ALLOW", "POSTRIDER_MX_PORT",
		"POSTRIDER_OTLP_ENDPOINT", "POSTRIDER_OUTBOUND", "POSTRIDER_RETURN_PATH_HOST", "POSTRIDER_RSPAMD_URL", "POSTRIDER_SANDBOX_DOMAIN", "POSTRIDER_SMTP_HOST",
		"POSTRIDER_SPF_INCLUDE", "POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the mistakes show a secret:\n%v", err)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode   config.Mode
		change func(s *config.Settings)
		want   string // part of the text
	}{
		"capture in production": {config.Serve, func(s *config.Settings) { s.Outbound = "capture" }, "POSTRIDER_OUTBOUND is capture"},
		"dev on all addresses":  {config.Dev, func(s *config.Settings) { s.HTTPAddr = ":8080" }, "--allow-public"},
		"dev on 0.0.0.0":        {config.Dev, func(s *config.Settings) { s.HTTPAddr = "0.0.0.0:8080" }, "--allow-public"},
		"dev on a name":         {config.Dev, func(s *config.Settings) { s.HTTPAddr = "mail.example.com:8080" }, "--allow-public"},
		"dev on the LAN":        {config.Dev, func(s *config.Settings) { s.HTTPAddr = "192.168.1.5:80"; s.AllowPublic = "false" }, "--allow-public"},
		"dev, relay for all":    {config.Dev, func(s *config.Settings) { s.RelayAddr = ":587" }, "POSTRIDER_RELAY_ADDR is"},
		"a certificate alone":   {config.Serve, func(s *config.Settings) { s.SMTPTLSCert = "cert.pem" }, "POSTRIDER_SMTP_TLS_KEY go together"},
		"dev, mail from all":    {config.Dev, func(s *config.Settings) { s.InboundAddr = ":25" }, "POSTRIDER_INBOUND_ADDR is"},
		"port too high":         {config.Serve, func(s *config.Settings) { s.HTTPAddr = ":65536" }, `port "65536"`},
		"port by name":          {config.Serve, func(s *config.Settings) { s.HTTPAddr = ":http" }, `port "http"`},
		"base URL with a path":  {config.Serve, func(s *config.Settings) { s.BaseURL += "/mail" }, "more than scheme, host and port"},
		"base URL with a user":  {config.Serve, func(s *config.Settings) { s.BaseURL = "https://u:p@example.com" }, "more than scheme"},
		"base URL on an address": {config.Serve, func(s *config.Settings) { s.BaseURL = "https://192.0.2.1" },
			"POSTRIDER_SANDBOX_DOMAIN is required: the base URL's host 192.0.2.1"},
		"smarthost with a path":     {config.Serve, func(s *config.Settings) { s.Outbound = "smtp://h/x" }, "after host and port"},
		"smarthost without host":    {config.Serve, func(s *config.Settings) { s.Outbound = "smtp://" }, "POSTRIDER_OUTBOUND has"},
		"smarthost, half a login":   {config.Serve, func(s *config.Settings) { s.Outbound = "smtp://u@h" }, "user name without a password"},
		"smarthost port":            {config.Serve, func(s *config.Settings) { s.Outbound = "smtp://h:0" }, "want a number from 1"},
		"fallback that is none":     {config.Serve, func(s *config.Settings) { s.Fallback = "mx" }, "POSTRIDER_FALLBACK is no smtp://"},
		"fallback, half a login":    {config.Serve, func(s *config.Settings) { s.Fallback = "smtp://u@h" }, "POSTRIDER_FALLBACK has a user name without a password"},
		"another way out":           {config.Serve, func(s *config.Settings) { s.Outbound = "https://h" }, "none of mx, capture"},
		"a key twice":               {config.Serve, func(s *config.Settings) { s.MasterKey += "," + masterKey }, "key 2 is key 1 again"},
		"DNS server on port 0":      {config.Serve, func(s *config.Settings) { s.DNS = "127.0.0.1:0" }, "POSTRIDER_DNS"},
		"a node with a space":       {config.Serve, func(s *config.Settings) { s.Node = "box 7" }, `POSTRIDER_NODE is "box 7"`},
		"a drain beyond the stop":   {config.Serve, func(s *config.Settings) { s.DrainDelay = "16s" }, "from 0 to 15s"},
		"a drain before it":         {config.Serve, func(s *config.Settings) { s.DrainDelay = "-1" }, "from 0 to 15s"},
		"a drain of no time":        {config.Serve, func(s *config.Settings) { s.DrainDelay = "soon" }, "POSTRIDER_DRAIN_DELAY"},
		"production names, no host": {config.Serve, func(s *config.Settings) { s.BaseURL = "https://localhost" }, "POSTRIDER_RETURN_PATH_HOST is required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := production()
			test.change(&s)
			if _, err := config.Resolve(test.mode, s); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestDevelopmentAddresses(t *testing.T) {
	t.Parallel()
	for addr, base := range map[string]string{
		"127.0.0.1:0": "", "localhost:9": "http://localhost:9", "[::1]:8080": "http://[::1]:8080", "127.9.9.9:1": "http://127.9.9.9:1",
	} {
		got, err := config.Resolve(config.Dev, config.Settings{HTTPAddr: addr})
		if err != nil || got.HTTP.BaseURL != base || got.HTTP.Addr != addr {
			t.Errorf("%s: %v, %v, want base URL %q", addr, got.HTTP, err, base)
		}
	}
	got, err := config.Resolve(config.Dev, config.Settings{HTTPAddr: ":8080", AllowPublic: "true"})
	if err != nil || got.HTTP.BaseURL != "http://127.0.0.1:8080" {
		t.Errorf("public on purpose: %v, %v", got.HTTP, err)
	}
}

func TestEffectiveValuesAreLoggedWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"postgres://app:hush@db.example.com:6543/mail?sslpassword=hush", "host=db.example.com port=6543 user=app password=hush dbname=mail"} {
		s := production()
		s.Fallback = "smtp://fallbackuser:hush@fallback.example.com"
		s.DatabaseURL, s.Outbound, s.OTLPEndpoint = database, "smtp://relayuser:hush@relay.example.com", "https://k:hush@otel.example.com"
		cfg, err := config.Resolve(config.Serve, s)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("started", "config", cfg)
		printed := out.String() + fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg)
		for _, leak := range []string{"hush", masterKey, masterKey[:20]} {
			if strings.Contains(strings.ReplaceAll(printed, `https://k:hush@otel`, ""), leak) {
				t.Errorf("shows %q:\n%s", leak, printed)
			}
		}
		for _, part := range []string{"config.mode=serve", "config.database.host=db.example.com", "config.database.port=6543", "config.database.name=mail",
			"config.database.user=app", "config.mail.outbound.host=relay.example.com", "config.mail.outbound.username=relayuser", "config.mail.fallback.host=fallback.example.com",
			"config.secrets.keys=1", "config.http.base_url=https://mail.example.com", "config.trace.endpoint=https://k:xxxxx@otel.example.com"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("lacks %s:\n%s", part, out.String())
			}
		}
	}
}

func TestFileFillsWhatWasNotGivenOtherwise(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postrider.yaml")
	write(t, path, `# production
base_url: https://mail.example.com
master_key: [`+masterKey+`]
mx_port: 2525
mx_allow:
  - 10.0.0.0/8
  - 192.0.2.0/24
log_level: warn
dns: ~
allow_public: true
`)
	cfg, err := config.Load(config.Serve, config.Settings{StoreSettings: config.StoreSettings{ConfigFile: path}, LogSettings: config.LogSettings{LogLevel: "error"}})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Mail.MXPort != 2525 || len(cfg.Mail.MXAllow) != 2 || len(cfg.Secrets.Keys) != 1 || cfg.HTTP.BaseURL != "https://mail.example.com" {
		t.Errorf("config %+v", cfg)
	}
	if cfg.Log.Level != slog.LevelError {
		t.Errorf("the file wins over a flag: level %s", cfg.Log.Level)
	}
}

func TestMistakesOfTheFileComeWithTheOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postrider.yaml")
	load := func(content string) error {
		write(t, path, content)
		_, err := config.Load(config.Serve, config.Settings{StoreSettings: config.StoreSettings{ConfigFile: path}, BaseURL: "https://example.com"})
		return err
	}
	for content, want := range map[string][]string{
		"":                                  {"POSTRIDER_MASTER_KEY"},
		"# nothing\n":                       {"POSTRIDER_MASTER_KEY"},
		"base-url: x\nhttp_adr: y\n":        {path + ":1: base-url", path + ":2: http_adr", "POSTRIDER_MASTER_KEY"},
		"mx_port: 1\nmx_port: 2\n":          {path + ":2: mx_port", "POSTRIDER_MASTER_KEY"},
		"mx_port: {a: 1}\ndns: [[x]]\n":     {path + ":1: mx_port", path + ":2: dns", "POSTRIDER_MASTER_KEY"},
		"config: other.yaml\nmx_port: no\n": {path + ":1: config", "POSTRIDER_MX_PORT", "POSTRIDER_MASTER_KEY"},
		"- a\n":                             {path, "POSTRIDER_MASTER_KEY"},
		"a: [":                              {path, "POSTRIDER_MASTER_KEY"},
		"\x00":                              {path, "POSTRIDER_MASTER_KEY"},
	} {
		if diff := cmp.Diff(want, mistaken(t, load(content))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", content, diff)
		}
	}
	_, err := config.Load(config.Dev, config.Settings{StoreSettings: config.StoreSettings{ConfigFile: path + ".none"}, HTTPAddr: "x"})
	if diff := cmp.Diff([]string{"POSTRIDER_CONFIG", "POSTRIDER_HTTP_ADDR"}, mistaken(t, err)); diff != "" {
		t.Errorf("missing file (-want +got):\n%s", diff)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestModulesAreChosenByListOrByMinus(t *testing.T) {
	t.Parallel()
	known := []string{"accounts", "domains", "sending", "inbound"}
	for spec, want := range map[string][]string{
		"":                      known,
		" , ":                   known,
		"-inbound":              {"accounts", "domains", "sending"},
		" - Inbound , -sending": {"accounts", "domains"},
		"sending,accounts":      {"accounts", "sending"},
		"inbound,inbound":       {"inbound"},
	} {
		got, err := config.ParseModules(spec, known)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", spec, err, diff)
		}
	}
	for spec, want := range map[string]string{
		"-inbond,-x":        `has "-inbond", which is no module; there are accounts, domains, sending, inbound`,
		"sending,-inbound":  "mixes modules to run (sending) and modules to switch off (-inbound)",
		"all":               `has "all"`,
		"-inbound,-,-x,dom": `has "dom"`,
	} {
		if got, err := config.ParseModules(spec, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q = %v, %v, want %q", spec, got, err, want)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("smtp://u:p@h:25", "127.0.0.1:80", "https://x.example", "10.0.0.0/8", "a: b")
	f.Add("mx", "[::1]:0", "http://[::1]:8", "fd00::", "modules: [a, b]")
	f.Fuzz(func(t *testing.T, outbound, addr, base, allow, file string) {
		s := config.Settings{Outbound: outbound, HTTPAddr: addr, BaseURL: base, MXAllow: allow, MasterKey: masterKey}
		wrong := s.Fill("f", []byte(file))
		cfg, err := config.Resolve(config.Serve, s)
		if err != nil {
			return
		}
		if cfg.HTTP.BaseURL == "" || strings.HasSuffix(cfg.HTTP.BaseURL, "/") || cfg.Mail.Outbound.How == config.Capture {
			t.Errorf("settings with the errors %v resolve to %+v, want a base URL without a slash at its end, and no capture", wrong, cfg)
		}
	})
}
