package delivery

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/runtime/bus"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/mail/smtpclient"
	"github.com/postrider/postrider/runtime/node"
)

// Module gives *Service and runs its deliveries.
var Module = fx.Module("sending/delivery",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(s *domains.Service) Domains { return s },
		func(s *suppression.Service) unsubscribe.Links { return s },
		rewriter,
		func(s *records.Service) Contents { return s },
		func(b *bus.Bus) Bus { return b },
		func(s *outbound.Service) Ways { return s },
		func(t *smtpclient.Transport) Transport { return t },
		func(s *db.Signals) Signals { return s },
		func(n *node.Node) Node { return n },
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)

// trackingParams may be empty: the module can be switched off.
type trackingParams struct {
	fx.In

	Rewriter *tracking.Rewriter `optional:"true"`
}

// rewriter keeps a nil pointer out of the interface, where it would not be nil.
func rewriter(p trackingParams) Rewriter {
	if p.Rewriter == nil {
		return nil
	}
	return p.Rewriter
}
