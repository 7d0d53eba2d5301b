package app_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/app/outgoing"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/web/egress"
)

const masterKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// productionSettings are the minimum settings of serve.
func productionSettings() setting.RawValues {
	return setting.RawValues{"POSTRIDER_BASE_URL": "https://mail.example.com", "POSTRIDER_MASTER_KEY": masterKey}
}

// sameValues lets cmp compare secrets by their contents.
var sameValues = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b secret.Key) bool { return a.Setting().Equal(b.Setting()) }),
}

// effectiveValues are the values that the parts of the program read.
func effectiveValues(v setting.Values) map[string]any {
	return map[string]any{
		"DATABASE_URL": config.DatabaseURL.Get(v), "POSTRIDER_DATA_DIR": config.DataDir.Get(v), "POSTRIDER_POSTGRES_BIN": config.PostgresBin.Get(v),
		"POSTRIDER_POSTGRES_FALLBACK": config.PostgresFallback.Get(v), "POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL": config.RiskLosingAcceptedMail.Get(v),
		"POSTRIDER_SPOOL_DIR": config.SpoolDir.Get(v), "POSTRIDER_SPOOL_BYTES": config.SpoolBytes.Get(v), "POSTRIDER_MASTER_KEY": config.MasterKey.Get(v),
		"POSTRIDER_HTTP_ADDR": config.HTTPAddr.Get(v), "POSTRIDER_ALLOW_PUBLIC": config.AllowPublic.Get(v), "POSTRIDER_BASE_URL": config.BaseURL.Get(v),
		"POSTRIDER_TRUSTED_PROXIES": config.TrustedProxies.Get(v), "POSTRIDER_NODE": config.Node.Get(v),
		"POSTRIDER_CELL": config.Cell.Get(v), "POSTRIDER_CELLS": config.Cells.Get(v), "POSTRIDER_CELLS_KEY": config.CellsKey.Get(v),
		"POSTRIDER_EGRESS": config.Egress.Get(v), "POSTRIDER_DRAIN_DELAY": config.DrainDelay.Get(v),
		"POSTRIDER_MODULES": config.Modules.Get(v), "POSTRIDER_DNS": config.DNSServer.Get(v), "POSTRIDER_HOSTNAME": config.Hostname.Get(v),
		"POSTRIDER_DELIVERY_CONCURRENCY": config.DeliveryConcurrency.Get(v),
		"POSTRIDER_OUTBOUND":             outbound.MainExit.Get(v), "POSTRIDER_FALLBACK": outbound.FallbackExit.Get(v),
		"POSTRIDER_MX_PORT": outgoing.MXPort.Get(v), "POSTRIDER_MX_ALLOW": outgoing.MXAllow.Get(v), "POSTRIDER_LANES_FILE": outgoing.LanesFile.Get(v),
		"POSTRIDER_INBOUND_ADDR": listeners.InboundAddr.Get(v), "POSTRIDER_INBOUND_PROXIES": listeners.InboundProxies.Get(v),
		"POSTRIDER_RELAY_ADDR": relay.Addr.Get(v), "POSTRIDER_RELAY_TLS_ADDR": relay.TLSAddr.Get(v), "POSTRIDER_RELAY_PROXIES": relay.Proxies.Get(v),
		"POSTRIDER_SMTP_TLS_CERT": listeners.CertFile.Get(v), "POSTRIDER_SMTP_TLS_KEY": listeners.KeyFile.Get(v),
		"POSTRIDER_SANDBOX_DOMAIN":   config.SandboxDomain.Get(v),
		"POSTRIDER_RETURN_PATH_HOST": config.ReturnPathHost.Get(v), "POSTRIDER_SPF_INCLUDE": config.SPFInclude.Get(v),
		"POSTRIDER_SMTP_HOST": config.SMTPHost.Get(v), "POSTRIDER_TRACKING_HOST": config.TrackingHost.Get(v),
		"POSTRIDER_OWN_TARGETS":       config.OwnTargets.Get(v),
		"POSTRIDER_TRACKING_TLS_ADDR": tracking.TLSAddr.Get(v), "POSTRIDER_ACME_CA": tracking.ACMECA.Get(v), "POSTRIDER_ACME_EMAIL": tracking.ACMEEmail.Get(v),
		"POSTRIDER_WEBHOOK_ALLOW": egress.Allow.Get(v), "POSTRIDER_RSPAMD_URL": inbound.RspamdURL.Get(v),
		"POSTRIDER_BLOBS": blob.StoreURL.Get(v), "POSTRIDER_BLOBS_SENT_AFTER": bodies.SentAfter.Get(v),
		"POSTRIDER_LOG_FORMAT": config.LogFormat.Get(v), "POSTRIDER_LOG_LEVEL": config.LogLevel.Get(v), "POSTRIDER_OTLP_ENDPOINT": config.TraceEndpoint.Get(v),
	}
}

