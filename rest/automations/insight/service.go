package insight

import (
	"context"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/rest/api"
	restautomations "github.com/postrider/postrider/rest/automations"
)

// Service is the part of automations that these operations use.
type Service interface {
	Simulate(ctx context.Context, caller accounts.Caller, automationID string,
		in automations.SimulationInput) (automations.SimulationResult, error)
	Backtest(ctx context.Context, caller accounts.Caller, automationID string,
		in automations.BacktestInput) (automations.Backtest, error)
	Compare(ctx context.Context, accountID, automationID string, number int,
		against automations.Against) (automations.Comparison, error)
	Explain(ctx context.Context, accountID, eventID string) (automations.EventExplanation, error)
	Timeline(ctx context.Context, accountID, runID string) ([]automations.TimelineEntry, error)
}

var _ Service = (*automations.Service)(nil)

type edge struct{ service Service }

// Routes returns the routes of the resource.
func Routes(service Service) api.Routes {
	return api.NewRoutes("automations insight", func(a *api.API) {
		e := &edge{service}
		g := a.Tag(restautomations.Tag, "")
		e.addSimulation(g)
		e.addTimeline(g)
		e.addExplanation(g)
	})
}
