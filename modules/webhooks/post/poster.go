package post

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/web/egress"
)

// Config sets where endpoints may be, and how they are reached.
type Config struct {
	Allow         []netip.Prefix // ranges that endpoints may have beside public addresses
	PlainLoopback bool           // development: http:// too, to this machine
	// Lookup finds the addresses of a host; nil: the system's resolver.
	Lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	RootCAs *x509.CertPool // nil: the system's
	Timeout time.Duration  // of one POST with its answer
}

// ConfigOf takes what can be set from the installation's configuration.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	return Config{Allow: egress.Allow.Of(cfg), PlainLoopback: cfg.Mode == setting.Dev, Lookup: resolver.LookupIP}
}

// connectTimeout bounds TCP and TLS each.
const connectTimeout = 5 * time.Second

// Poster judges the URLs of endpoints and posts to them. Safe for concurrent use.
type Poster struct {
	targets *egress.TargetChecker
	client  *http.Client
	timeout time.Duration
	log     *slog.Logger
}

// New makes a poster.
func New(c Config, log *slog.Logger) *Poster {
	lookup, guard := egress.WithLocalhost(c.Lookup), egress.NewGuard(c.Allow)
	return &Poster{targets: egress.NewTargetChecker(guard, c.Lookup, c.PlainLoopback), timeout: c.Timeout, log: log,
		client: egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: c.PlainLoopback, ConnectTimeout: connectTimeout,
			Timeout: c.Timeout, RootCAs: c.RootCAs, Lookup: lookup})}
}

// Close closes the connections that no POST uses.
func (p *Poster) Close() { p.client.CloseIdleConnections() }
