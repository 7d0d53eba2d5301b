package notes

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/ops/module"
)

// Module returns *Service and everything that it contributes.
var Module = fx.Module("notes",
	fx.Provide(New),
	module.ProvideSweep(func(s *Service) module.Sweep { return module.Sweep{What: "notes", Run: s.Sweep} }),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "notes", Purge: s.Purge, Erase: s.Erase}
	}),
	module.ProvideHealth(func(*Service) module.Health {
		return module.Health{Name: "notes", Ask: func(context.Context) (module.Condition, error) {
			return module.Condition{Figures: map[string]float64{"pages": 7}}, nil
		}}
	}),
	fx.Invoke(func(registry prometheus.Registerer) error {
		return registry.Register(prometheus.NewCounter(prometheus.CounterOpts{Name: "postrider_notes_total",
			Help: "Notes."}))
	}),
)
