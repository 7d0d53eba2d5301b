package compose

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/unsubscribe"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/tracking"
)

// Module provides *Composer.
var Module = fx.Module("sending/compose",
	fx.Provide(New),
	fx.Provide(
		fx.Private,
		func(s *domains.Service) Domains { return s },
		func(s *suppression.Service) unsubscribe.Links { return s },
		newRewriter,
		func(s *records.Service) Contents { return s },
	),
)

// trackingParams may be empty, because the module tracking can be disabled.
type trackingParams struct {
	fx.In

	Rewriter *tracking.Rewriter `optional:"true"`
}

// newRewriter returns a nil interface for a nil pointer.
func newRewriter(p trackingParams) Rewriter {
	if p.Rewriter == nil {
		return nil
	}
	return p.Rewriter
}
