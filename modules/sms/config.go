package sms

import (
	"context"
	"crypto/x509"
	"net/netip"
	"strings"

	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/egress"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/setting"
)

// Config of the module.
type Config struct {
	BaseURL  string   // public URL of this installation, for receipts and replies
	Operator Operator // the provider for accounts without one
	Handover handover.Config

	// Where providers of accounts may be beside public addresses.
	Allow         []netip.Prefix
	PlainLoopback bool // development: http:// too, to this machine
	Lookup        func(ctx context.Context, host string) ([]netip.Addr, error)
	RootCAs       *x509.CertPool // nil: the system's
}

// ConfigOf takes what the module needs from the installation's configuration. A process that
// delivers no mail hands no text messages over either.
func ConfigOf(cfg setting.Values, resolver *dnsx.Resolver) Config {
	return Config{BaseURL: strings.TrimSuffix(config.BaseURL.Of(cfg), "/"), Operator: OperatorProvider.Of(cfg), Handover: handover.Config{Idle: config.DeliveryConcurrency.Of(cfg) == 0},
		Allow: egress.Allow.Of(cfg), PlainLoopback: cfg.Mode == setting.Dev, Lookup: resolver.LookupIP}
}