// defaultValues are the values that are the same in all modes, with the given replacements.
func defaultValues(others map[string]any) map[string]any {
	var none []netip.Prefix
	want := map[string]any{
		"DATABASE_URL": secret.String{}, "POSTRIDER_POSTGRES_BIN": "", "POSTRIDER_POSTGRES_FALLBACK": "", "POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL": false,
		"POSTRIDER_SPOOL_BYTES": 2 << 30, "POSTRIDER_MASTER_KEY": []secret.Key(nil), "POSTRIDER_HTTP_ADDR": "127.0.0.1:8080", "POSTRIDER_ALLOW_PUBLIC": false,
		"POSTRIDER_TRUSTED_PROXIES": none, "POSTRIDER_DRAIN_DELAY": time.Duration(0), "POSTRIDER_MODULES": "", "POSTRIDER_DNS": "",
		"POSTRIDER_DELIVERY_CONCURRENCY": 128, "POSTRIDER_FALLBACK": outbound.Exit{}, "POSTRIDER_MX_PORT": 25,
		"POSTRIDER_MX_ALLOW": none, "POSTRIDER_LANES_FILE": "",
		"POSTRIDER_INBOUND_PROXIES": none, "POSTRIDER_RELAY_PROXIES": none, "POSTRIDER_SMTP_TLS_CERT": "", "POSTRIDER_SMTP_TLS_KEY": "",
		"POSTRIDER_TRACKING_TLS_ADDR": "", "POSTRIDER_ACME_CA": "https://acme-v02.api.letsencrypt.org/directory", "POSTRIDER_ACME_EMAIL": "",
		"POSTRIDER_WEBHOOK_ALLOW": none, "POSTRIDER_RSPAMD_URL": "", "POSTRIDER_BLOBS": blob.Config{},
		"POSTRIDER_BLOBS_SENT_AFTER": time.Duration(0), "POSTRIDER_LOG_LEVEL": slog.LevelInfo, "POSTRIDER_OTLP_ENDPOINT": "",
		"POSTRIDER_OWN_TARGETS": false, "POSTRIDER_CELL": 0, "POSTRIDER_CELLS": []string(nil), "POSTRIDER_CELLS_KEY": []secret.Key(nil),
	}
	maps.Copy(want, others)
	return want
}

func TestDefaultsOfDevelopment(t *testing.T) {
	t.Parallel()
	got, err := config.Load(setting.Dev, "laptop", nil)
	want := defaultValues(map[string]any{
		"POSTRIDER_DATA_DIR": "data", "POSTRIDER_SPOOL_DIR": "data/spool",
		"POSTRIDER_BASE_URL": "http://127.0.0.1:8080", "POSTRIDER_NODE": "laptop", "POSTRIDER_EGRESS": "laptop",
		"POSTRIDER_HOSTNAME": "laptop", "POSTRIDER_OUTBOUND": outbound.Exit{How: outbound.Capture}, "POSTRIDER_INBOUND_ADDR": "127.0.0.1:2525",
		"POSTRIDER_RELAY_ADDR": "127.0.0.1:2587", "POSTRIDER_RELAY_TLS_ADDR": "127.0.0.1:2465", "POSTRIDER_TRACKING_HOST": "links.postrider.test",
		"POSTRIDER_SANDBOX_DOMAIN": "sandbox.postrider.test", "POSTRIDER_RETURN_PATH_HOST": "rp.postrider.test", "POSTRIDER_SPF_INCLUDE": "spf.postrider.test",
		"POSTRIDER_SMTP_HOST": "smtp.postrider.test", "POSTRIDER_LOG_FORMAT": telemetry.Text,
		"POSTRIDER_WEBHOOK_ALLOW": []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
	})
	if diff := cmp.Diff(want, effectiveValues(got), sameValues); err != nil || diff != "" {
		t.Errorf("development without settings: error %v, values differ (-want +got):\n%s", err, diff)
	}
	if !config.IsEmbedded(got) {
		t.Error("without settings development has no embedded database")
	}
}

