package assembly

import (
	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/retention"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/rest"
	restcontacts "github.com/postrider/postrider/rest/contacts"
)

// retentionEdges tell retention who keeps things, of the modules that are on, and
// show its routes.
var retentionEdges = fx.Options(
	fx.Provide(func(p struct {
		fx.In

		Records     *records.Service     `optional:"true"`
		Suppression *suppression.Service `optional:"true"`
		Tracking    *tracking.Service    `optional:"true"`
		Inbound     *inbound.Service     `optional:"true"`
		Webhooks    *webhooks.Service    `optional:"true"`
	},
	) retention.Neighbours {
		var near retention.Neighbours
		if p.Records != nil {
			near.Mail = p.Records
		}
		if p.Suppression != nil {
			near.Blocklist = p.Suppression
		}
		if p.Tracking != nil {
			near.Follower = p.Tracking
		}
		if p.Inbound != nil {
			near.Inbox = p.Inbound
		}
		if p.Webhooks != nil {
			near.Listeners = p.Webhooks
		}
		return near
	}),
	routes(func(s *retention.Service) rest.Routes { return restcontacts.Routes(s) }),
)
