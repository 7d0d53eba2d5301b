package probes

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/work/node"
)

// Hold reports on GET /readyz and in the metrics whether the whole installation is held.
var Hold = fx.Options(
	module.ProvideHealth(func(n *node.Node) module.Health {
		return module.Health{Name: "delivery", Ask: func(context.Context) (module.Condition, error) {
			held := n.CurrentHold()
			if held == nil {
				return module.Condition{}, nil
			}
			return module.Condition{Degraded: true,
				Figures: map[string]float64{"held_seconds": math.Floor(time.Since(held.Since).Seconds())}}, nil
		}}
	}),
	fx.Invoke(func(n *node.Node, registry prometheus.Registerer) error {
		return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "postrider_delivery_held",
			Help: "1 while the whole installation is held and nothing leaves it (postrider admin hold), else 0."},
			func() float64 {
				if n.CurrentHold() != nil {
					return 1
				}
				return 0
			}))
	}),
)
