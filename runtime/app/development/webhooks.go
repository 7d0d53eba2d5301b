package development

import (
	"net"
	"net/netip"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/devinbox/hooks"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/ops/module"
)

// OwnURL is the URL under which this process reaches its own HTTP listener. The base URL may belong to a
// proxy or another machine, where webhooks of development mode are not sent.
type OwnURL string

// ReachOf returns the Reach of a listener. A listener on all addresses is reached over loopback.
func ReachOf(l net.Listener) OwnURL {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err == nil && at.Addr().IsUnspecified() {
		return OwnURL("http://" + netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String())
	}
	return OwnURL("http://" + l.Addr().String())
}

// ReceivedWebhooks adds the receivers of webhooks. A failed delivery to them is retried within seconds, so
// that developers see its final state.
var ReceivedWebhooks = fx.Options(
	fx.Provide(
		func(r OwnURL) hooks.Config { return hooks.Config{BaseURL: string(r)} },
		module.Nearby[hooks.Signatures, webhooks.Service],
		func(r OwnURL) webhooks.BriefURLPrefix { return webhooks.BriefURLPrefix(string(r) + hooks.Path + "/") },
	),
)
