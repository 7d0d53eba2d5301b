package development

import (
	"net"
	"net/netip"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/devinbox/hooks"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/runtime/ops/module"
)

// Reach is the URL under which this process reaches its own HTTP listener. The base URL may be that of
// a proxy or of another machine, where webhooks of development mode do not go.
type Reach string

// ReachOf returns the Reach of a listener. One at all addresses is reached at loopback.
func ReachOf(l net.Listener) Reach {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err == nil && at.Addr().IsUnspecified() {
		return Reach("http://" + netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String())
	}
	return Reach("http://" + l.Addr().String())
}

// ReceivedWebhooks joins the receivers of webhooks with the rest. A delivery to them that fails is tried
// again within seconds, so that people see it to its end.
var ReceivedWebhooks = fx.Options(
	fx.Provide(
		func(r Reach) hooks.Config { return hooks.Config{BaseURL: string(r)} },
		module.Nearby[hooks.Signatures, webhooks.Service],
		func(r Reach) webhooks.BriefURLPrefix { return webhooks.BriefURLPrefix(string(r) + hooks.Path + "/") },
	),
)
