package assembly

import (
	"context"
	"net/http"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/rest"
	restdomains "github.com/postrider/postrider/rest/domains"
	"github.com/postrider/postrider/rest/track"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
)

func trackingConfig(cfg config.Config) tracking.Config {
	return tracking.Config{BaseURL: cfg.HTTP.BaseURL, Target: cfg.Names.TrackingHost, Own: []string{hostOf(cfg.HTTP.BaseURL),
		cfg.Names.SandboxDomain, cfg.Names.ReturnPathHost, cfg.Names.SPFInclude, cfg.Names.SMTPHost, cfg.Mail.Hostname}}
}

// trackingEdges are what tracking shows, and what it needs of a module that itself
// needs tracking.
var trackingEdges = fx.Options(
	fx.Provide(newTrackingTLS, certificatesOf),
	fx.Provide(func(p struct {
		fx.In

		Records *records.Service `optional:"true"`
	},
	) tracking.Announcer {
		if p.Records == nil {
			return nil
		}
		return announcer{p.Records}
	}),
	routes(func(s *tracking.Service) rest.Routes { return restdomains.TrackingHostRoutes(s) }),
)

// announcer tells of opens and clicks with the email's own data, which the records have.
type announcer struct{ records *records.Service }

func (a announcer) Announce(ctx context.Context, tx db.Execer, seen []tracking.Seen) (int, error) {
	notices := make([]records.Notice, len(seen))
	for i, s := range seen {
		notices[i] = records.Notice{AccountID: s.AccountID, EmailID: s.EmailID, Type: s.Type, Fill: s.Fill}
	}
	return a.records.Announce(ctx, tx, notices...)
}

// trackedFirst keeps the public links from the mux, which answers an unclean path
// with a redirect: a link that is not genuine leads nowhere.
func (p edgeParams) trackedFirst(others http.Handler) http.Handler {
	if p.Tracking == nil {
		return others
	}
	links := p.links()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, tracking.Prefix) {
			links.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

func (p edgeParams) links() http.Handler {
	return track.New(track.Options{Tracker: p.Tracking, Proxies: p.Config.HTTP.TrustedProxies, Logger: p.Logger})
}
