package config

import (
	"log/slog"
	"net/netip"
	"net/url"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
)

// Mode is what the program runs for; it decides defaults and demands.
type Mode string

// The modes.
const (
	Dev   Mode = "dev"   // on a developer's machine: nothing leaves it
	Serve Mode = "serve" // in production
	Tool  Mode = "tool"  // a command that ends by itself: migrate, key create
)

// Data directories of those who name none.
const (
	DevDataDir     = "data"               // of development mode: below where it was started
	DefaultDataDir = "/var/lib/postrider" // of production, and of commands
)

// Config is everything that was decided before the start.
type Config struct {
	Mode     Mode
	DataDir  string
	Database Database
	HTTP     HTTP
	Process  Process
	Secrets  Secrets
	Modules  string // for ParseModules
	Mail     Mail
	Relay    Relay
	Names    Names
	Tracking Tracking
	Webhooks Webhooks
	Inbound  Inbound
	Spool    Spool
	Log      Log
	Trace    Trace
}

// Database says which PostgreSQL to use.
type Database struct {
	URL              secret.String // zero: the embedded server under DataDir
	PostgresBin      string        // embedded: folder of binaries, "" to look for it
	PostgresFallback string        // embedded: where make put them, "" for nowhere
	// RiskLosingAcceptedMail accepts synchronous_commit=off.
	RiskLosingAcceptedMail bool
}

// Embedded tells whether Postrider runs its own server.
func (d Database) Embedded() bool { return d.URL.IsZero() }

// HTTP says where to listen and how others see it.
type HTTP struct {
	Addr string // host:port; port 0: any free one
	// BaseURL has no slash at its end. It is empty in development mode on port 0,
	// and is then http:// and the address that was got.
	BaseURL string
	// TrustedProxies tell truly for whom they ask.
	TrustedProxies []netip.Prefix
}

// Host is the host of the base URL, without a port.
func (h HTTP) Host() string { return hostOf(h.BaseURL) }

// Secrets says what to encrypt with.
type Secrets struct {
	Keys    []secret.Key // the first seals
	KeyFile string       // without Keys, in development mode: for secret.KeyFile
}

// Mail says how outbound mail leaves.
type Mail struct {
	Outbound Outbound
	Fallback Outbound // a Smarthost; zero: the installation has none
	MXPort   int
	MXAllow  []netip.Prefix // beside public addresses
	DNS      string         // resolver ip:port, "" the system's
	Hostname string         // for EHLO, A-labels
	// PublicAddresses are those that mail leaves from, where this machine cannot know.
	PublicAddresses []netip.Addr
	Concurrency     int    // deliveries at once; 0: this process only accepts
	LanesFile       string // limits per mailbox provider; "" the built-in ones
	// InboundAddr is where other servers bring mail; port 0: any free one.
	InboundAddr    string
	InboundGiven   bool           // somebody asked for that address: without it there is no start
	InboundProxies []netip.Prefix // must speak the PROXY protocol
}

// Names are the names under which customers' DNS records and mail programs find
// this installation, in A-labels.
type Names struct {
	SandboxDomain, ReturnPathHost, SPFInclude, SMTPHost string
	TrackingHost                                        string // empty: the base URL has an address instead of a name
}

// Tracking says how tracking hosts are served.
type Tracking struct {
	TLSAddr   string // host:port; "" not at all: links stand under the base URL
	CA, Email string // the ACME directory's URL, and where the authority writes to
}

// Webhooks says where webhook endpoints may be.
type Webhooks struct {
	Allow         []netip.Prefix // beside public addresses
	PlainLoopback bool           // http:// too, to this machine
}

// Spool says where large bodies and messages are while they come and go.
type Spool struct {
	Dir   string // "": where the system has temporary files
	Bytes int64
}

// Log says how to log.
type Log struct {
	Format telemetry.Format
	Level  slog.Level
}

// Trace says where spans go.
type Trace struct {
	Endpoint string // OTLP over HTTP, "" for nowhere
}

// How says which way mail leaves.
type How string

// The ways.
const (
	MX        How = "mx"        // to the recipient domain's servers
	Capture   How = "capture"   // into the development inbox
	Smarthost How = "smarthost" // to one server that takes it from there
)