func TestDefaultsOfProduction(t *testing.T) {
	t.Parallel()
	got, err := config.Load(setting.Serve, "box7", productionSettings())
	keys, keyErr := secret.ParseKeys(secret.New(masterKey))
	if keyErr != nil {
		t.Fatal(keyErr)
	}
	want := defaultValues(map[string]any{
		"POSTRIDER_DATA_DIR": "/var/lib/postrider", "POSTRIDER_SPOOL_DIR": "/var/lib/postrider/spool", "POSTRIDER_BASE_URL": "https://mail.example.com",
		"POSTRIDER_NODE": "box7", "POSTRIDER_EGRESS": "box7", "POSTRIDER_HOSTNAME": "mail.example.com",
		"POSTRIDER_ACME_EMAIL": "postmaster@mail.example.com",
		"POSTRIDER_MASTER_KEY": keys, "POSTRIDER_OUTBOUND": outbound.Exit{How: outbound.MX},
		"POSTRIDER_INBOUND_ADDR": ":25", "POSTRIDER_RELAY_ADDR": ":587", "POSTRIDER_RELAY_TLS_ADDR": ":465", "POSTRIDER_TRACKING_HOST": "mail.example.com",
		"POSTRIDER_SANDBOX_DOMAIN": "sandbox.mail.example.com", "POSTRIDER_RETURN_PATH_HOST": "rp.mail.example.com",
		"POSTRIDER_SPF_INCLUDE": "spf.mail.example.com",
		"POSTRIDER_SMTP_HOST":   "smtp.mail.example.com", "POSTRIDER_LOG_FORMAT": telemetry.JSON,
	})
	if diff := cmp.Diff(want, effectiveValues(got), sameValues); err != nil || diff != "" {
		t.Errorf("production with the minimum settings: error %v, values differ (-want +got):\n%s", err, diff)
	}
}

