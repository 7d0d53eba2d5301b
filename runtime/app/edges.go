package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/fx"

	"github.com/postrider/postrider/graph"
	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/tracking/linkrules"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/rest/mcp"
	"github.com/postrider/postrider/rest/pages/dashboard"
	"github.com/postrider/postrider/rest/pages/explorer"
	"github.com/postrider/postrider/rest/pages/manual"
	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/app/probes"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
	"github.com/postrider/postrider/runtime/web/clientip"
	"github.com/postrider/postrider/runtime/web/idempotency"
	"github.com/postrider/postrider/runtime/web/ratelimit"
	"github.com/postrider/postrider/runtime/web/static"
	"github.com/postrider/postrider/runtime/web/theme"
	"github.com/postrider/postrider/runtime/work/node"
)

// edgeParams are the edges of the enabled modules and the parts that serve them. A disabled module adds nothing to the
// groups, so none of its paths are served.
type edgeParams struct {
	fx.In

	Lifecycle fx.Lifecycle
	Config    setting.Values
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
	Accounts  *accounts.Service
	Storage   *storage.Service
	Audit     *audit.Service
	Cursors   *page.Codec
	SignIn    *signin.Service  `optional:"true"`
	Domains   *domains.Service `optional:"true"`
	APILog    *apilog.Service  `optional:"true"`
	Served    *Routes

	Routes    []api.Routes       `group:"routes"`
	Compat    []compat.Provider  `group:"compat"`
	Parts     []graph.ServiceSet `group:"graph"`
	Pages     []webPage          `group:"pages"`
	Links     []link             `group:"links"`
	Agents    agentTools         `optional:"true"`
	LinkRules *linkrules.Rules   `optional:"true"` // rules for tracked links; nil if the module is disabled

	Health []module.Health `group:"health"`
	Drains []module.Drain  `group:"drains"`

	Secured *secured
}

