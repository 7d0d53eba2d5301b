package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/graph"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/webhooks"
	"github.com/postrider/postrider/rest"
	inboxpages "github.com/postrider/postrider/rest/devinbox"
	restdomains "github.com/postrider/postrider/rest/domains"
	restemails "github.com/postrider/postrider/rest/emails"
	resteventlog "github.com/postrider/postrider/rest/eventlog"
	restsuppressions "github.com/postrider/postrider/rest/suppressions"
	resttemplates "github.com/postrider/postrider/rest/templates"
	"github.com/postrider/postrider/rest/unsubscribe"
	restwebhooks "github.com/postrider/postrider/rest/webhooks"
	"github.com/postrider/postrider/runtime/config"
	"github.com/postrider/postrider/runtime/db"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/intake"
	"github.com/postrider/postrider/runtime/node"
	"github.com/postrider/postrider/runtime/ratelimit"
	"github.com/postrider/postrider/runtime/secret"
	"github.com/postrider/postrider/runtime/telemetry"
)

// What each module shows at the edges. A module that is off provides nothing, so
// its routes and fields do not exist.
var (
	domainsEdges = fx.Options(
		routes(func(s *domains.Service) rest.Routes { return restdomains.Routes(s) }),
		routes(func(p *domains.Publisher) rest.Routes { return restdomains.DNSRoutes(p) }),
	)
	suppressionEdges = routes(func(s *suppression.Service) rest.Routes { return restsuppressions.Routes(s) })

	eventlogEdges = routes(func(s *eventlog.Service) rest.Routes { return resteventlog.Routes(s) })

	templatesEdges = routes(func(s *templates.Service) rest.Routes { return resttemplates.Routes(s) })
	sendingEdges   = fx.Options(
		routes(func(s *sending.Service, r *records.Service) rest.Routes { return restemails.Routes(s, r) }),
		routes(func(r *records.Service, d testDelivery) rest.Routes {
			return restwebhooks.TestEventRoutes(r, d.orNone())
		}),
	)
)

