package runtime

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/config"
)

func trackingConfig(cfg config.Config) tracking.Config {
	return tracking.Config{BaseURL: cfg.HTTP.BaseURL}
}

// trackingEdges are what tracking shows.
var trackingEdges = fx.Options()
