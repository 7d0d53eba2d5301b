package config

import "reflect"

// Settings are all settings as given. The tags are those of kong, which reads
// flags and environment by them; this package reads names and files by them.
type Settings struct {
	StoreSettings
	ModuleSettings
	LogSettings

	HTTPAddr       string `env:"POSTRIDER_HTTP_ADDR"    group:"HTTP" help:"Where to serve API, GraphQL, dashboard and public links (127.0.0.1:8080). Port 0 is any free one." name:"http-addr"    placeholder:"HOST:PORT"`
	AllowPublic    Switch `env:"POSTRIDER_ALLOW_PUBLIC" group:"HTTP" help:"Let development mode listen on an address that others can reach."                                  name:"allow-public"`
	TrustedProxies string `env:"POSTRIDER_TRUSTED_PROXIES" group:"HTTP" help:"Address ranges of proxies in front whose X-Forwarded-For is believed, separated by commas (none)." name:"trusted-proxies" placeholder:"CIDR,..."`
	BaseURL        string `env:"POSTRIDER_BASE_URL"     group:"HTTP" help:"The public URL, for links. Production needs it; development takes it from the address."            name:"base-url"     placeholder:"URL"`

	Node       string `env:"POSTRIDER_NODE"        group:"Process" help:"Name of this process among those that share the database, the same after a restart (the host name). Several on one machine need one each."                             name:"node"        placeholder:"NAME"`
	DrainDelay string `env:"POSTRIDER_DRAIN_DELAY" group:"Process" help:"How long a process that was asked to stop says on /readyz that it is draining and still takes requests and mail (0); 5s behind a load balancer, 15s at most." name:"drain-delay" placeholder:"TIME"`

	MasterKey string `env:"POSTRIDER_MASTER_KEY" group:"Secrets" help:"Encrypts secrets at rest: base64 of 32 octets; several separated by commas, the first one seals. Production needs it; development keeps one in the data directory. Rather set it in the environment than on the command line." name:"master-key" placeholder:"KEY,..."`

	Outbound            string `env:"POSTRIDER_OUTBOUND"             group:"Mail" help:"mx (default), capture (development only, its default), or smtp://user:password@host:port, smtps://… for a smarthost."   name:"outbound"             placeholder:"HOW"`
	Fallback            string `env:"POSTRIDER_FALLBACK"             group:"Mail" help:"smtp://user:password@host:port or smtps://…: a smarthost for mail that receivers refused because of who connects, or whose receivers could not be reached; for accounts and domains without one of their own (none). Only with mx." name:"fallback"             placeholder:"URL"`
	MXPort              string `env:"POSTRIDER_MX_PORT"              group:"Mail" help:"Port of receiving servers (25); another one is for tests."                                                              name:"mx-port"              placeholder:"PORT"`
	MXAllow             string `env:"POSTRIDER_MX_ALLOW"             group:"Mail" help:"Private address ranges that receiving servers may have, separated by commas (none)."                                    name:"mx-allow"             placeholder:"CIDR,..."`
	DNS                 string `env:"POSTRIDER_DNS"                  group:"Mail" help:"Resolver for everything that is looked up (the system's)."                                                              name:"dns"                  placeholder:"IP:PORT"`
	Hostname            string `env:"POSTRIDER_HOSTNAME"             group:"Mail" help:"Name to greet mail servers with (the machine's)."                                                                       name:"hostname"             placeholder:"NAME"`
	PublicAddresses     string `env:"POSTRIDER_PUBLIC_ADDRESSES"     group:"Mail" help:"Addresses that mail leaves from, as receivers see them, separated by commas (the public ones of this machine). For postrider doctor, behind a router that translates." name:"public-addresses" placeholder:"IP,..."`
	InboundAddr         string `env:"POSTRIDER_INBOUND_ADDR"         group:"Mail" help:"Where mail servers bring mail: to domains that receive, and reports to our return paths (:25; 127.0.0.1:2525 in development). Port 0 is any free one."   name:"inbound-addr"         placeholder:"HOST:PORT"`
	InboundProxies      string `env:"POSTRIDER_INBOUND_PROXIES"      group:"Mail" help:"Address ranges of proxies in front of it, which must speak the PROXY protocol, separated by commas (none)."           name:"inbound-proxies"      placeholder:"CIDR,..."`
	DeliveryConcurrency string `env:"POSTRIDER_DELIVERY_CONCURRENCY" group:"Mail" help:"Connections to mail servers at once (128). 0 only accepts and leaves delivery to other processes."                                                                                     name:"delivery-concurrency" placeholder:"N"`
	LanesFile           string `env:"POSTRIDER_LANES_FILE"           group:"Mail" help:"Limits per mailbox provider that replace or join the built-in ones (none)."                                         name:"lanes-file"           placeholder:"PATH"`

	RelayAddr    string `env:"POSTRIDER_RELAY_ADDR"     group:"Relay" help:"Where programs hand in mail over SMTP with STARTTLS (:587; 127.0.0.1:2587 in development). Port 0 is any free one."       name:"relay-addr"     placeholder:"HOST:PORT"`
	RelayTLSAddr string `env:"POSTRIDER_RELAY_TLS_ADDR" group:"Relay" help:"The same with TLS from the first octet (:465; 127.0.0.1:2465 in development)."                                         name:"relay-tls-addr" placeholder:"HOST:PORT"`
	RelayProxies string `env:"POSTRIDER_RELAY_PROXIES"  group:"Relay" help:"Address ranges of proxies in front of both, which must speak the PROXY protocol, separated by commas (none)."          name:"relay-proxies"  placeholder:"CIDR,..."`
	SMTPTLSCert  string `env:"POSTRIDER_SMTP_TLS_CERT"  group:"Relay" help:"PEM file with the certificate chain of all SMTP listeners, read again when it changes (from the ACME authority that serves tracking hosts; self-made in development)." name:"smtp-tls-cert"  placeholder:"FILE"`
	SMTPTLSKey   string `env:"POSTRIDER_SMTP_TLS_KEY"   group:"Relay" help:"PEM file with its private key."                                                                                       name:"smtp-tls-key"   placeholder:"FILE"`

	SandboxDomain  string `env:"POSTRIDER_SANDBOX_DOMAIN"   group:"Names" help:"Sending domain that every account may try out (sandbox. under the base URL's host)." name:"sandbox-domain"   placeholder:"NAME"`
	ReturnPathHost string `env:"POSTRIDER_RETURN_PATH_HOST" group:"Names" help:"Target of the return path CNAME (rp. under the base URL's host)."                    name:"return-path-host" placeholder:"NAME"`
	SPFInclude     string `env:"POSTRIDER_SPF_INCLUDE"      group:"Names" help:"Name that SPF records include (spf. under the base URL's host)."                     name:"spf-include"      placeholder:"NAME"`
	TrackingHost   string `env:"POSTRIDER_TRACKING_HOST"    group:"Names" help:"Target of the CNAME records of tracking hosts (the base URL's host)."                 name:"tracking-host"    placeholder:"NAME"`
	SMTPHost       string `env:"POSTRIDER_SMTP_HOST"        group:"Names" help:"Name of the SMTP relay (smtp. under the base URL's host)."                           name:"smtp-host"        placeholder:"NAME"`

	TrackingTLSAddr string `env:"POSTRIDER_TRACKING_TLS_ADDR" group:"Tracking" help:"Where tracking hosts are served over TLS, with certificates from an ACME authority (nowhere). Others reach it at port 443." name:"tracking-tls-addr" placeholder:"HOST:PORT"`
	ACMEEmail       string `env:"POSTRIDER_ACME_EMAIL"        group:"Tracking" help:"Where the certificate authority may write to."                                                                                   name:"acme-email"        placeholder:"ADDRESS"`
	ACMECA          string `env:"POSTRIDER_ACME_CA"           group:"Tracking" help:"Directory URL of the certificate authority (Let's Encrypt)."                                                                     name:"acme-ca"           placeholder:"URL"`

	RspamdURL string `env:"POSTRIDER_RSPAMD_URL" group:"Inbound" help:"Rspamd's worker that judges received mail, as http://127.0.0.1:11333 (none: the spam status is unknown)." name:"rspamd-url" placeholder:"URL"`
	Blobs     string `env:"POSTRIDER_BLOBS"      group:"Inbound" help:"S3-compatible object store that received messages are moved to, as s3://KEY:SECRET@host/bucket/prefix?region=…; tls=off is http, path_style=on|off says where the bucket stands (none: they stay in the database). Rather set it in the environment than on the command line." name:"blobs" placeholder:"URL"`

	WebhookAllow string `env:"POSTRIDER_WEBHOOK_ALLOW" group:"Webhooks" help:"Address ranges that webhook endpoints may have beside public ones, separated by commas (none; this machine in development)." name:"webhook-allow" placeholder:"CIDR,..."`

	SpoolDir   string `env:"POSTRIDER_SPOOL_DIR"   group:"Spool" help:"Folder on a disk, for large bodies and messages while they come and go (spool in the data directory where the database is there too, else the system's for temporary files)." name:"spool-dir"   placeholder:"DIR"`
	SpoolBytes string `env:"POSTRIDER_SPOOL_BYTES" group:"Spool" help:"Octets that they may take there together, of which no account and no network has more than a quarter (2147483648)." name:"spool-bytes" placeholder:"N"`

	OTLPEndpoint string `env:"POSTRIDER_OTLP_ENDPOINT,OTEL_EXPORTER_OTLP_ENDPOINT" group:"Telemetry" help:"Collector of traces, OTLP over HTTP (none)." name:"otlp-endpoint" placeholder:"URL"`

	// MachineName is what the system calls this machine. It is no setting.
	MachineName string `kong:"-"`
}