func routes(constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"routes"`)))
}

// edgeParams are the services of the modules that are on.
type edgeParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    config.Config
	Options   Options
	DB        *db.DB
	Logger    *slog.Logger
	Registry  *prometheus.Registry
	Tracing   *telemetry.Tracing
	Rate      *ratelimit.Limiter
	Budget    *intake.Budget
	Node      *node.Node
	Answers   *idempotency.Store
	Box       *secret.Box
	Routes    []rest.Routes `group:"routes"`
	Accounts  *accounts.Service
	Domains   *domains.Service   `optional:"true"`
	Records   *records.Service   `optional:"true"`
	Queue     *queue.Service     `optional:"true"`
	Inbox     *devinbox.Service  `optional:"true"`
	Templates *templates.Service `optional:"true"`
	Tracking  *tracking.Service  `optional:"true"`
	EventLog  *eventlog.Service  `optional:"true"`

	TrackingTLS *trackingTLS `optional:"true"`

	Suppression *suppression.Service `optional:"true"`
	Webhooks    *webhooks.Service    `optional:"true"`
	Received    *inbound.Service     `optional:"true"`
	Relay       *relay.Service       `optional:"true"`
}

// edges serves HTTP over everything that is on.
func edges(f Foundation) fx.Option {
	return fx.Invoke(func(p edgeParams) error {
		health := &health{db: p.DB, stored: p.Node.Stored, draining: f.Draining, log: p.Logger, late: p.queueLateness()}
		if err := p.gaugeQueue(health.late); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		handler, err := p.handler(f.names(), health)
		if err != nil {
			return fmt.Errorf("http: %w", err)
		}
		gate := newHTTPGate(httpConnections, intake.Floor, p.Config.HTTP.TrustedProxies)
		s := newServer(gate.before(f.Listener), handler, f.Draining, p.Logger, f.Fail)
		gate.attach(s.http)
		if p.EventLog != nil {
			s.http.RegisterOnShutdown(p.EventLog.Drain) // streams would hold a stop up
		}
		p.Lifecycle.Append(fx.Hook{OnStart: s.start, OnStop: s.stop})
		return nil
	})
}

func (f Foundation) names() []string {
	var on []string
	for _, m := range f.Modules {
		on = append(on, m.Name)
	}
	return on
}

// handler is the one mux of the process.
func (p edgeParams) handler(on []string, health *health) (http.Handler, error) {
	rate := accountRate{p.Rate}
	api, err := rest.New(rest.Options{Auth: p.Accounts, Limits: p.Accounts, Rate: rate, Answers: p.Answers, Sealer: p.Box, Routes: p.Routes, Logger: p.Logger, Budget: p.Budget,
		Version: p.Options.Version, BaseURL: p.Config.HTTP.BaseURL})
	if err != nil {
		return nil, err
	}
	query, err := graph.New(p.graphOptions(on, rate))
	if err != nil {
		return nil, err
	}
	observe, err := telemetry.NewHTTP(telemetry.HTTPParams{Logger: p.Logger, Registry: p.Registry, Tracing: p.Tracing,
		Quiet: []string{"GET /healthz", "GET /readyz", "GET /metrics"}})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/graphql", query)
	mux.HandleFunc("GET /healthz", health.live)
	mux.HandleFunc("GET /readyz", health.ready)
	mux.Handle("GET /metrics", p.metrics())
	mux.Handle("GET /{$}", p.home())
	if p.Inbox != nil {
		pages := inboxpages.New(p.Inbox, p.Logger, hostOf(p.Config.HTTP.BaseURL))
		for _, path := range []string{inboxpages.Prefix, inboxpages.Prefix + "/", inboxpages.JSONPath} {
			mux.Handle(path, pages)
		}
	}
	p.serveTrackingHosts(observe)
	return observe.Wrap(p.challenges(apiFirst(api, p.unsubscribeFirst(p.trackedFirst(mux))))), nil
}

// apiFirst keeps the API's paths from the mux, which answers an unclean one with a
// redirect in HTML: every answer of the API is JSON.
func apiFirst(api, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == rest.Prefix || strings.HasPrefix(r.URL.Path, rest.Prefix+"/") {
			api.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// unsubscribeFirst keeps the unsubscribe links from the mux likewise: RFC 8058
// section 3.2 forbids to follow a redirect.
func (p edgeParams) unsubscribeFirst(others http.Handler) http.Handler {
	if p.Suppression == nil {
		return others
	}
	o := unsubscribe.Options{Links: p.Suppression, Logger: p.Logger}
	if p.Records != nil {
		o.Senders = p.Records
	}
	pages := unsubscribe.New(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, unsubscribe.Prefix) {
			pages.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// graphOptions keeps nil services out of interfaces: a nil pointer in one is not nil.
func (p edgeParams) graphOptions(on []string, rate graph.RateLimit) graph.Options {
	o := graph.Options{On: on, Auth: p.Accounts, Accounts: p.Accounts, Rate: rate, Budget: p.Budget, Logger: p.Logger}
	if p.Domains != nil {
		o.Domains = p.Domains
	}
	if p.Records != nil {
		o.Emails, o.Queue = p.Records, p.Queue
	}
	if p.Templates != nil {
		o.Templates = p.Templates
	}
	if p.Suppression != nil {
		o.Suppressions = p.Suppression
	}
	if p.Webhooks != nil {
		o.Webhooks = p.Webhooks
	}
	if p.Received != nil {
		o.Received = p.Received
	}
	if p.EventLog != nil {
		o.Events = p.EventLog
	}
	if p.Relay != nil {
		o.SMTPCredentials = p.Relay
	}
	if p.Tracking != nil {
		o.Engagements = p.Tracking
	}
	return o
}

// accountRate counts requests to all edges by the plan of the account.
type accountRate struct{ limiter *ratelimit.Limiter }

func (r accountRate) Admit(ctx context.Context, a accounts.Account, header http.Header) error {
	return r.limiter.Admit(ctx, ratelimit.Account{ID: a.ID, PerSecond: a.Plan.RequestsPerSecond, Unmetered: a.Unmetered}, header)
}

func (p edgeParams) home() home {
	h := home{Version: p.Options.Version, Dev: p.Config.Mode == config.Dev, log: p.Logger, Links: []homeLink{
		{"/api/docs", "API reference", "every operation, with examples"},
		{"/api/openapi.json", "OpenAPI document", "for generators and tools"},
	}}
	if p.Inbox != nil {
		h.Links = append(h.Links, homeLink{inboxpages.Prefix, "Development inbox", "the mail that was sent"})
	}
	return h
}

func hostOf(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
