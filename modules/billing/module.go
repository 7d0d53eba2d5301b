package billing

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/postrider/postrider/runtime/base/worker"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service, which syncs with the payment provider in the background while billing is enabled.
var Module = fx.Module("billing",
	fx.Provide(ConfigOf, New),
	fx.Provide(fx.Private, func(b *bus.Bus) Publisher { return b }),
	module.ProvideRepair(func() clockstep.Repair {
		return clockstep.Repair{What: "customers and usage reports", Columns: []clockstep.TimeColumn{
			{Table: "billing_customers", Name: "sync_due_at"},
			{Table: "billing_subscriptions", Name: "metered_until"},
			{Table: "usage_reports", Name: "due_at", Key: "account_id, hour", Where: "reported_revision < revision"},
		}}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "old events of the payment provider", Run: s.events.sweepEvents}
	}),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{OnStart: s.Start, OnStop: s.Stop})
	}),
)

// Start starts notifying users about their limits and, while billing is enabled, syncing customers and
// reporting usage.
func (s *Service) Start(context.Context) error {
	s.tasks.Start(s.reminders...)
	if !s.config.isEnabled() {
		return nil
	}
	s.tasks.Start(
		worker.Every("customers of the payment provider", time.Second, s.customers.syncDue),
		worker.Every("usage for the payment provider", 30*time.Second, s.events.meter.Run).WithFirstDelay(0),
		worker.Every("billing metrics", time.Minute, s.events.updateGauges),
		worker.Every("reconciliation of usage", daily, s.events.meter.Reconcile),
	)
	return nil
}

// notifyEvery is the maximum delay of an email and an event about a limit.
const notifyEvery = 5 * time.Minute

// Stop stops the tasks.
func (s *Service) Stop(ctx context.Context) error {
	s.tasks.Stop(ctx)
	return nil
}
