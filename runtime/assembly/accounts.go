package assembly

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/secret"
)

// accountsEdges is what the module accounts shows over REST.
var accountsEdges = fx.Options(
	routes(func(s *accounts.Service) rest.Routes { return rest.Account(s) }),
	routes(func(s *accounts.Service, i *idempotency.Store, b *secret.Box) rest.Routes {
		return rest.APIKeys(s, i, b)
	}),
)
