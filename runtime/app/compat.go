package app

import (
	"net/http"
	"slices"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/rest/api/problem"
	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/rest/compat/mailgun"
	"github.com/postrider/postrider/rest/compat/postmark"
	"github.com/postrider/postrider/rest/compat/resend"
	"github.com/postrider/postrider/rest/compat/sendgrid"
	"github.com/postrider/postrider/runtime/ops/config"
)

// compatAPIs are the APIs of other providers.
var compatAPIs = fx.Options(provideCompat(resend.API), provideCompat(sendgrid.API), provideCompat(postmark.API),
	provideCompat(mailgun.API))

// compatPrefixes are served even without the module. Otherwise the dashboard would serve them, and refuse other methods
// than GET.
var compatPrefixes = []string{resend.Prefix, sendgrid.Prefix, postmark.Prefix, mailgun.Prefix}

func provideCompat(constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"compat"`)))
}

// compatFirst handles the paths of other providers before the mux, which responds to an unclean path with an HTML
// redirect. Their handlers translate requests to our own API.
func (p edgeParams) compatFirst(api, others http.Handler) http.Handler {
	handlers := map[string]http.Handler{}
	for _, provider := range p.Compat {
		handlers[provider.Prefix] = compat.New(compat.Options{API: api, Keys: p.Accounts,
			Accounts: p.Accounts, Rate: accountRate{p.Rate}, Budget: p.Budget, Cursors: p.Cursors, Log: p.requestLog(),
			Proxies: config.TrustedProxies.Get(p.Config), Logger: p.Logger}, provider)
		p.Served.add(provider.Patterns()...)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch handler := handlers["/"+first]; {
		case handler != nil && below:
			handler.ServeHTTP(w, r)
		case below && slices.Contains(compatPrefixes, "/"+first):
			problem.NotFound(r.URL.Path).Write(w) // the module is off
		default:
			others.ServeHTTP(w, r)
		}
	})
}
