package probes

import (
	"context"
	"math"
	"time"

	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
)

// degradedFor is how long GET /readyz is degraded after a step of the clock.
const degradedFor = time.Hour

// Clock reports on GET /readyz, for a day, that the database clock stepped back.
var Clock = module.ProvideHealth(func(w *clockstep.Watch) module.Health {
	return module.Health{Name: "database_clock", Ask: func(context.Context) (module.Condition, error) {
		step := w.Latest()
		if step == nil {
			return module.Condition{Off: true}, nil
		}
		return module.Condition{Degraded: time.Since(step.At) < degradedFor, Details: []string{step.String()},
			Figures: map[string]float64{"stepped_back_seconds": math.Round(step.By.Seconds())}}, nil
	}}
})
