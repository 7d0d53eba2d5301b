package assembly

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/rest"
	restwebhooks "github.com/postrider/postrider/rest/webhooks"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/mail/dnsx"
)

func webhooksConfig(cfg config.Config, resolver *dnsx.Resolver) webhooks.Config {
	return webhooks.Config{Allow: cfg.Webhooks.Allow, PlainLoopback: cfg.Webhooks.PlainLoopback, Lookup: resolver.LookupIP,
		AcceptOnly: cfg.Mail.Concurrency == 0}
}

// webhooksEdges are its routes, and its part in keeping house.
var webhooksEdges = fx.Options(
	routes(func(s *webhooks.Service) rest.Routes { return restwebhooks.Routes(s) }),
	routes(func(s *webhooks.Service) rest.Routes { return restwebhooks.DeliveryRoutes(s) }),
	fx.Provide(fx.Annotate(func(s *webhooks.Service) sweep {
		return sweep{what: "webhook deliveries", run: s.Sweep}
	}, fx.ResultTags(`group:"sweeps"`))),
)

// testDelivery may be empty: the module can be switched off.
type testDelivery struct {
	fx.In

	Webhooks *webhooks.Service `optional:"true"`
}

// orNone keeps a nil pointer out of the interface, where it would not be nil.
func (d testDelivery) orNone() restwebhooks.Delivery {
	if d.Webhooks == nil {
		return nil
	}
	return d.Webhooks
}
