package api_test

import (
	"cmp"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/modules/accounts/desk"
	"github.com/postrider/postrider/modules/accounts/rights/rightstest"
	"github.com/postrider/postrider/modules/accounts/team"
	"github.com/postrider/postrider/modules/eventlog"
	"github.com/postrider/postrider/modules/signin"
	"github.com/postrider/postrider/modules/signin/openid"
	"github.com/postrider/postrider/rest/account"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/attachments"
	restautomations "github.com/postrider/postrider/rest/automations"
	restinsight "github.com/postrider/postrider/rest/automations/insight"
	restbilling "github.com/postrider/postrider/rest/billing"
	"github.com/postrider/postrider/rest/contacts"
	"github.com/postrider/postrider/rest/domains"
	"github.com/postrider/postrider/rest/emails"
	events "github.com/postrider/postrider/rest/eventlog"
	"github.com/postrider/postrider/rest/operator"
	"github.com/postrider/postrider/rest/people"
	"github.com/postrider/postrider/rest/received"
	"github.com/postrider/postrider/rest/requests"
	"github.com/postrider/postrider/rest/session"
	restsms "github.com/postrider/postrider/rest/sms"
	"github.com/postrider/postrider/rest/statistics"
	"github.com/postrider/postrider/rest/suppressions"
	"github.com/postrider/postrider/rest/templates"
	"github.com/postrider/postrider/rest/testinbox"
	"github.com/postrider/postrider/rest/webhooks"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/web/idempotency"
)

const (
	accountID = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	emailID   = "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	domainID  = "dom_01kf0m4w7he6x8q2v5b3n9c1ta"
)

// bundle is the whole API with fake services.
type bundle struct {
	*httptest.Server
	api         *api.API
	limits      *fakeLimits
	store       *fakeStore
	box         *secret.Box
	sending     *fakeSending
	domains     *fakeDomains
	dns         *fakeDNS
	accounts    *fakeAccounts
	suppression *fakeSuppression
	templates   *fakeTemplates
	hosts       *fakeHosts
	contacts    *fakeContacts
	webhooks    *fakeWebhooks
	received    *fakeReceived
	relay       *fakeRelay
	automations *fakeAutomations
	sms         *fakeSMS
	billing     *fakeBilling
	events      *eventlog.Service
	requests    fakeRequests
	statistics  fakeStatistics
	turns       *fakeTurns
}

// routes contains all routes. A test in the runtime compares the golden document, which is generated from them, with
// the registry of modules.
func (b *bundle) routes() []api.Routes {
	var all []api.Routes
	for _, resource := range []string{"emails", "domains", "account", "suppressions", "templates", "contacts",
		"webhooks", "received-emails", "event-log", "smtp-credentials", "automations", "sms-settings", "session",
		"members", "billing", "operator", "requests", "test"} {
		all = append(all, b.routesBelow(resource)...)
	}
	return all
}

// routesBelow returns the routes of one module, by the first segment of their paths.
func (b *bundle) routesBelow(resource string) []api.Routes {
	switch resource {
	case "domains":
		return []api.Routes{domains.Routes(b.domains), domains.DNSRoutes(b.dns), domains.TrackingHostRoutes(b.hosts),
			domains.DeliverabilityRoutes(fakeDeliverability{})}
	case "account", "api-keys":
		return []api.Routes{account.Routes(b.accounts), account.KeyRoutes(b.accounts), account.BrandRoutes(b.accounts)}
	case "suppressions", "category-opt-outs":
		return []api.Routes{suppressions.Routes(b.suppression, b.turns)}
	case "templates":
		return []api.Routes{templates.Routes(b.templates, fakeNames{}, "https://mail.example.com"),
			statistics.TemplateRoutes(&b.statistics, b.templates)}
	case "webhooks", "webhook-deliveries":
		return []api.Routes{webhooks.Routes(b.webhooks, nil), webhooks.DeliveryRoutes(b.webhooks)}
	case "received-emails":
		return []api.Routes{received.Routes(b.received, true), attachments.ReceivedRoutes(b.received, newFileLinks())}
	case "contacts":
		return []api.Routes{contacts.Routes(b.contacts)}
	case "smtp-credentials":
		return []api.Routes{account.SMTPCredentialRoutes(b.relay)}
	case "automations", "automation-runs", "events":
		return []api.Routes{restautomations.Routes(b.automations, b.turns), restinsight.Routes(b.automations),
			statistics.AutomationRoutes(&b.statistics, b.automations)}
	case "sms-settings", "sms-messages":
		return []api.Routes{restsms.Routes(b.sms, b.sms)}
	case "session", "sign-in", "setup", "sign-up", "password", "sessions", "accounts", "user":
		return []api.Routes{session.Routes((*signin.Service)(nil), (*openid.Service)(nil)),
			session.UserRoutes((*signin.Service)(nil), (*openid.Service)(nil))}
	case "members", "audit-log":
		return []api.Routes{people.Routes((*team.Service)(nil)), people.AuditRoutes((*audit.Service)(nil), b.turns)}
	case "billing", "plans":
		return []api.Routes{restbilling.Routes(b.billing, b.billing), restbilling.PaymentRoutes(b.billing)}
	case "operator":
		return []api.Routes{operator.Routes((*desk.Service)(nil), (*audit.Service)(nil)),
			operator.UserRoutes((*team.Service)(nil), (*signin.Service)(nil)),
			operator.BillingRoutes(b.billing)}
	case "requests":
		return []api.Routes{requests.Routes(&b.requests)}
	case "test":
		return []api.Routes{testinbox.Routes(fakeInbox{})}
	case "event-log":
		return []api.Routes{events.Routes(b.events, nil)}
	default:
		return []api.Routes{emails.Routes(b.sending, b.sending, b.turns),
			attachments.SentRoutes(b.sending, newFileLinks()), webhooks.TestEventRoutes(b.sending, nil, nil)}
	}
}

