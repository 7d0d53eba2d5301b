package bounces

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/work/bus"
)

// Module provides *Service, which receives mail to return paths.
var Module = fx.Module("bounces",
	fx.Provide(New),
	module.ProvideRecipients(func(s *Service) module.Recipients {
		return module.Recipients{Handler: s.ListenerHandler(), Elsewhere: Elsewhere}
	}),
	fx.Provide(
		fx.Private,
		func(s *records.Service) Mail { return s },
		func(s *accounts.Service) Accounts { return s },
		func(b *bus.Bus) Bus { return b },
	),
)
