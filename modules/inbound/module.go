package inbound

import (
	"context"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/runtime/bus"
)

// Module gives *Service. Who listens is the assembly's matter, and so are Verifier,
// SpamFilter and the object store.
var Module = fx.Module("inbound",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *accounts.Service) Accounts { return s },
		func(s *domains.Service) Domains { return s },
		func(b *bus.Bus) Bus { return b },
		sender,
	),
	fx.Invoke(func(lc fx.Lifecycle, s *Service) {
		lc.Append(fx.Hook{
			OnStart: func(ctx context.Context) error { return s.Start(ctx) },
			OnStop:  func(ctx context.Context) error { return s.Stop(ctx) },
		})
	}),
)

// sendingParams may be empty: the module can be switched off.
type sendingParams struct {
	fx.In

	Sending *sending.Service `optional:"true"`
}

// sender keeps a nil pointer out of the interface, where it would not be nil.
func sender(p sendingParams) Sender {
	if p.Sending == nil {
		return nil
	}
	return p.Sending
}
