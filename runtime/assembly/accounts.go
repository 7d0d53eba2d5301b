package assembly

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/rest"
	restaccount "github.com/postrider/postrider/rest/account"
)

// accountsEdges is what the module accounts shows over REST.
var accountsEdges = fx.Options(
	routes(func(s *accounts.Service) rest.Routes { return restaccount.Routes(s) }),
	routes(func(s *accounts.Service) rest.Routes { return restaccount.KeyRoutes(s) }),
)
