package app

import (
	"slices"

	"go.uber.org/fx"

	"github.com/postrider/postrider/graph"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/brand"
	"github.com/postrider/postrider/modules/accounts/desk"
	"github.com/postrider/postrider/modules/accounts/exports"
	"github.com/postrider/postrider/modules/accounts/origins"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/accounts/storage"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/apilog"
	"github.com/postrider/postrider/modules/automations"
	"github.com/postrider/postrider/modules/automations/figures"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/bounces"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/devinbox"
	"github.com/postrider/postrider/modules/devinbox/hooks"
	"github.com/postrider/postrider/modules/domains"
	"github.com/postrider/postrider/modules/domains/publish"
	"github.com/postrider/postrider/modules/eventexport"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/modules/inbound"
	"github.com/postrider/postrider/modules/notices"
	"github.com/postrider/postrider/modules/outbound"
	"github.com/postrider/postrider/modules/relay"
	"github.com/postrider/postrider/modules/retention"
	"github.com/postrider/postrider/modules/sending"
	"github.com/postrider/postrider/modules/sending/bodies"
	"github.com/postrider/postrider/modules/sending/compose"
	"github.com/postrider/postrider/modules/sending/delivery"
	"github.com/postrider/postrider/modules/sending/queue"
	"github.com/postrider/postrider/modules/sending/records"
	"github.com/postrider/postrider/modules/sending/release"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/modules/sms"
	smssettings "github.com/postrider/postrider/modules/sms/settings"
	"github.com/postrider/postrider/modules/statistics"
	"github.com/postrider/postrider/modules/suppression"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/modules/tracking"
	"github.com/postrider/postrider/modules/tracking/hosts"
	"github.com/postrider/postrider/modules/webhooks"
	restaccount "github.com/postrider/postrider/rest/account"
	"github.com/postrider/postrider/rest/api"
	restautomations "github.com/postrider/postrider/rest/automations"
	restinsight "github.com/postrider/postrider/rest/automations/insight"
	restbilling "github.com/postrider/postrider/rest/billing"
	restcontacts "github.com/postrider/postrider/rest/contacts"
	restdomains "github.com/postrider/postrider/rest/domains"
	restemails "github.com/postrider/postrider/rest/emails"
	resteventlog "github.com/postrider/postrider/rest/eventlog"
	restoperator "github.com/postrider/postrider/rest/operator"
	restpeople "github.com/postrider/postrider/rest/people"
	restrequests "github.com/postrider/postrider/rest/requests"
	restsession "github.com/postrider/postrider/rest/session"
	restsms "github.com/postrider/postrider/rest/sms"
	reststatistics "github.com/postrider/postrider/rest/statistics"
	restsuppressions "github.com/postrider/postrider/rest/suppressions"
	"github.com/postrider/postrider/rest/testinbox"
	restwebhooks "github.com/postrider/postrider/rest/webhooks"
	"github.com/postrider/postrider/runtime/app/development"
	"github.com/postrider/postrider/runtime/app/listeners"
	"github.com/postrider/postrider/runtime/app/probes"
	"github.com/postrider/postrider/runtime/web/ratelimit"
	"github.com/postrider/postrider/runtime/work/event"
	"github.com/postrider/postrider/runtime/work/node"
)

// Modules is the registry. Every module comes after those it requires.
func Modules() []Module { return slices.Clone(registry) }

