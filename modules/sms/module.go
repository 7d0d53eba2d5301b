package sms

import (
	"context"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sms/callback"
	"github.com/postrider/postrider/modules/sms/handover"
	"github.com/postrider/postrider/modules/sms/link"
	"github.com/postrider/postrider/modules/sms/optout"
	"github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/work/node"
)

// configOf returns the configuration of handover. A process that does not deliver mail does not submit text
// messages either.
func configOf(cfg setting.Values) handover.Config {
	return handover.Config{Idle: config.DeliveryConcurrency.Get(cfg) == 0}
}

// linksOf returns the links below the public URL of this installation.
func linksOf(cfg setting.Values, box *secret.Box) link.Links {
	return link.New(strings.TrimSuffix(config.BaseURL.Get(cfg), "/"), box.DeriveEach("sms links"))
}

// Module provides *Service, which stores and submits text messages, and the services of its packages: the
// settings of accounts, opt-outs, and the callbacks of providers.
var Module = fx.Module("sms",
	fx.Provide(settings.ConfigOf, settings.New, optout.New, callback.New, New),
	module.ProvidePersonalData(func(s *Service) module.PersonalData {
		return module.PersonalData{What: "text messages", Purge: s.Purge, Erase: s.Erase, EraseUser: s.EraseUser}
	}),
	module.ProvideSweep(func(s *Service) module.Sweep {
		return module.Sweep{What: "counters of text messages", Run: s.Sweep}
	}),
	module.ProvideRepair(func(s *Service) clockstep.Repair {
		lease := s.handover.Lease()
		return clockstep.Repair{What: "text messages", Columns: []clockstep.TimeColumn{
			{Table: "sms_messages", Name: "due_at", Where: "attempts = 0", Limit: handover.SuspendedPause},
			{Table: "sms_messages", Name: "due_at", Where: "attempts > 0", Limit: lease, Reset: lease},
			{Table: "sms_messages", Name: "expires_at", Limit: triesFor, Reset: triesFor},
		}}
	}),
	module.ProvideHealth(func(s *Service) module.Health { return module.Health{Name: "sms", Ask: s.queueCondition} }),
	fx.Provide(
		fx.Private,
		configOf, linksOf,
		func(s *accounts.Service) Accounts { return s },
		func(s *db.Signals) handover.Signals { return s },
		func(n *node.Node) handover.Node { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)
