package app

import (
	"net/http"

	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/rest/pages/dashboard"
	resttemplates "github.com/postrider/postrider/rest/templates"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
)

// home serves the dashboard at every path without another handler. If the dashboard was not built, a page
// with links replaces it.
func (p edgeParams) home() (http.Handler, error) {
	door, err := admission.New(p.Accounts, p.userSessions(),
		config.TrustedProxies.Get(p.Config), append([]string{config.BaseURL.Get(p.Config)}, config.OtherOrigins(p.Config)...)...)
	if err != nil {
		return nil, err
	}
	o := dashboard.Options{Version: p.Options.Version, Dev: p.Config.Mode == setting.Dev, Door: door, Budget: p.Budget,
		Images: config.BaseURL.Get(p.Config) + resttemplates.ImagePrefix, Logger: p.Logger, Links: []dashboard.Link{
			{Path: "/api/docs", Name: "API reference", Line: "every operation, with examples"},
			{Path: "/api/openapi.json", Name: "OpenAPI document", Line: "for generators and tools"},
		}}
	for _, page := range p.Pages {
		if page.home.Path != "" {
			o.Links = append(o.Links, page.home)
		}
	}
	return dashboard.New(o)
}