var registry = []Module{
	{
		Name: "accounts", Line: "accounts, users, API keys, plans and their limits", Always: true,
		Option: fx.Options(fx.Provide(accountsConfig), accounts.Module, team.Module, audit.Module, brand.Module,
			plans.Module, exports.Module, storage.Module, origins.Module),
		Graph: []part{
			provideGraph(func(p *graph.Parts, s *plans.Service) { p.Usage = s }),
			provideGraph(func(p *graph.Parts, s *node.Node) { p.Processes = s }),
		},
		Routes: []route{
			routesOf(func(s *accounts.Service) api.Routes { return restaccount.Routes(s) }),
			routesOf(func(s *brand.Service) api.Routes { return restaccount.BrandRoutes(s) }),
			routesOf(func(s *accounts.Service) api.Routes { return restaccount.KeyRoutes(s) }),
		},
		Edges: fx.Options(accountMoves, movedQuestions),
	},
	{
		Name: "domains", Line: "sending domains: keys, DNS records, verification, the sandbox domain",
		Requires: []string{"accounts"},
		Option:   fx.Options(domains.Module, domainPeers),
		Routes: []route{
			routesOf(func(s *domains.Service) api.Routes { return restdomains.Routes(s) }),
			routesOf(func(p *publish.Service) api.Routes { return restdomains.DNSRoutes(p) }),
		},
		Graph: []part{provideGraph(func(p *graph.Parts, s *domains.Service) { p.Domains = s })},
	},
	{
		Name: "suppression", Line: "addresses that must not receive mail, and the unsubscribe page",
		Requires: []string{"accounts"},
		Option:   suppression.Module,
		Routes: []route{routesOf2(func(s *suppression.Service, turns *exports.Service) api.Routes {
			return restsuppressions.Routes(s, turns)
		})},
		Graph: []part{provideGraph(func(p *graph.Parts, s *suppression.Service) { p.Suppressions = s })},
		Edges: unsubscribeLinks,
	},
	{
		Name: "templates", Line: "email templates: drafts, published versions, rendering",
		Requires: []string{"accounts"},
		Option:   templates.Module,
		Routes:   []route{routesOf3(templateRoutes)},
		Graph:    []part{provideGraph(func(p *graph.Parts, s *templates.Service) { p.Templates = s })},
		Edges:    templateImages,
	},
	{
		Name: "tracking", Line: "counts opens and clicks, optionally under the sender's own host",
		Requires: []string{"accounts", "domains"},
		Option:   tracking.Module,
		Routes:   []route{routesOf(func(h *hosts.Service) api.Routes { return restdomains.TrackingHostRoutes(h) })},
		Graph:    []part{provideGraph(func(p *graph.Parts, s *tracking.Service) { p.Engagements = s })},
		Edges:    trackedLinks,
	},
	{
		Name: "statistics", Line: "counts the outcome of emails, for 25 months",
		Requires: []string{"accounts"},
		Option:   statistics.Module,
		RoutesWith: map[string][]route{
			"automations": {routesOf2(func(s *statistics.Service, of *automations.Service) api.Routes {
				return reststatistics.AutomationRoutes(s, of)
			})},
			"templates": {routesOf2(func(s *statistics.Service, of *templates.Service) api.Routes {
				return reststatistics.TemplateRoutes(s, of)
			})},
		},
		Graph: []part{provideGraph(func(p *graph.Parts, s *statistics.Service) { p.Statistics = s })},
	},
	{
		Name: "outbound", Line: "outgoing routes: smarthosts, source addresses and their warm-up",
		Requires: []string{"accounts", "domains"},
		Option:   outbound.Module,
		Graph:    []part{provideGraph(func(p *graph.Parts, s *outbound.Service) { p.Sources = s })},
	},
	{
		Name: "sending", Line: "accepts messages, signs them and delivers them over SMTP",
		Requires: []string{"accounts", "domains", "suppression", "templates", "outbound"},
		Uses:     []string{"tracking", "statistics"},
		Option: fx.Options(records.Module, queue.Module, compose.Module, delivery.Module, sending.Module,
			release.Module, bodies.Module,
			emailChecks, fx.Provide(sendingConfig, bodies.ConfigOf)),
		Routes: []route{
			routesOf3(func(s *sending.Service, r *records.Service, turns *exports.Service) api.Routes {
				return restemails.Routes(s, r, turns)
			}),
			routesOf2(sentFileRoutes),
		},
		RoutesWith: map[string][]route{"webhooks": {routesOf3(func(r *records.Service, d *webhooks.Service,
			offer event.Offer) api.Routes {
			return restwebhooks.TestEventRoutes(r, d, offer)
		})}},
		Graph: []part{
			provideGraph(func(p *graph.Parts, s *records.Service) { p.Emails = s }),
			provideGraph(func(p *graph.Parts, s *compose.Composer) { p.RawMail = s }),
			provideGraph(func(p *graph.Parts, s *queue.Service) { p.Queue, p.WholeQueue = s, s }),
			provideGraph(func(p *graph.Parts, s *delivery.Service) { p.Lanes = s }),
		},
		Edges: fx.Options(probes.Queue, sentFiles),
	},
	{
		Name: "notices", Line: "the installation's own mail to users: links, invitations",
		Requires: []string{"accounts"}, Uses: []string{"sending"},
		Option: notices.Module,
	},
	{
		Name: "signin", Line: "signs users in: passwords, codes, sessions, teams and their roles",
		Requires: []string{"accounts"}, Uses: []string{"notices"},
		Option: fx.Options(signin.Module, openid.Module, desk.Module), Edges: fx.Options(signInPages, otherCells),
		Graph: []part{
			provideGraph(func(p *graph.Parts, s *team.Service) { p.Teams = s }),
			provideGraph(func(p *graph.Parts, s *audit.Service) { p.AuditLog = s }),
			provideGraph(func(p *graph.Parts, s *desk.Service) { p.Desk = s }),
		},
		Routes: []route{
			routesOf2(func(s *signin.Service, o *openid.Service) api.Routes { return restsession.Routes(s, o) }),
			routesOf2(func(s *signin.Service, o *openid.Service) api.Routes { return restsession.UserRoutes(s, o) }),
			routesOf(func(s *team.Service) api.Routes { return restpeople.Routes(s) }),
			routesOf2(func(s *audit.Service,
				turns *exports.Service) api.Routes {
				return restpeople.AuditRoutes(s, turns)
			}),
			routesOf2(func(d *desk.Service, s *audit.Service) api.Routes { return restoperator.Routes(d, s) }),
			routesOf2(func(t *team.Service, s *signin.Service) api.Routes { return restoperator.UserRoutes(t, s) }),
		},
	},
	{
		Name: "billing", Line: "usage and payment of accounts: plans, individual limits, the payment provider",
		Requires: []string{"accounts"}, Uses: []string{"notices"},
		Option: billing.Module,
		Graph:  []part{provideGraph(func(p *graph.Parts, s *billing.Service) { p.Billing, p.BillingWatch = s, s })},
		Routes: []route{
			routesOf2(func(s *billing.Service, p *plans.Service) api.Routes { return restbilling.Routes(s, p) }),
			routesOf(func(s *billing.Service) api.Routes { return restbilling.PaymentRoutes(s) }),
		},
		RoutesWith: map[string][]route{"signin": {routesOf(func(s *billing.Service) api.Routes { return restoperator.BillingRoutes(s) })}},
		Edges:      stripeEvents,
	},
	{
		Name: "sms", Line: "text messages: providers, opt-outs, caps, receipts",
		Requires: []string{"accounts"}, Uses: []string{"templates"},
		Option: fx.Options(sms.Module, fx.Provide(textInbox)),
		Routes: []route{routesOf2(func(of *smssettings.Service,
			s *sms.Service) api.Routes {
			return restsms.Routes(of, s)
		})},
		Edges: textReceipts,
	},
	{
		Name:     "automations",
		Line:     "custom events, and the sequences of steps they start: emails, waits, branches, requests",
		Requires: []string{"accounts", "domains", "sending", "templates"},
		Uses:     []string{"sms", "tracking", "statistics"},
		Option:   automations.Module,
		Routes: []route{
			routesOf2(func(s *automations.Service, turns *exports.Service) api.Routes {
				return restautomations.Routes(s, turns)
			}),
			routesOf(func(s *automations.Service) api.Routes { return restinsight.Routes(s) }),
		},
		Graph: []part{
			provideGraph(func(p *graph.Parts, s *automations.Service) { p.Automations = s }),
			provideGraph(func(p *graph.Parts, s *figures.Service) { p.AutomationFigures = s }),
		},
	},
	{
		Name: "bounces", Line: "processes bounces and complaints sent to our return paths",
		Requires: []string{"accounts", "sending"},
		Option:   bounces.Module,
		Edges:    movedReports,
	},
	{
		Name: "inbound", Line: "receives mail for domains that enable it, stores it, replies and forwards",
		Requires: []string{"accounts", "domains"}, Uses: []string{"sending", "statistics"},
		Option: fx.Options(inbound.Module, inboundPeers),
		Routes: []route{routesOf(receivedRoutes), routesOf2(receivedFileRoutes)},
		Edges:  receivedFiles,
		Graph:  []part{provideGraph(func(p *graph.Parts, s *inbound.Service) { p.Received = s })},
	},
	{
		Name: "deliverability", Line: "receives DMARC and TLS reports about domains, and shows what receivers think of their mail",
		Requires: []string{"accounts", "domains"}, Uses: []string{"statistics"},
		Option: fx.Options(deliverability.Module, fx.Provide(newReportVerifier)),
		Routes: []route{routesOf(func(s *deliverability.Service) api.Routes { return restdomains.DeliverabilityRoutes(s) })},
		Graph:  []part{provideGraph(func(p *graph.Parts, s *deliverability.Service) { p.Deliverability = s })},
	},
	{
		Name: "relay", Line: "accepts mail over SMTP, under the rules of the API",
		Requires: []string{"accounts", "sending"},
		Option:   relay.Module,
		Routes:   []route{routesOf(func(c *relay.Credentials) api.Routes { return restaccount.SMTPCredentialRoutes(c) })},
		Graph:    []part{provideGraph(func(p *graph.Parts, s *relay.Credentials) { p.SMTPCredentials = s })},
		Edges: fx.Options(
			fx.Provide(listeners.NewRelaySockets, listeners.RelayConfig, listeners.NewRelayServers,
				func(l *ratelimit.Limiter) relay.Rate { return accountRate{l} }),
			fx.Invoke(func(*listeners.RelayServers) {}),
		),
	},
	{
		Name: "webhooks", Line: "sends signed events to accounts' endpoints, with retries, a log and replays",
		Requires: []string{"accounts"}, Uses: []string{"sending"},
		Option: webhooks.Module,
		Routes: []route{
			routesOf2(func(s *webhooks.Service, offer event.Offer) api.Routes { return restwebhooks.Routes(s, offer) }),
			routesOf(func(s *webhooks.Service) api.Routes { return restwebhooks.DeliveryRoutes(s) }),
		},
		Graph: []part{provideGraph(func(p *graph.Parts, s *webhooks.Service) { p.Webhooks = s })},
	},
	{
		Name: "retention", Line: "deletes data after an account's retention period, and erases recipients on request",
		Requires: []string{"accounts"}, Uses: []string{"sending", "suppression", "tracking", "inbound", "webhooks",
			"automations", "sms"},
		Option: retention.Module,
		Routes: []route{routesOf(func(s *retention.Service) api.Routes { return restcontacts.Routes(s) })},
	},
	{
		Name: "eventlog", Line: "lists an account's events in order, in pages and as streams",
		Requires: []string{"accounts"},
		Option:   eventlog.Module,
		Routes: []route{routesOf2(func(s *eventlog.Service, offer event.Offer) api.Routes {
			return resteventlog.Routes(s, offer)
		})},
		Graph: []part{provideGraph(func(p *graph.Parts, s *eventlog.Service) { p.EventLog = s })},
	},
	{
		Name: "eventexport", Line: "exports every event to a NATS JetStream stream, for the operator's other programs",
		Requires: []string{"accounts"},
		Option:   eventexport.Module,
	},
	{
		Name: "apilog", Line: "logs API requests for seven days, without secrets",
		Requires: []string{"accounts"},
		Option:   apilog.Module,
		Graph:    []part{provideGraph(func(p *graph.Parts, s *apilog.Service) { p.APIRequests = s })},
		Routes:   []route{routesOf(func(s *apilog.Service) api.Routes { return restrequests.Routes(s) })},
	},
	{
		Name: "mcp", Line: "serves tools for AI agents at /mcp, with the rights of their API key",
		Requires: []string{"accounts"},
		Option:   fx.Provide(provideAgentTools),
	},
	{
		Name: "compat", Line: "serves the APIs of Resend, SendGrid, Postmark and Mailgun, to move from them",
		Requires: []string{"accounts"}, Uses: []string{"sending"},
		Option: fx.Options(),
		Edges:  compatAPIs,
	},
	{
		Name: "testmode", Line: "test keys, whose emails are captured instead of sent, and their inbox",
		Requires: []string{"accounts"}, Uses: []string{"sending"},
		Option: fx.Options(devinbox.Module, testMail),
		Routes: []route{routesOf(func(s *devinbox.Service) api.Routes { return testinbox.Routes(s) })},
	},
	{
		Name: "devinbox", Line: "catches outbound mail, text messages and webhooks in development mode, shows them at /dev/inbox, simulates failures", Dev: true,
		Requires: []string{"testmode"}, Uses: []string{"sms", "webhooks"},
		Option: fx.Options(development.PlayedFailures, hooks.Module, development.ReceivedWebhooks),
		Edges:  fx.Options(inboxPages, hookPaths),
	},
}