// StoreSettings say where data is. Every command that touches it has them.
type StoreSettings struct {
	ConfigFile       string `env:"POSTRIDER_CONFIG"                        group:"Store" help:"YAML file with settings; flags and environment win over it."                                                name:"config"                        placeholder:"FILE"`
	DatabaseURL      string `env:"DATABASE_URL"                            group:"Store" help:"PostgreSQL 14 or newer. Without it a server is run under the data directory."                               name:"database-url"                  placeholder:"URL"`
	DataDir          string `env:"POSTRIDER_DATA_DIR"                      group:"Store" help:"Embedded PostgreSQL and generated keys (/var/lib/postrider; ./data in development)."                        name:"data-dir"                      placeholder:"DIR"`
	PostgresBin      string `env:"POSTRIDER_POSTGRES_BIN"                  group:"Store" help:"Folder with the initdb and postgres to run (looked for in the usual places)."                               name:"postgres-bin"                  placeholder:"DIR"`
	PostgresFallback string `env:"POSTRIDER_POSTGRES_FALLBACK"             group:"Store" help:"Folder where make put PostgreSQL for a machine that has none."                                              name:"postgres-fallback"             placeholder:"DIR"`
	UnsafeCommit     Switch `env:"POSTRIDER_UNSAFE_MAY_LOSE_ACCEPTED_MAIL" group:"Store" help:"Accept a server with synchronous_commit=off: a crash of it then loses mail that was answered with success." name:"unsafe-may-lose-accepted-mail"`
}

