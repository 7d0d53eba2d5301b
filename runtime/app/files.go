package app

import (
	"log/slog"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/attachments"
	"github.com/postrider/postrider/rest/pages/images"
	restreceived "github.com/postrider/postrider/rest/received"
	resttemplates "github.com/postrider/postrider/rest/templates"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/web/filelink"
)

// sentFiles and receivedFiles return attachments by signed links.
var (
	sentFiles = provideLinks(func(s *records.Service, links *filelink.Links, budget *intake.Budget,
		log *slog.Logger) link {
		return link{prefix: attachments.SentPrefix, handler: attachments.New(attachments.Options{Source: s, Links: links,
			Prefix: attachments.SentPrefix, Budget: budget, Logger: log})}
	})
	receivedFiles = provideLinks(func(s *inbound.Service, links *filelink.Links, budget *intake.Budget,
		log *slog.Logger) link {
		return link{prefix: attachments.ReceivedPrefix, handler: attachments.New(attachments.Options{Source: s,
			Links: links, Prefix: attachments.ReceivedPrefix, Budget: budget, Logger: log})}
	})
)

func templateRoutes(s *templates.Service, names *accounts.Service, cfg setting.Values) api.Routes {
	return resttemplates.Routes(s, names, config.BaseURL.Get(cfg))
}

// templateImages serves the images of templates.
var templateImages = provideLinks(func(s *templates.Service, log *slog.Logger) link {
	return link{prefix: resttemplates.ImagePrefix, handler: images.New(resttemplates.ImagePrefix, s, log)}
})

// newFileLinks creates the links of attachments.
func newFileLinks(box *secret.Box, cfg setting.Values) *filelink.Links {
	return filelink.New(box, config.BaseURL.Get(cfg))
}

func sentFileRoutes(r *records.Service, links *filelink.Links) api.Routes {
	return attachments.SentRoutes(r, links)
}

func receivedRoutes(s *inbound.Service) api.Routes {
	return restreceived.Routes(s, s == nil || s.CanReply())
}

func receivedFileRoutes(s *inbound.Service, links *filelink.Links) api.Routes {
	return attachments.ReceivedRoutes(s, links)
}