// provideEdges serves all enabled parts over HTTP.
func provideEdges(f Foundation) fx.Option {
	return fx.Invoke(func(p edgeParams) error {
		fronted := p.isBehindProxy(f.Listener)
		health := probes.New(probes.Params{DB: p.DB, Stored: p.Node.SinceStored, Draining: f.Draining, Logger: p.Logger,
			Parts: p.Health,
			Local: func(r *http.Request) bool { return !fronted && clientip.IsDirectLocalRequest(r) }})
		local, err := p.serveMetrics(fronted)
		if err != nil {
			return err
		}
		handler, err := p.handler(f.names(), health, local)
		if err != nil {
			return fmt.Errorf("http: %w", err)
		}
		observed, err := telemetry.NewHTTP(telemetry.HTTPParams{Logger: p.Logger, Registry: p.Registry,
			Tracing: p.Tracing,
			Quiet:   []string{"GET /healthz", "GET /readyz", "GET /metrics"}})
		if err != nil {
			return fmt.Errorf("http: %w", err)
		}
		p.serveTrackingHosts(observed)
		p.serveHTTP(f, handler, observed)
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

// graphModules returns the modules that have fields in the schema. Development mode adds some more.
func graphModules(mode setting.Mode, on []string) []string {
	if mode == setting.Dev {
		return append(slices.Clone(on), graph.ModuleDevelopment)
	}
	return on
}

// sampleSender returns the sender in the samples of the reference page, so that they work unchanged in
// development.
func sampleSender(mode setting.Mode) string {
	if mode == setting.Dev {
		return "Postrider <hello@" + development.Domain + ">"
	}
	return ""
}

// handler returns the mux of the process.
func (p edgeParams) handler(on []string, health *probes.Probes, local *localMetrics) (http.Handler, error) {
	rate := accountRate{p.Rate}
	api, err := api.New(api.Options{Auth: p.Accounts, People: p.userSessions(), Audit: p.Audit, Log: p.requestLog(),
		Proxies: config.TrustedProxies.Get(p.Config), Origins: config.OtherOrigins(p.Config), Limits: p.Accounts,
		Rate: rate, Storage: p.Storage, Answers: p.Answers, Sealer: p.Box, Routes: p.Routes, Logger: p.Logger,
		Budget:  p.Budget,
		Version: p.Options.Version, BaseURL: config.BaseURL.Get(p.Config), Sender: sampleSender(p.Config.Mode)})
	if err != nil {
		return nil, err
	}
	trusted, err := dashboard.Documents()
	if err != nil {
		return nil, err
	}
	maps.Copy(trusted, mcp.Documents())
	query, err := graph.New(graph.Options{On: graphModules(p.Config.Mode, on), Trusted: trusted,
		Open: p.Config.Mode == setting.Dev, Auth: p.Accounts, People: p.userSessions(), REST: api,
		Origins: append([]string{config.BaseURL.Get(p.Config)}, config.OtherOrigins(p.Config)...), Audit: p.Audit,
		Proxies: config.TrustedProxies.Get(p.Config), Accounts: p.Accounts, Rate: rate, Parts: p.Parts, Budget: p.Budget,
		Logger: p.Logger})
	if err != nil {
		return nil, err
	}
	home, err := p.home(query)
	if err != nil {
		return nil, err
	}
	mux := &listedMux{routes: p.Served}
	sdl, err := schema.SDL(graphModules(p.Config.Mode, on))
	if err != nil {
		return nil, err
	}
	mux.Handle("/graphql", query)
	if err := p.serveExplorer(mux); err != nil {
		return nil, err
	}
	if err := p.serveAgents(mux, api, query, on); err != nil {
		return nil, err
	}
	mux.Handle("GET "+schema.SDLPath,
		static.New([]byte(sdl), http.Header{"Content-Type": {"text/plain; charset=utf-8"},
			"X-Content-Type-Options": {"nosniff"},
			"Cache-Control":          {"public, max-age=300"}}))
	mux.HandleFunc("GET /healthz", health.Live)
	mux.HandleFunc("GET /readyz", health.Ready)
	mux.Handle("GET /metrics", p.metrics(local))
	mux.Handle("/", home)
	texts, err := manual.New(config.BaseURL.Get(p.Config))
	if err != nil {
		return nil, err
	}
	for _, pattern := range manual.Patterns() {
		mux.Handle(pattern, texts)
	}
	for _, path := range []string{theme.Path, theme.PathICO} {
		mux.Handle("GET "+path, theme.New())
	}
	for _, page := range p.Pages {
		for _, path := range page.paths {
			mux.Handle(path, page.handler)
		}
	}
	for _, l := range p.Links {
		p.Served.add(l.prefix)
	}
	p.Served.add(api.Patterns()...)
	return p.trackingHostsFirst(p.policiesFirst(p.hooksFirst(apiFirst(api, p.compatFirst(api, p.linksFirst(mux)))))), nil
}

// serveExplorer serves the editor for GraphQL queries to signed-in users and, in development mode, to any visitor.
func (p edgeParams) serveExplorer(mux *listedMux) error {
	open := p.Config.Mode == setting.Dev
	if p.SignIn == nil && !open {
		return nil
	}
	door, err := admission.New(p.Accounts, p.userSessions(),
		config.TrustedProxies.Get(p.Config), append([]string{config.BaseURL.Get(p.Config)}, config.OtherOrigins(p.Config)...)...)
	if err != nil {
		return err
	}
	page, err := explorer.New(door, open)
	for _, path := range explorer.Paths() {
		mux.Handle(path, page)
	}
	return err
}

// userSessions returns the signed-in users, or nil if sign-in is disabled.
func (p edgeParams) userSessions() admission.Sessions {
	if p.SignIn == nil {
		return nil
	}
	return p.SignIn
}

// requestLog stores requests to the API, or is nil if none are stored.
func (p edgeParams) requestLog() api.RequestLog {
	if p.APILog == nil {
		return nil
	}
	return p.APILog
}

// apiFirst handles the API's paths before the mux, which responds to an unclean path with an HTML redirect:
// every response of the API must be JSON.
func apiFirst(handler, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix || strings.HasPrefix(r.URL.Path, api.Prefix+"/") {
			handler.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// accountRate limits requests to all edges by the plan of the account.
type accountRate struct{ limiter *ratelimit.Limiter }

func (r accountRate) Admit(ctx context.Context, a accounts.Account, header http.Header) error {
	if admission.IsCounted(ctx) {
		return nil
	}
	return r.limiter.Admit(ctx, ratelimit.AccountRate{ID: a.ID, PerSecond: a.Plan.RequestsPerSecond,
		Unmetered: a.Unmetered}, header)
}
