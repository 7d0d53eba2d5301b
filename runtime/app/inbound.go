package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/linkcheck"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/authn"
	"github.com/postrider/postrider/runtime/mail/dnsx"
	"github.com/postrider/postrider/runtime/mail/rspamd"
	"github.com/postrider/postrider/runtime/web/egress"
)

// inboundPeers are the dependencies of the module inbound for checking messages.
var inboundPeers = fx.Provide(newVerifier, newSpamFilter)

// testMail passes mail of test mode to the server that captures it, and reports of its simulated receivers to the
// listener for mail servers.
var testMail = fx.Options(
	fx.Provide(func(s *devinbox.Service) outbound.TestMail { return s }),
	fx.Invoke(func(s *devinbox.Service, _ outbound.TestMail, in *listeners.Inbound) {
		s.ReportTo(in.Addr())
	}),
)

func newVerifier(resolver *dnsx.Resolver, budget *intake.Budget, log *slog.Logger) inbound.Verifier {
	return createVerifier(resolver, budget, log)
}

// newReportVerifier returns the verifier of messages with DMARC reports.
func newReportVerifier(resolver *dnsx.Resolver, budget *intake.Budget, log *slog.Logger) deliverability.Verifier {
	return createVerifier(resolver, budget, log)
}

func createVerifier(resolver *dnsx.Resolver, budget *intake.Budget, log *slog.Logger) *authn.Verifier {
	return authn.New(authn.Config{Resolver: resolver.SMTP(), Logger: log,
		Memory: func(ctx context.Context, from netip.Addr, octets int64) (func(), error) {
			return budget.AcquireWork(ctx, intake.Tenant{Remote: from}, octets, hashPatience)
		}})
}

// hashPatience is longer than the total time of a verification.
const hashPatience = time.Minute

// newSpamFilter returns nil if none is configured.
func newSpamFilter(cfg setting.Values) (inbound.SpamFilter, error) {
	if inbound.RspamdURL.Get(cfg) == "" {
		return nil, nil //nolint:nilnil // nil is valid: no filter
	}
	return rspamd.New(rspamd.Config{URL: inbound.RspamdURL.Get(cfg)})
}

// emailChecks are the dependencies of the module sending for checking emails before they are sent.
var emailChecks = fx.Provide(newLinkChecker, newOutgoingSpamFilter)

func newLinkChecker(cfg setting.Values, resolver *dnsx.Resolver) sending.LinkChecker {
	return linkcheck.New(linkcheck.Config{Client: newFileClient(cfg, resolver), AnyPort: cfg.Mode == setting.Dev})
}

// newFileClient returns the client for URLs of accounts that are only read. Outside of development, no private
// addresses are allowed, not even those of webhooks.
func newFileClient(cfg setting.Values, resolver *dnsx.Resolver) *http.Client {
	dev := cfg.Mode == setting.Dev
	guard := egress.NewGuard(nil)
	if dev {
		guard = egress.NewGuard(egress.Allow.Get(cfg))
	}
	return egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: dev,
		Lookup: egress.WithLocalhost(resolver.LookupIP)})
}

// newOutgoingSpamFilter returns nil if none is configured.
func newOutgoingSpamFilter(cfg setting.Values) (sending.SpamFilter, error) {
	filter, err := newSpamFilter(cfg)
	if filter == nil || err != nil {
		return nil, err
	}
	return filter, nil
}
