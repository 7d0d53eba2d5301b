package config

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
)

// devDomain is the parent of the installation's names while it has no public
// host; `.test` never exists outside (RFC 6761 section 6.2).
const devDomain = "postrider.test"

// IsDevelopmentName tells whether a name is one that development mode makes up. Nobody
// publishes records for it, and none can be found.
func IsDevelopmentName(name string) bool { return strings.HasSuffix(name, "."+devDomain) }

// Resolve makes the configuration of a mode. The error is a Mistakes.
func Resolve(mode Mode, s Settings) (Config, error) {
	r := resolver{mode: mode}
	cfg := Config{
		Mode:     mode,
		DataDir:  r.dataDir(s),
		Database: r.database(s),
		HTTP:     r.http(s),
		Process:  r.process(s),
		Modules:  strings.TrimSpace(s.Modules),
		Mail:     r.mail(s),
		Relay:    r.relay(s),
		Tracking: r.tracking(s),
		Webhooks: r.webhooks(s), Inbound: r.inboundParts(s),
		Log:   r.log(s),
		Trace: Trace{Endpoint: r.endpoint("POSTRIDER_OTLP_ENDPOINT", s.OTLPEndpoint)},
	}
	cfg.Secrets = r.secrets(s, cfg.DataDir)
	cfg.Spool = r.spool(s, cfg)
	cfg.Names = r.names(s, cfg.HTTP.BaseURL)
	cfg.Mail.Hostname = r.hostname(s, cfg.HTTP.BaseURL)
	if err := r.wrong.err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// resolver decides each part and collects what is wrong.
type resolver struct {
	mode  Mode
	wrong Mistakes
}

func (r *resolver) dataDir(s Settings) string {
	switch {
	case s.DataDir != "":
		return filepath.Clean(s.DataDir)
	case r.mode == Dev:
		return DevDataDir
	default:
		return DefaultDataDir
	}
}

// spool is beside the database that runs here, on the disk that is there for data.
func (r *resolver) spool(s Settings, cfg Config) Spool {
	dir := s.SpoolDir
	if dir == "" && (cfg.Database.Embedded() || r.mode == Dev) {
		dir = filepath.Join(cfg.DataDir, "spool")
	}
	return Spool{Dir: dir, Bytes: int64(r.number("POSTRIDER_SPOOL_BYTES", s.SpoolBytes, intake.DefaultSpool, intake.LeastSpool, 1<<50))}
}

func (r *resolver) database(s Settings) Database {
	if s.DatabaseURL != "" {
		if _, err := pq.NewConfig(s.DatabaseURL); err != nil {
			// The error would show the password.
			r.wrong.addf("DATABASE_URL", "is not a PostgreSQL address; want postgres://user:password@host:5432/name")
		}
	}
	return Database{URL: secret.New(s.DatabaseURL), PostgresBin: s.PostgresBin, PostgresFallback: s.PostgresFallback,
		RiskLosingAcceptedMail: r.onOff("POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL", s.UnsafeCommit)}
}

func (r *resolver) http(s Settings) HTTP {
	addr := orElse(s.HTTPAddr, "127.0.0.1:8080")
	public := r.onOff("POSTRIDER_ALLOW_PUBLIC", s.AllowPublic)
	host, port, ok := r.hostPort("POSTRIDER_HTTP_ADDR", addr)
	if ok && r.mode == Dev && !loopback(host) && !public {
		r.wrong.addf("POSTRIDER_HTTP_ADDR", "is %q, which others can reach: development mode has no secrets worth the name and shows all mail; listen on 127.0.0.1, or say --allow-public", addr)
	}
	cfg := HTTP{Addr: addr, BaseURL: r.baseURL(s.BaseURL), TrustedProxies: r.prefixes("POSTRIDER_TRUSTED_PROXIES", s.TrustedProxies)}
	switch {
	case s.BaseURL != "":
	case r.mode == Serve:
		r.wrong.addf("POSTRIDER_BASE_URL", "is required: the URL under which others reach this server, as https://mail.example.com")
	case r.mode == Dev && ok && port != 0:
		cfg.BaseURL = "http://" + net.JoinHostPort(seenAs(host), strconv.Itoa(port))
	}
	return cfg
}

func (r *resolver) secrets(s Settings, dataDir string) Secrets {
	if s.MasterKey == "" {
		switch r.mode {
		case Serve:
			r.wrong.addf("POSTRIDER_MASTER_KEY", "is required: it encrypts secrets at rest; make one with `openssl rand -base64 32` and keep it safe")
		case Dev:
			return Secrets{KeyFile: filepath.Join(dataDir, "master.key")}
		case Tool:
		}
		return Secrets{}
	}
	keys, err := secret.ParseKeys(secret.New(s.MasterKey))
	if err != nil {
		r.wrong.addf("POSTRIDER_MASTER_KEY", "is wrong: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return Secrets{Keys: keys}
}

func (r *resolver) mail(s Settings) Mail {
	m := Mail{
		Outbound:    r.outbound(s.Outbound),
		Fallback:    r.fallback(s.Fallback),
		MXPort:      r.number("POSTRIDER_MX_PORT", s.MXPort, 25, 1, 65535),
		Concurrency: r.number("POSTRIDER_DELIVERY_CONCURRENCY", s.DeliveryConcurrency, 128, 0, 10_000),
		DNS:         r.dnsServer("POSTRIDER_DNS", s.DNS),
		LanesFile:   s.LanesFile,
	}
	for _, text := range list(s.PublicAddresses) {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			r.wrong.addf("POSTRIDER_PUBLIC_ADDRESSES", "has %q, which is no address", text)
		}
		m.PublicAddresses = append(m.PublicAddresses, ip.Unmap())
	}
	m.MXAllow = r.prefixes("POSTRIDER_MX_ALLOW", s.MXAllow)
	m.InboundGiven = s.InboundAddr != ""
	m.InboundAddr, m.InboundProxies = r.inbound(s), r.prefixes("POSTRIDER_INBOUND_PROXIES", s.InboundProxies)
	return m
}

// webhooks allows this machine in development, where receivers run beside the server.
func (r *resolver) webhooks(s Settings) Webhooks {
	w := Webhooks{Allow: r.prefixes("POSTRIDER_WEBHOOK_ALLOW", s.WebhookAllow), PlainLoopback: r.mode == Dev}
	if r.mode == Dev && s.WebhookAllow == "" {
		w.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	return w
}

// inbound is port 25 in production, where other servers look for us. A development
// server on any free HTTP port stands beside another, and so takes any free one here.
func (r *resolver) inbound(s Settings) string {
	const setting = "POSTRIDER_INBOUND_ADDR"
	if s.InboundAddr == "" {
		switch {
		case r.mode != Dev:
			return ":25"
		case strings.HasSuffix(s.HTTPAddr, ":0"):
			return "127.0.0.1:0"
		}
		return "127.0.0.1:2525"
	}
	host, _, ok := r.hostPort(setting, s.InboundAddr)
	if ok && r.mode == Dev && !loopback(host) && !r.onOff("POSTRIDER_ALLOW_PUBLIC", s.AllowPublic) {
		r.wrong.addf(setting, "is %q, which others can reach: listen on 127.0.0.1 in development mode, or say --allow-public", s.InboundAddr)
	}
	return s.InboundAddr
}

func (r *resolver) prefixes(setting, given string) (all []netip.Prefix) {
	for _, text := range list(given) {
		prefix, err := parsePrefix(text)
		if err != nil {
			r.wrong.addf(setting, "has %q, which is no address range; want 10.0.0.0/8", text)
			continue
		}
		all = append(all, prefix)
	}
	return all
}

// names puts what was not given under the base URL's host.
func (r *resolver) names(s Settings, baseURL string) Names {
	parent := hostOf(baseURL)
	named := parent != "" && !loopback(parent) && !isIP(parent)
	name := func(setting, given, label string) string {
		switch {
		case given != "":
			return r.domain(setting, given)
		case named:
			return label + "." + parent
		case r.mode != Serve || parent == "": // without any base URL that is the mistake to report
			return label + "." + devDomain
		default:
			r.wrong.addf(setting, "is required: the base URL's host %s has no names under it", parent)
			return ""
		}
	}
	return Names{
		SandboxDomain:  name("POSTRIDER_SANDBOX_DOMAIN", s.SandboxDomain, "sandbox"),
		ReturnPathHost: name("POSTRIDER_RETURN_PATH_HOST", s.ReturnPathHost, "rp"),
		SPFInclude:     name("POSTRIDER_SPF_INCLUDE", s.SPFInclude, "spf"),
		SMTPHost:       name("POSTRIDER_SMTP_HOST", s.SMTPHost, "smtp"),
		TrackingHost:   r.trackingHost(s.TrackingHost, parent, named),
	}
}

const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

func (r *resolver) tracking(s Settings) Tracking {
	if s.TrackingTLSAddr == "" {
		return Tracking{}
	}
	r.hostPort("POSTRIDER_TRACKING_TLS_ADDR", s.TrackingTLSAddr)
	if !strings.Contains(s.ACMEEmail, "@") {
		r.wrong.addf("POSTRIDER_ACME_EMAIL", "is required with POSTRIDER_TRACKING_TLS_ADDR: the address where the certificate authority may write to")
	}
	ca := orElse(s.ACMECA, letsEncrypt)
	if u, err := url.Parse(ca); err != nil || u.Scheme != "https" || u.Hostname() == "" {
		r.wrong.addf("POSTRIDER_ACME_CA", "is no https:// URL of an ACME directory")
	}
	return Tracking{TLSAddr: s.TrackingTLSAddr, CA: ca, Email: s.ACMEEmail}
}

// trackingHost is the base URL's host, which answers links already. An installation
// that is reached by address has none, but for development mode.
func (r *resolver) trackingHost(given, parent string, named bool) string {
	switch {
	case given != "":
		return r.domain("POSTRIDER_TRACKING_HOST", given)
	case named:
		return parent
	case r.mode != Serve:
		return "links." + devDomain
	}
	return ""
}

// hostname is the given one, the machine's, or the base URL's host.
func (r *resolver) hostname(s Settings, baseURL string) string {
	if s.Hostname != "" {
		return r.domain("POSTRIDER_HOSTNAME", s.Hostname)
	}
	if name, err := parseDomain(s.MachineName); err == nil {
		return name
	}
	if host := hostOf(baseURL); host != "" && !isIP(host) {
		return host
	}
	return "localhost"
}

func (r *resolver) log(s Settings) Log {
	l := Log{Format: telemetry.Format(s.LogFormat)}
	switch l.Format {
	case telemetry.Text, telemetry.JSON:
	case "":
		l.Format = telemetry.Text
		if r.mode == Serve {
			l.Format = telemetry.JSON
		}
	default:
		r.wrong.addf("POSTRIDER_LOG_FORMAT", "is %q; want text or json", s.LogFormat)
	}
	levels := map[string]slog.Level{"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, known := levels[strings.ToLower(s.LogLevel)]
	if !known {
		r.wrong.addf("POSTRIDER_LOG_LEVEL", "is %q; want debug, info, warn or error", s.LogLevel)
	}
	l.Level = level
	return l
}

// outbound never quotes the setting: it may have a password.
func (r *resolver) outbound(text string) Outbound {
	const setting = "POSTRIDER_OUTBOUND"
	switch text {
	case string(MX):
		return Outbound{How: MX}
	case string(Capture):
		if r.mode == Serve {
			r.wrong.addf(setting, "is capture, which keeps all mail on this machine: only for development mode")
		}
		return Outbound{How: Capture}
	case "":
		if r.mode == Dev {
			return Outbound{How: Capture}
		}
		return Outbound{How: MX}
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		r.wrong.addf(setting, "is none of mx, capture, smtp://user:password@host:port, smtps://… (octets such as @ and / in a password are written %%40, %%2F)")
		return Outbound{}
	}
	return r.smarthost(setting, u)
}

// fallback is a smarthost, of which the setting is never quoted either.
func (r *resolver) fallback(text string) Outbound {
	const setting = "POSTRIDER_FALLBACK"
	if text == "" {
		return Outbound{}
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") {
		r.wrong.addf(setting, "is no smtp://user:password@host:port or smtps://… (octets such as @ and / in a password are written %%40, %%2F)")
		return Outbound{}
	}
	return r.smarthost(setting, u)
}

func (r *resolver) smarthost(setting string, u *url.URL) Outbound {
	out := Outbound{How: Smarthost, Host: u.Hostname(), Port: 587, ImplicitTLS: u.Scheme == "smtps"}
	if out.ImplicitTLS {
		out.Port = 465
	}
	if !isIP(out.Host) {
		out.Host = r.domain(setting, out.Host)
	}
	if u.Port() != "" {
		out.Port = r.number(setting, u.Port(), 0, 1, 65535)
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		r.wrong.addf(setting, "has something after host and port")
	}
	if u.User != nil {
		password, given := u.User.Password()
		out.Username, out.Password = u.User.Username(), secret.New(password)
		if out.Username == "" || !given {
			r.wrong.addf(setting, "has a user name without a password, or the other way round")
		}
	}
	return out
}

func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}