// Outbound is the way that mail leaves.
type Outbound struct {
	How How
	// For Smarthost:
	Host        string
	Port        int
	ImplicitTLS bool   // smtps: TLS from the first octet
	Username    string // "" to send without authentication
	Password    secret.String
}

// LogValue lists the effective configuration without its secrets.
func (c Config) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("mode", string(c.Mode)),
		slog.String("data_dir", c.DataDir),
		slog.Any("database", c.Database),
		slog.Group("http", slog.String("addr", c.HTTP.Addr), slog.String("base_url", c.HTTP.BaseURL),
			slog.Any("trusted_proxies", c.HTTP.TrustedProxies)),
		slog.Group("process", slog.String("node", c.Process.Node), slog.Duration("drain_delay", c.Process.DrainDelay)),
		slog.Group("secrets", slog.Int("keys", len(c.Secrets.Keys)), slog.String("key_file", c.Secrets.KeyFile)),
		slog.String("modules", c.Modules),
		slog.Group("mail", slog.Any("outbound", c.Mail.Outbound), slog.Any("fallback", c.Mail.Fallback), slog.Int("mx_port", c.Mail.MXPort),
			slog.Any("mx_allow", c.Mail.MXAllow), slog.String("dns", c.Mail.DNS), slog.String("hostname", c.Mail.Hostname), slog.Any("public_addresses", c.Mail.PublicAddresses),
			slog.String("inbound_addr", c.Mail.InboundAddr), slog.Any("inbound_proxies", c.Mail.InboundProxies),
			slog.Int("concurrency", c.Mail.Concurrency), slog.String("lanes_file", c.Mail.LanesFile)),
		slog.Group("relay", slog.String("addr", c.Relay.Addr), slog.String("tls_addr", c.Relay.TLSAddr), slog.Any("proxies", c.Relay.Proxies),
			slog.String("cert_file", c.Relay.CertFile)),
		slog.Group("names", slog.String("sandbox_domain", c.Names.SandboxDomain), slog.String("return_path_host", c.Names.ReturnPathHost),
			slog.String("spf_include", c.Names.SPFInclude), slog.String("smtp_host", c.Names.SMTPHost),
			slog.String("tracking_host", c.Names.TrackingHost)),
		slog.Group("tracking", slog.String("tls_addr", c.Tracking.TLSAddr), slog.String("ca", c.Tracking.CA)),
		slog.Group("webhooks", slog.Any("allow", c.Webhooks.Allow), slog.Bool("plain_loopback", c.Webhooks.PlainLoopback)),
		slog.Any("inbound", c.Inbound),
		slog.Group("spool", slog.String("dir", c.Spool.Dir), slog.Int64("bytes", c.Spool.Bytes)),
		slog.Group("log", slog.String("format", string(c.Log.Format)), slog.String("level", c.Log.Level.String())),
		slog.Group("trace", slog.String("endpoint", withoutPassword(c.Trace.Endpoint))),
	)
}

// LogValue says where the database is; the URL itself may have a password in
// more than one place.
func (d Database) LogValue() slog.Value {
	risk := slog.Bool("risk_losing_accepted_mail", d.RiskLosingAcceptedMail)
	if d.Embedded() {
		return slog.GroupValue(slog.Bool("embedded", true), slog.String("bin", d.PostgresBin), risk)
	}
	server, err := pq.NewConfig(d.URL.Reveal())
	if err != nil {
		return slog.GroupValue(slog.Any("url", d.URL), risk)
	}
	return slog.GroupValue(slog.String("host", server.Host), slog.Int("port", int(server.Port)),
		slog.String("name", server.Database), slog.String("user", server.User), risk)
}

// LogValue has the user name and not the password.
func (o Outbound) LogValue() slog.Value {
	if o.How != Smarthost {
		return slog.StringValue(string(o.How))
	}
	return slog.GroupValue(slog.String("how", string(o.How)), slog.String("host", o.Host), slog.Int("port", o.Port),
		slog.Bool("implicit_tls", o.ImplicitTLS), slog.String("username", o.Username))
}

func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return secret.Redacted
	}
	return u.Redacted()
}
