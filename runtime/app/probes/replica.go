package probes

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/ops/store"
)

// Replica reports the condition of the database replica on GET /readyz, if one is configured. The metrics
// exist in any case. An unavailable replica does not remove a process from a load balancer.
func Replica(set bool) fx.Option {
	registered := fx.Invoke(func(s *store.Store,
		registry prometheus.Registerer) error {
		return s.Replica.Register(registry)
	})
	if !set {
		return registered
	}
	return fx.Options(registered,
		fx.Invoke(func(lc fx.Lifecycle, s *store.Store, workers *worker.Metrics) {
			lc.Append(fx.StartStopHook(func() { s.Replica.Start(workers) }, s.Replica.Stop))
		}),
		module.ProvideHealth(func(s *store.Store) module.Health {
			return module.Health{Name: "replica", Ask: func(context.Context) (module.Condition, error) {
				if why := s.Replica.Status().PassedOver; why != "" {
					return module.Condition{Degraded: true,
						Details: []string{"the primary serves lists, search and statistics: " + why}}, nil
				}
				return module.Condition{}, nil
			}}
		}),
	)
}