func newBundle(t *testing.T, change ...func(*api.Options)) *bundle {
	t.Helper()
	b := newFakes(t)
	b.start(t, b.routes(), change...)
	return b
}

// newBundleFor returns a bundle with only the routes of the module that a path belongs to, because building the
// document of all routes for each of hundreds of requests takes too long.
func newBundleFor(t *testing.T, path string) *bundle {
	t.Helper()
	b := newFakes(t)
	resource, _, _ := strings.Cut(strings.TrimPrefix(path, "/api/"), "/")
	resource, _, _ = strings.Cut(resource, "?")
	b.start(t, b.routesBelow(resource))
	return b
}

func newFakes(t *testing.T) *bundle {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return &bundle{limits: &fakeLimits{perSecond: 10, unmetered: true},
		store: &fakeStore{answers: map[string]idempotency.Response{}}, box: box,
		sending: &fakeSending{}, domains: &fakeDomains{}, dns: &fakeDNS{}, accounts: &fakeAccounts{},
		suppression: &fakeSuppression{}, templates: &fakeTemplates{},
		hosts: &fakeHosts{}, contacts: &fakeContacts{}, webhooks: &fakeWebhooks{}, received: &fakeReceived{},
		relay: &fakeRelay{}, automations: &fakeAutomations{}, sms: &fakeSMS{}, billing: &fakeBilling{},
		turns:  newTurns(),
		events: eventlog.New(eventlog.Params{Log: fakeFacts{}, Logger: slog.New(slog.DiscardHandler)})}
}

func (b *bundle) options(t *testing.T, routes []api.Routes, change ...func(*api.Options)) api.Options {
	t.Helper()
	options := api.Options{Auth: fakeAuth{}, Limits: b.limits, Rate: &rate{}, Answers: b.store, Sealer: b.box,
		Logger: slog.New(slog.DiscardHandler), Routes: routes, Budget: budget(t, intake.Config{})}
	for _, c := range change {
		c(&options)
	}
	return options
}

func (b *bundle) start(t *testing.T, routes []api.Routes, change ...func(*api.Options)) {
	t.Helper()
	handler, err := api.New(b.options(t, routes, change...))
	if err != nil {
		t.Fatal(err)
	}
	b.api = handler
	named := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req_test")
		b.api.ServeHTTP(w, r)
	})
	b.Server = httptest.NewServer(named)
	t.Cleanup(b.Close)
}

// answer is a response with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

type request struct {
	method, path, body string
	key                string // scope of the API key: full, sending, read; "" means full, "-" means no key
	header             map[string]string
	live               bool // also for operations that are available only in test mode
}

// inMode returns the request in the mode of its operation.
func (q request) inMode() request {
	if q.live || !strings.HasPrefix(q.path, "/api/test/") {
		return q
	}
	if q.key == "-" || q.key == rightstest.OperatorKey {
		q.header = maps.Clone(q.header)
		if q.header == nil {
			q.header = map[string]string{}
		}
		q.header["Postrider-Mode"] = "test"
		return q
	}
	q.key = "test_" + cmp.Or(q.key, "full")
	return q
}

func (b *bundle) do(t *testing.T, q request) answer {
	t.Helper()
	q = q.inMode()
	r, err := http.NewRequestWithContext(t.Context(), q.method, b.URL+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch q.key {
	case "-":
	case "":
		r.Header.Set("Authorization", "Bearer svc_full")
	default:
		r.Header.Set("Authorization", "Bearer svc_"+q.key)
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	return send(t, r)
}

func send(t *testing.T, r *http.Request) answer {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

// budget creates a budget for a test. Zero sizes use the defaults.
func budget(t *testing.T, c intake.Config) *intake.Budget {
	t.Helper()
	c.Dir, c.Logger = t.TempDir(), slog.New(slog.DiscardHandler)
	b, err := intake.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
