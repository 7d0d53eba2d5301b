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

// Config controls which addresses endpoints may have and how they are reached.
type Config struct {
	Allow         []netip.Prefix // allowed in addition to public addresses
	PlainLoopback bool           // development: also allow http:// to this machine
	// Lookup resolves a host. If nil, the system resolver is used.
	Lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	RootCAs *x509.CertPool // nil: the system's root certificates
	Timeout time.Duration  // for one POST including the response
}

// ConfigOf returns the configuration from the installation's settings.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	return Config{Allow: egress.Allow.Get(cfg), PlainLoopback: cfg.Mode == setting.Dev, Lookup: resolver.LookupIP}
}

// connectTimeout applies to TCP and TLS separately.
const connectTimeout = 5 * time.Second

// Poster validates endpoint URLs and posts to them. It is safe for concurrent use.
type Poster struct {
	targets *egress.TargetChecker
	client  *http.Client
	timeout time.Duration
	log     *slog.Logger
}

// New returns a new Poster.
func New(c Config, log *slog.Logger) *Poster {
	lookup, guard := egress.WithLocalhost(c.Lookup), egress.NewGuard(c.Allow)
	return &Poster{targets: egress.NewTargetChecker(guard, c.Lookup, c.PlainLoopback), timeout: c.Timeout, log: log,
		client: egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: c.PlainLoopback,
			ConnectTimeout: connectTimeout,
			Timeout:        c.Timeout, RootCAs: c.RootCAs, Lookup: lookup})}
}

// Close closes idle connections.
func (p *Poster) Close() { p.client.CloseIdleConnections() }