func TestEverySettingTakesEffect(t *testing.T) {
	t.Parallel()
	ranges := func(texts ...string) (all []netip.Prefix) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	keys, err := secret.ParseKeys(secret.New(masterKey))
	if err != nil {
		t.Fatal(err)
	}
	given := setting.RawValues{}
	want := map[string]any{}
	for name, s := range map[string]struct {
		text string
		want any
	}{
		"DATABASE_URL":                            {"postgres://u:p@db.example.com:6543/mail", secret.New("postgres://u:p@db.example.com:6543/mail")},
		"POSTRIDER_DATA_DIR":                      {"/srv/x/", "/srv/x"},
		"POSTRIDER_POSTGRES_BIN":                  {"/pg/bin", "/pg/bin"},
		"POSTRIDER_POSTGRES_FALLBACK":             {"/pg/npm", "/pg/npm"},
		"POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL": {"true", true},
		"POSTRIDER_MODULES":                       {" -sending ", "-sending"},
		"POSTRIDER_LOG_FORMAT":                    {"text", telemetry.Text},
		"POSTRIDER_LOG_LEVEL":                     {"DEBUG", slog.LevelDebug},
		"POSTRIDER_HTTP_ADDR":                     {":0", ":0"},
		"POSTRIDER_ALLOW_PUBLIC":                  {"1", true},
		"POSTRIDER_BASE_URL":                      {"http://Bücher.example:8443/", "http://xn--bcher-kva.example:8443"},
		"POSTRIDER_TRUSTED_PROXIES":               {"192.0.2.9", ranges("192.0.2.9/32")},
		"POSTRIDER_NODE":                          {"api-1", "api-1"},
		"POSTRIDER_EGRESS":                        {"office", "office"},
		"POSTRIDER_CELL":                          {"1023", 1023},
		"POSTRIDER_CELLS":                         {"https://A.example/, http://b.example:8080", []string{"https://a.example", "http://b.example:8080"}},
		"POSTRIDER_CELLS_KEY":                     {masterKey, keys},
		"POSTRIDER_OWN_TARGETS":                   {"true", true},
		"POSTRIDER_DRAIN_DELAY":                   {"5s", 5 * time.Second},
		"POSTRIDER_OUTBOUND": {"smtps://user%40x:p%2Fw@relay.example.com",
			outbound.Exit{How: outbound.Smarthost, Host: "relay.example.com", Port: 465, ImplicitTLS: true,
				Username: "user@x", Password: secret.New("p/w")}},
		"POSTRIDER_MX_PORT":              {"2525", 2525},
		"POSTRIDER_MX_ALLOW":             {"10.1.2.3/8, 192.0.2.7,fd00::/8", ranges("10.0.0.0/8", "192.0.2.7/32", "fd00::/8")},
		"POSTRIDER_FALLBACK":             {"smtp://relay.example.net", outbound.Exit{How: outbound.Smarthost, Host: "relay.example.net", Port: 587}},
		"POSTRIDER_DNS":                  {"192.0.2.1", "192.0.2.1:53"},
		"POSTRIDER_HOSTNAME":             {"MX1.Example.com.", "mx1.example.com"},
		"POSTRIDER_DELIVERY_CONCURRENCY": {"7", 7},
		"POSTRIDER_LANES_FILE":           {"/etc/lanes.txt", "/etc/lanes.txt"},
		"POSTRIDER_INBOUND_ADDR":         {"127.0.0.1:26", "127.0.0.1:26"},
		"POSTRIDER_INBOUND_PROXIES":      {"10.0.0.0/8", ranges("10.0.0.0/8")},
		"POSTRIDER_RELAY_ADDR":           {"127.0.0.1:588", "127.0.0.1:588"},
		"POSTRIDER_RELAY_TLS_ADDR":       {"127.0.0.1:466", "127.0.0.1:466"},
		"POSTRIDER_RELAY_PROXIES":        {"10.0.0.0/8", ranges("10.0.0.0/8")},
		"POSTRIDER_SMTP_TLS_CERT":        {"/tls/cert.pem", "/tls/cert.pem"},
		"POSTRIDER_SMTP_TLS_KEY":         {"/tls/key.pem", "/tls/key.pem"},
		"POSTRIDER_SANDBOX_DOMAIN":       {"try.example.com", "try.example.com"},
		"POSTRIDER_RETURN_PATH_HOST":     {"b.example.com", "b.example.com"},
		"POSTRIDER_SPF_INCLUDE":          {"s.example.com", "s.example.com"},
		"POSTRIDER_SMTP_HOST":            {"relay.example.com", "relay.example.com"},
		"POSTRIDER_TRACKING_HOST":        {"T.example.com", "t.example.com"},
		"POSTRIDER_TRACKING_TLS_ADDR":    {":8443", ":8443"},
		"POSTRIDER_ACME_EMAIL":           {"ops@example.com", "ops@example.com"},
		"POSTRIDER_ACME_CA":              {"https://ca.example/dir", "https://ca.example/dir"},
		"POSTRIDER_OTLP_ENDPOINT":        {"http://collector:4318", "http://collector:4318"},
		"POSTRIDER_WEBHOOK_ALLOW":        {"10.2.3.4", ranges("10.2.3.4/32")},
		"POSTRIDER_RSPAMD_URL":           {"http://127.0.0.1:11333/", "http://127.0.0.1:11333"},
		"POSTRIDER_BLOBS": {"s3://KEY:se%2Fcret@store.example:9000/mail/received?region=eu-1&tls=off",
			blob.Config{Endpoint: "store.example:9000", Plain: true, Region: "eu-1", Bucket: "mail", Prefix: "received",
				AccessKey: "KEY", SecretKey: secret.New("se/cret"), PathStyle: true}},
		"POSTRIDER_BLOBS_SENT_AFTER": {"1h", time.Hour},
		"POSTRIDER_SPOOL_DIR":        {"/scratch", "/scratch"},
		"POSTRIDER_SPOOL_BYTES":      {"1073741824", 1 << 30},
		"POSTRIDER_MASTER_KEY":       {masterKey, keys},
	} {
		given[name], want[name] = s.text, s.want
	}
	got, err := config.Load(setting.Dev, "unused", given)
	if diff := cmp.Diff(want, effectiveValues(got), sameValues); err != nil || diff != "" {
		t.Errorf("error %v, values differ (-want +got):\n%s", err, diff)
	}
}

// mistakenSettings returns the settings named by the error, in its order.
func mistakenSettings(t *testing.T, err error) []string {
	t.Helper()
	var all setting.Mistakes
	if err == nil {
		return nil
	}
	if !errors.As(err, &all) {
		t.Fatalf("error %v has type %T, want Mistakes", err, err)
	}
	var settings []string
	for _, m := range all {
		if !strings.Contains(err.Error(), m.Setting+" "+m.Problem) {
			t.Errorf("the text does not contain %v:\n%s", m, err)
		}
		settings = append(settings, m.Setting)
	}
	return settings
}

