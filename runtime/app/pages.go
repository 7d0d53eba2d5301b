package app

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"go.uber.org/fx"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/brand"
	"github.com/postrider/postrider/modules/accounts/moves"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/devinbox/hooks"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/cells"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/modules/sms/callback"
	"github.com/postrider/postrider/modules/sms/provider"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/callbacks"
	restmoves "github.com/postrider/postrider/rest/moves"
	"github.com/postrider/postrider/rest/pages/dashboard"
	"github.com/postrider/postrider/rest/pages/devhooks"
	inboxpages "github.com/postrider/postrider/rest/pages/devinbox"
	"github.com/postrider/postrider/rest/pages/track"
	"github.com/postrider/postrider/rest/pages/unsubscribe"
	"github.com/postrider/postrider/rest/pages/welcome"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/ops/module"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
)

// webPage is a handler of the mux for browsers.
type webPage struct {
	paths   []string // patterns of http.ServeMux
	handler http.Handler
	home    dashboard.Link // listed if there is no dashboard; not listed without a path
}

// link serves the public links of messages below a prefix.
type link struct {
	prefix  string
	handler http.Handler
	tracked bool // also served under the tracking hosts of accounts
}

func providePages(constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"pages"`)))
}

func provideLinks(constructor any) fx.Option {
	return fx.Provide(fx.Annotate(constructor, fx.ResultTags(`group:"links"`)))
}

// inboxPages show the messages that development mode has captured.
var inboxPages = providePages(func(s *devinbox.Service, cfg setting.Values, log *slog.Logger) webPage {
	return webPage{paths: []string{inboxpages.Prefix, inboxpages.Prefix + "/", inboxpages.JSONPath},
		handler: inboxpages.New(s, log, config.BaseHost(cfg)),
		home:    dashboard.Link{Path: inboxpages.Prefix, Name: "Development inbox", Line: "caught outgoing mail"}}
})

// hookPaths are where development mode receives webhooks and shows them to accounts.
var hookPaths = fx.Provide(fx.Annotate(func(s *hooks.Service, keys *accounts.Service,
	people module.Optional[signin.Service], cfg setting.Values, log *slog.Logger) (webPage, error) {
	door, err := admission.New(keys, module.Nearby[admission.Sessions](people),
		config.TrustedProxies.Get(cfg), append([]string{config.BaseURL.Get(cfg)}, config.OtherOrigins(cfg)...)...)
	return webPage{paths: devhooks.Paths(), handler: devhooks.New(s, door, log)}, err
}, fx.ResultTags(`group:"pages"`)))

// signInPages are the pages for signing in.
var signInPages = fx.Provide(fx.Annotate(func(s *signin.Service, o *openid.Service, cfg setting.Values,
	log *slog.Logger) (webPage, error) {
	handler, err := welcome.New(welcome.Options{People: s, OpenID: o, BaseURL: config.BaseURL.Get(cfg),
		Origins: config.OtherOrigins(cfg), Proxies: config.TrustedProxies.Get(cfg), Logger: log})
	return webPage{paths: welcome.Paths(), handler: handler,
		home: dashboard.Link{Path: signin.PathSignIn, Name: "Sign in", Line: "for users; programs use API keys"}}, err
}, fx.ResultTags(`group:"pages"`)))

// unsubscribeLinks are the pages where recipients unsubscribe.
var unsubscribeLinks = fx.Options(
	fx.Provide(module.Nearby[unsubscribe.Senders, records.Service]),
	provideLinks(func(s *suppression.Service, senders unsubscribe.Senders, brands *brand.Service,
		a *accounts.Service, log *slog.Logger) link {
		return link{prefix: unsubscribe.Prefix, handler: unsubscribe.New(unsubscribe.Options{Links: s, Senders: senders,
			Brands: brands, Logger: log,
			Residence: func(ctx context.Context, accountID string) (accounts.Residence, error) {
				found, err := a.Account(ctx, accountID)
				return found.Residence, err
			}})}
	}),
)

// accountMoves receives accounts from other installations.
var accountMoves = provideLinks(func(a *accounts.Service, from *origins.Service, d *db.DB, box *secret.Box,
	objects blob.Store, o Options, cfg setting.Values, log *slog.Logger) (link, error) {
	door, err := admission.New(a, nil, config.TrustedProxies.Get(cfg), config.BaseURL.Get(cfg))
	receiver := &moves.Receiver{DB: d, Accounts: a, Origins: from, Options: transfer.Options{Box: box, Program: o.Version,
		Objects: objects, Credentials: true, AdjustStatistics: statistics.AdjustImported, Progress: func(string) {}}}
	return link{prefix: moves.Path, handler: restmoves.New(receiver, door, log)}, err
})

// stripeEvents receives the events of the payment provider.
var stripeEvents = provideLinks(func(s *billing.Service, log *slog.Logger) link {
	return link{prefix: callbacks.StripePath, handler: callbacks.NewStripe(s, log)}
})

// textReceipts receives delivery reports from SMS providers.
var textReceipts = provideLinks(func(s *callback.Service, log *slog.Logger) link {
	return link{prefix: callbacks.SMSPrefix, handler: callbacks.NewSMS(callbacks.SMSOptions{Messages: s, Logger: log})}
})

// movedReports receives reports about accounts that have moved here from other installations.
var movedReports = provideLinks(func(s *bounces.Service, log *slog.Logger) link {
	return link{prefix: bounces.ForwardPath, handler: callbacks.NewReports(s, log)}
})

// movedQuestions answers other installations about what this one has signed for accounts that have moved there.
var movedQuestions = provideLinks(func(o *origins.Service, clicks module.Optional[tracking.Service],
	optOuts module.Optional[suppression.Service], reports module.Optional[bounces.Service], log *slog.Logger) link {
	witnesses := map[origins.TokenKind]origins.Witness{}
	if clicks.Service != nil {
		witnesses[origins.TrackedLink] = clicks.Service.Confirm
	}
	if optOuts.Service != nil {
		witnesses[origins.UnsubscribeLink] = optOuts.Service.Confirm
	}
	if reports.Service != nil {
		witnesses[origins.ReturnPath] = reports.Service.Confirm
	}
	return link{prefix: origins.Path,
		handler: callbacks.NewQuestions(&origins.Desk{Origins: o, Witnesses: witnesses}, log)}
})

// otherCells sends password resets for people who have asked another cell.
var otherCells = provideLinks(func(s *signin.Service, log *slog.Logger) link {
	return link{prefix: cells.Path, handler: callbacks.NewCells(s, log)}
})

// textInbox stores the text messages of development mode; nil without a development inbox.
func textInbox(inbox module.Optional[devinbox.Service]) provider.Catcher {
	if inbox.Service == nil {
		return nil
	}
	return texts{inbox.Service}
}

// texts adapts the development inbox to the provider interface.
type texts struct{ inbox *devinbox.Service }

// Catch implements provider.Catcher.
func (t texts) Catch(ctx context.Context, m provider.Message) error {
	return t.inbox.CatchText(ctx, devinbox.TextMessage{MessageID: m.ID, To: m.To, From: m.From, Text: m.Text,
		Encoding: m.Encoding, Segments: m.Segments})
}

// newTrackedLinks creates the handlers of tracked links and pixels.
func newTrackedLinks(s *tracking.Service, cfg setting.Values, log *slog.Logger) link {
	return link{prefix: tracking.Prefix, tracked: true,
		handler: track.New(track.Options{Tracker: s, Proxies: config.TrustedProxies.Get(cfg), Logger: log})}
}

// isCallback reports whether a link is a path below the API that another service posts to.
func (l link) isCallback() bool { return strings.HasPrefix(l.prefix, api.Prefix+"/") }

// hooksFirst handles callbacks of other services before the API, which requires a key or a session.
func (p edgeParams) hooksFirst(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, l := range p.Links {
			if l.isCallback() && r.URL.Path == l.prefix {
				l.handler.ServeHTTP(w, r)
				return
			}
		}
		others.ServeHTTP(w, r)
	})
}

// linksFirst handles public links before the mux, which redirects an unclean path: an invalid link must not
// redirect anywhere, and RFC 8058 section 3.2 forbids following a redirect of an unsubscribe link.
func (p edgeParams) linksFirst(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, l := range p.Links {
			if !l.isCallback() && strings.HasPrefix(r.URL.Path, l.prefix) {
				ctx, cancel := context.WithTimeout(r.Context(), fault.AnswerWithin)
				defer cancel()
				l.handler.ServeHTTP(w, r.WithContext(ctx))
				return
			}
		}
		others.ServeHTTP(w, r)
	})
}

// trackingHostsFirst serves only tracked links under the tracking hosts of accounts, so that no page of the
// installation or of another account appears under a customer's name.
func (p edgeParams) trackingHostsFirst(others http.Handler) http.Handler {
	if p.LinkRules == nil {
		return others
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.isOurs(r) || !p.LinkRules.IsTrackingHost(r.Host) {
			others.ServeHTTP(w, r)
			return
		}
		for _, l := range p.Links {
			if l.tracked && strings.HasPrefix(r.URL.Path, l.prefix) {
				l.handler.ServeHTTP(w, r)
				return
			}
		}
		http.NotFound(w, r)
	})
}