// ModuleSettings say which modules are on.
type ModuleSettings struct {
	Modules string `env:"POSTRIDER_MODULES" group:"Modules" help:"Modules to switch off (-inbound,-automations) or the list of those to run (all)." name:"modules" placeholder:"NAME,..."`
}

// LogSettings say how to log.
type LogSettings struct {
	LogFormat string `env:"POSTRIDER_LOG_FORMAT" group:"Telemetry" help:"text or json (json; text in development)." name:"log-format" placeholder:"FORMAT"`
	LogLevel  string `env:"POSTRIDER_LOG_LEVEL"  group:"Telemetry" help:"debug, info, warn or error (info)."        name:"log-level"  placeholder:"LEVEL"`
}

// Switch is on or off: true, false, or empty when not given.
type Switch string

// named is one setting of a Settings.
type named struct {
	flag  string // as --flag
	env   string // the first variable
	value reflect.Value
}

// each lists the settings of s in the order of the struct.
func each(s reflect.Value) []named {
	var all []named
	for i := range s.NumField() {
		field := s.Type().Field(i)
		switch {
		case field.Anonymous:
			all = append(all, each(s.Field(i))...)
		case field.Tag.Get("name") != "":
			all = append(all, named{flag: field.Tag.Get("name"), env: firstOf(field.Tag.Get("env")), value: s.Field(i)})
		}
	}
	return all
}