func TestServeReportsAllMissingSettings(t *testing.T) {
	t.Parallel()
	_, err := config.Load(setting.Serve, "", setting.RawValues{})
	got := mistakenSettings(t, err)
	if diff := cmp.Diff([]string{"POSTRIDER_MASTER_KEY", "POSTRIDER_BASE_URL"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(err.Error(), "2 settings are invalid:\n") {
		t.Errorf("text %q", err)
	}
	if _, err := config.Load(setting.Tool, "", setting.RawValues{}); err != nil {
		t.Errorf("a command that ends on its own: %v", err)
	}
}

func TestAllMistakesAreReportedTogetherWithoutSecrets(t *testing.T) {
	t.Parallel()
	wrong := setting.RawValues{"DATABASE_URL": "postgres://u:hush@host:99999999/x",
		"POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL": "perhaps",
		"POSTRIDER_LOG_FORMAT":                    "xml", "POSTRIDER_LOG_LEVEL": "loud", "POSTRIDER_HTTP_ADDR": "8080",
		"POSTRIDER_ALLOW_PUBLIC": "maybe", "POSTRIDER_BASE_URL": "ftp://x",
		"POSTRIDER_CELLS": "https://a.example,https://b.example/x", "POSTRIDER_CELLS_KEY": "hush",
		"POSTRIDER_MASTER_KEY": "hush,hush", "POSTRIDER_OUTBOUND": "smtp://user:hush@:25:25", "POSTRIDER_MX_PORT": "0",
		"POSTRIDER_MX_ALLOW": "10.0.0.0/8,10.0.0.0/99,x",
		"POSTRIDER_DNS":      "dns.example.com:53", "POSTRIDER_HOSTNAME": "a_b", "POSTRIDER_DELIVERY_CONCURRENCY": "-1", "POSTRIDER_INBOUND_ADDR": "25",
		"POSTRIDER_INBOUND_PROXIES": "x", "POSTRIDER_SANDBOX_DOMAIN": "..", "POSTRIDER_RETURN_PATH_HOST": "a b", "POSTRIDER_SPF_INCLUDE": "1.2.3.4",
		"POSTRIDER_SMTP_HOST": strings.Repeat("a", 64), "POSTRIDER_OTLP_ENDPOINT": "localhost:4317", "POSTRIDER_RSPAMD_URL": "127.0.0.1:11333",
		"POSTRIDER_BLOBS": "s3://KEY:hush@store.example", "POSTRIDER_BLOBS_SENT_AFTER": "1s",
		"POSTRIDER_FALLBACK": "smtp://user:hush@:25:25", "POSTRIDER_ACME_CA": "http://hush", "POSTRIDER_NODE": "a b", "POSTRIDER_EGRESS": "a b",
		"POSTRIDER_DRAIN_DELAY": "soon", "POSTRIDER_SPOOL_BYTES": "1", "POSTRIDER_RELAY_ADDR": "587",
		"POSTRIDER_RELAY_TLS_ADDR": ":smtps", "POSTRIDER_RELAY_PROXIES": "x",
		"POSTRIDER_TRACKING_HOST": "a_b", "POSTRIDER_TRACKING_TLS_ADDR": "x", "POSTRIDER_TRUSTED_PROXIES": "x",
		"POSTRIDER_WEBHOOK_ALLOW": "x", "POSTRIDER_SMTP_TLS_KEY": "key.pem",
		"POSTRIDER_PUBLIC_ADDRESSES": "x"}
	_, err := config.Load(setting.Serve, "", wrong)
	got := mistakenSettings(t, err)
	// two ranges are wrong; the other two are missing
	want := []string{"POSTRIDER_MX_ALLOW", "POSTRIDER_ACME_EMAIL", "POSTRIDER_SMTP_TLS_CERT"}
	for name := range wrong {
		if name != "POSTRIDER_SMTP_TLS_KEY" {
			want = append(want, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings named by the error differ (-want +got):\n%s", diff)
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the mistakes show a secret:\n%v", err)
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode   setting.Mode
		change func(s setting.RawValues)
		want   string // part of the text
	}{
		"capture in production": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OUTBOUND"] = "capture" }, "POSTRIDER_OUTBOUND cannot be capture"},
		"dev on all addresses":  {setting.Dev, func(s setting.RawValues) { s["POSTRIDER_HTTP_ADDR"] = ":8080" }, "--allow-public"},
		"dev on 0.0.0.0":        {setting.Dev, func(s setting.RawValues) { s["POSTRIDER_HTTP_ADDR"] = "0.0.0.0:8080" }, "--allow-public"},
		"dev on a name":         {setting.Dev, func(s setting.RawValues) { s["POSTRIDER_HTTP_ADDR"] = "mail.example.com:8080" }, "--allow-public"},
		"dev on the LAN": {setting.Dev, func(s setting.RawValues) {
			s["POSTRIDER_HTTP_ADDR"] = "192.168.1.5:80"
			s["POSTRIDER_ALLOW_PUBLIC"] = "false"
		}, "--allow-public"},
		"dev, relay for all": {setting.Dev, func(s setting.RawValues) { s["POSTRIDER_RELAY_ADDR"] = ":587" }, "POSTRIDER_RELAY_ADDR is"},
		"a certificate alone": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_SMTP_TLS_CERT"] = "cert.pem" },
			"must be set together with POSTRIDER_SMTP_TLS_KEY"},
		"cells without a key": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_CELLS"] = "https://a.example" },
			"POSTRIDER_CELLS_KEY must be set together with POSTRIDER_CELLS"},
		"a key without cells": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_CELLS_KEY"] = masterKey },
			"POSTRIDER_CELLS_KEY must be set together with POSTRIDER_CELLS"},
		"dev, mail from all":   {setting.Dev, func(s setting.RawValues) { s["POSTRIDER_INBOUND_ADDR"] = ":25" }, "POSTRIDER_INBOUND_ADDR is"},
		"port too high":        {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_HTTP_ADDR"] = ":65536" }, `port "65536"`},
		"port by name":         {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_HTTP_ADDR"] = ":http" }, `port "http"`},
		"base URL with a path": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_BASE_URL"] += "/mail" }, "can only have a scheme, host and port"},
		"base URL with a user": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_BASE_URL"] = "https://u:p@example.com" }, "can only have a scheme"},
		"base URL on an address": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_BASE_URL"] = "https://192.0.2.1" },
			"POSTRIDER_SANDBOX_DOMAIN is required: the base URL's host 192.0.2.1"},
		"smarthost with a path":   {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OUTBOUND"] = "smtp://h/x" }, "after host and port"},
		"smarthost without host":  {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OUTBOUND"] = "smtp://" }, "POSTRIDER_OUTBOUND has"},
		"smarthost, half a login": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OUTBOUND"] = "smtp://u@h" }, "both a user name and a password"},
		"smarthost port":          {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OUTBOUND"] = "smtp://h:0" }, "must be a number from 1"},
		"invalid fallback":        {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_FALLBACK"] = "mx" }, "POSTRIDER_FALLBACK must be smtp://"},
		"fallback, half a login": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_FALLBACK"] = "smtp://u@h" },
			"POSTRIDER_FALLBACK must have both a user name and a password"},
		"another way out":         {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OUTBOUND"] = "https://h" }, "must be mx, capture"},
		"a key twice":             {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_MASTER_KEY"] += "," + masterKey }, "key 2 repeats key 1"},
		"DNS server on port 0":    {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_DNS"] = "127.0.0.1:0" }, "POSTRIDER_DNS"},
		"a node with a space":     {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_NODE"] = "box 7" }, `POSTRIDER_NODE is "box 7"`},
		"a drain beyond the stop": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_DRAIN_DELAY"] = "16s" }, "from 0 to 15s"},
		"a drain before it":       {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_DRAIN_DELAY"] = "-1" }, "from 0 to 15s"},
		"a drain of no time":      {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_DRAIN_DELAY"] = "soon" }, "POSTRIDER_DRAIN_DELAY"},
		"an issuer alone": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OIDC_ISSUER"] = "https://id.example.com" },
			"POSTRIDER_OIDC_ISSUER requires POSTRIDER_OIDC_CLIENT_ID"},
		"an issuer without secret": {setting.Serve, func(s setting.RawValues) {
			s["POSTRIDER_OIDC_ISSUER"], s["POSTRIDER_OIDC_CLIENT_ID"] = "https://id.example.com", "x"
		}, "POSTRIDER_OIDC_ISSUER requires POSTRIDER_OIDC_CLIENT_SECRET"},
		"a client without issuer": {setting.Serve, func(s setting.RawValues) { s["POSTRIDER_OIDC_CLIENT_ID"] = "x" },
			"POSTRIDER_OIDC_CLIENT_ID requires POSTRIDER_OIDC_ISSUER"},
		"a secret without issuer": {setting.Serve,
			func(s setting.RawValues) { s["POSTRIDER_OIDC_CLIENT_SECRET"] = "x" },
			"POSTRIDER_OIDC_CLIENT_SECRET requires POSTRIDER_OIDC_ISSUER"},
		"a plain issuer": {setting.Serve,
			func(s setting.RawValues) { s["POSTRIDER_OIDC_ISSUER"] = "http://id.example.com" },
			"POSTRIDER_OIDC_ISSUER must use https://"},
		"all join as owners": {setting.Serve,
			func(s setting.RawValues) { s["POSTRIDER_OIDC_JOIN"] = "acc_01kf0m4w7he6x8q2v5b3n9c1ta:owner" },
			"POSTRIDER_OIDC_JOIN cannot have the role owner"},
		"production names, no host": {setting.Serve,
			func(s setting.RawValues) { s["POSTRIDER_BASE_URL"] = "https://localhost" },
			"POSTRIDER_RETURN_PATH_HOST is required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := productionSettings()
			test.change(s)
			if _, err := config.Load(test.mode, "box7", s); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to contain %q", err, test.want)
			}
		})
	}
}

func TestDevelopmentAddresses(t *testing.T) {
	t.Parallel()
	for addr, base := range map[string]string{
		"127.0.0.1:0": "", "localhost:9": "http://localhost:9", "[::1]:8080": "http://[::1]:8080", "127.9.9.9:1": "http://127.9.9.9:1",
	} {
		got, err := config.Load(setting.Dev, "", setting.RawValues{"POSTRIDER_HTTP_ADDR": addr})
		if err != nil || config.BaseURL.Get(got) != base || config.HTTPAddr.Get(got) != addr {
			t.Errorf("%s: %v, %v, want base URL %q", addr, config.BaseURL.Get(got), err, base)
		}
	}
	got, err := config.Load(setting.Dev, "",
		setting.RawValues{"POSTRIDER_HTTP_ADDR": ":8080", "POSTRIDER_ALLOW_PUBLIC": "true"})
	if err != nil || config.BaseURL.Get(got) != "http://127.0.0.1:8080" {
		t.Errorf("explicitly public: %v, %v", config.BaseURL.Get(got), err)
	}
}

func TestEffectiveValuesAreLoggedWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"postgres://app:hush@db.example.com:6543/mail?sslpassword=hush",
		"host=db.example.com port=6543 user=app password=hush dbname=mail"} {
		s := productionSettings()
		s["POSTRIDER_FALLBACK"] = "smtp://fallbackuser:hush@fallback.example.com"
		s["DATABASE_URL"], s["POSTRIDER_OUTBOUND"], s["POSTRIDER_OTLP_ENDPOINT"] = database,
			"smtp://relayuser:hush@relay.example.com", "https://k:hush@otel.example.com"
		cfg, err := config.Load(setting.Serve, "box7", s)
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
		for _, part := range []string{"config.mode=serve", "config.database_url.host=db.example.com",
			"config.database_url.port=6543", "config.database_url.name=mail",
			"config.database_url.user=app", "config.outbound.host=relay.example.com",
			"config.outbound.username=relayuser", "config.fallback.host=fallback.example.com",
			"config.master_key.keys=1", "config.base_url=https://mail.example.com",
			"config.otlp_endpoint=https://k:xxxxx@otel.example.com"} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("lacks %s:\n%s", part, out.String())
			}
		}
	}
}

func TestFlagsAndEnvironmentOverrideFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postrider.yaml")
	writeFile(t, path, `# production
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
	cfg, err := config.Load(setting.Serve, "",
		setting.RawValues{"POSTRIDER_CONFIG": path, "POSTRIDER_LOG_LEVEL": "error"})
	if err != nil {
		t.Fatal(err)
	}
	if outgoing.MXPort.Get(cfg) != 2525 || len(outgoing.MXAllow.Get(cfg)) != 2 || len(config.MasterKey.Get(cfg)) != 1 ||
		config.BaseURL.Get(cfg) != "https://mail.example.com" {
		t.Errorf("config %+v", cfg)
	}
	if config.LogLevel.Get(cfg) != slog.LevelError {
		t.Errorf("the file overrides a flag: level %s", config.LogLevel.Get(cfg))
	}
}

func TestFileMistakesAreReportedWithTheOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "postrider.yaml")
	load := func(content string) error {
		writeFile(t, path, content)
		_, err := config.Load(setting.Serve, "",
			setting.RawValues{"POSTRIDER_CONFIG": path, "POSTRIDER_BASE_URL": "https://example.com"})
		return err
	}
	for content, want := range map[string][]string{
		"":                                  {"POSTRIDER_MASTER_KEY"},
		"# nothing\n":                       {"POSTRIDER_MASTER_KEY"},
		"base-url: x\nhttp_adr: y\n":        {path + ":1: base-url", path + ":2: http_adr", "POSTRIDER_MASTER_KEY"},
		"mx_port: 1\nmx_port: 2\n":          {path + ":2: mx_port", "POSTRIDER_MASTER_KEY"},
		"mx_port: {a: 1}\ndns: [[x]]\n":     {path + ":1: mx_port", path + ":2: dns", "POSTRIDER_MASTER_KEY"},
		"config: other.yaml\nmx_port: no\n": {path + ":1: config", "POSTRIDER_MASTER_KEY", "POSTRIDER_MX_PORT"},
		"- a\n":                             {path, "POSTRIDER_MASTER_KEY"},
		"a: [":                              {path, "POSTRIDER_MASTER_KEY"},
		"\x00":                              {path, "POSTRIDER_MASTER_KEY"},
	} {
		if diff := cmp.Diff(want, mistakenSettings(t, load(content))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", content, diff)
		}
	}
	_, err := config.Load(setting.Dev, "",
		setting.RawValues{"POSTRIDER_CONFIG": path + ".none", "POSTRIDER_HTTP_ADDR": "x"})
	if diff := cmp.Diff([]string{"POSTRIDER_CONFIG", "POSTRIDER_HTTP_ADDR"}, mistakenSettings(t, err)); diff != "" {
		t.Errorf("missing file (-want +got):\n%s", diff)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("smtp://u:p@h:25", "127.0.0.1:80", "https://x.example", "10.0.0.0/8", "a: b")
	f.Add("mx", "[::1]:0", "http://[::1]:8", "fd00::", "modules: [a, b]")
	f.Fuzz(func(t *testing.T, exit, addr, base, allow, file string) {
		s := setting.RawValues{"POSTRIDER_OUTBOUND": exit, "POSTRIDER_HTTP_ADDR": addr, "POSTRIDER_BASE_URL": base,
			"POSTRIDER_MX_ALLOW": allow, "POSTRIDER_MASTER_KEY": masterKey}
		wrong := s.Fill("f", []byte(file), config.File.Name)
		cfg, err := setting.Read(setting.Serve, "box7", s)
		if err != nil {
			return
		}
		if config.BaseURL.Get(cfg) == "" || strings.HasSuffix(config.BaseURL.Get(cfg), "/") || outbound.MainExit.Get(cfg).
			How == outbound.Capture {
			t.Errorf("settings with the errors %v resolve to %+v, want a base URL without a trailing slash, and no capture", wrong, cfg)
		}
	})
}

// settingsPage is the path relative to the package directory.
const settingsPage = "../../../docs/settings.md"

// docs/settings.md is generated from the declarations: it lists every setting with its default and its
// bounds.
func TestSettingsPageMatchesDeclarations(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(filepath.Join("testdata", settingsPage))
	if err != nil {
		t.Fatal(err)
	}
	const begin = "<!-- Generated from the declarations: go test ./runtime/app -run SettingsPage -update -->\n"
	intro, _, found := strings.Cut(string(old), begin)
	if !found {
		t.Fatalf("%s has no line %q, which precedes the settings", settingsPage, begin)
	}
	expect.Golden(t, settingsPage, intro+begin+settingsTable())
}

// settingsTable has a section for each group.
func settingsTable() string {
	var out strings.Builder
	group := ""
	cell := func(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
	for _, s := range setting.All() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&out, "\n## %s\n\n| setting | default | takes | meaning |\n|---|---|---|---|\n", group)
		}
		help := s.Help
		if s.Also != "" {
			help += " `" + s.Also + "` is read too."
		}
		if s.Secret {
			help += " Secret."
		}
		takes := s.Takes
		if takes == "" {
			takes = s.Placeholder
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", s.Name, cell(s.Default), cell(takes), cell(help))
	}
	return out.String()
}
