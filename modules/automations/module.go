package automations

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/modules/automations/ingest"
	"github.com/postrider/postrider/modules/automations/steps"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sms"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/work/bus"
	"github.com/postrider/postrider/runtime/work/node"
)

// Module provides *Service, which accepts events and runs automations, and *figures.Service, which counts the
// outcomes of runs.
var Module = fx.Module("automations",
	fx.Provide(ConfigOf, New, figures.New),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "custom events and runs", Active: true, Purge: s.Purge, Erase: s.Erase,
			EraseUser: s.EraseUser}
	}),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		lease := s.steps.Lease()
		return clockstep.Repair{What: "runs of automations", Columns: []clockstep.TimeColumn{
			{Table: "automation_works", Name: "due_at", Where: "state <> 'waiting'", Limit: lease, Reset: lease},
			{Table: "automation_works", Name: "ready_at"},
		}}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "runs of archived automations", Run: s.Sweep}
	}),
	fx.Provide(
		fx.Private,
		func(b *bus.Bus) (Bus, Timeline) { return b, b.Log() },
		func(s *domains.Service) steps.Domains { return s },
		func(s *templates.Service) steps.Templates { return s },
		func(s *sending.Service) steps.Sender { return s },
		module.Nearby[steps.Texter, sms.Service],
		func(s *records.Service) figures.Mails { return s },
		module.Nearby[figures.Visits, tracking.Service],
		module.Nearby[figures.TextMessages, sms.Service],
		module.Nearby[Statistics, statistics.Service],
		func(s *idempotency.Store) ingest.Answers { return s },
		func(s *db.Signals) steps.Signals { return s },
		func(n *node.Node) steps.Node { return n },
	),
	fx.Invoke(func(t *templates.Service) { t.RegisterUse(usesOfTemplate) }),
	// Runs while Fx wires the modules, before the first start hook, so the bus has not started yet.
	fx.Invoke(func(lc fx.Lifecycle, s *Service, b *bus.Bus) {
		b.Register(s.Consumer())
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
