package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/graph/trusted"
	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/admission"
	"github.com/postrider/postrider/modules/accounts/audit"
	"github.com/postrider/postrider/runtime/base/intake"
)

var allModules = []string{"signin", "billing", "accounts", "domains", "deliverability", "sending", "suppression",
	"templates", "tracking", "webhooks", "inbound", "eventlog", "relay", "automations", "statistics", "apilog", "outbound",
	"development"}

// testServer is the handler with a real listener and fake services.
type testServer struct {
	url   string
	calls *calls
	log   *bytes.Buffer
	held  *intake.Budget
	done  *recorded
}

// recorded is an audit log with the actor, action and address of each entry.
type recorded struct {
	mu      sync.Mutex
	entries []string
	notes   []noted
}

// noted is what the audit log says about one entry.
type noted struct {
	Target  string
	Changes map[string]any
}

func (r *recorded) Record(ctx context.Context, c accounts.Caller, operation, target string,
	changes map[string]any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, c.AccountID+" "+operation+" from "+audit.OriginOf(ctx).IP())
	r.notes = append(r.notes, noted{target, changes})
	return nil
}

type setup struct {
	on     []string // allModules when nil
	emails int      // number of emails of the calling account
	html   string   // HTML of these emails; "" means a short one
	pace   intake.Rate
	auth   fakeAuth
	rate   admission.RateLimit
	hook   map[string]func() error
	rest   http.Handler // nil: refuses every request

	trusted trusted.Documents // if set, people can run only these
}

func newServer(t testing.TB, s setup) *testServer {
	t.Helper()
	if s.on == nil {
		s.on = allModules
	}
	srv := &testServer{done: &recorded{}, calls: &calls{hook: s.hook}, log: &bytes.Buffer{}}
	emails := someEmails(s.emails)
	for _, e := range emails {
		if s.html != "" {
			e.HTML = &s.html
		}
	}
	held, err := intake.New(intake.Config{Dir: t.TempDir(), MinRate: s.pace, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if s.rest == nil {
		s.rest = http.NotFoundHandler()
	}
	handler, err := New(Options{REST: s.rest, Trusted: s.trusted, Open: s.trusted == nil, Budget: held, On: s.on,
		Auth:   s.auth,
		People: fakePeople{}, Origins: []string{"http://mail.example.com"}, Rate: s.rate, Audit: srv.done,
		Accounts: fakeAccounts{srv.calls}, Parts: []ServiceSet{
			{"domains", func(p *Parts) { p.Domains = fakeDomains{srv.calls, someDomains()} }},
			{"sending", func(p *Parts) {
				p.Emails, p.Queue, p.RawMail = fakeEmails{srv.calls, emails}, fakeEmails{srv.calls, emails},
					fakeRaw{srv.calls}
				p.WholeQueue, p.Lanes = fakeInstallation{}, fakeInstallation{}
			}},
			{"suppression", func(p *Parts) { p.Suppressions = fakeSuppressions{srv.calls} }},
			{"webhooks", func(p *Parts) { p.Webhooks = fakeWebhooks{srv.calls} }},
			{"inbound", func(p *Parts) { p.Received = fakeReceived{srv.calls} }},
			{"templates", func(p *Parts) { p.Templates = fakeTemplates{srv.calls} }},
			{"tracking", func(p *Parts) { p.Engagements = fakeEngagements{srv.calls} }},
			{"eventlog", func(p *Parts) { p.EventLog = someEventLog(srv.calls) }},
			{"relay", func(p *Parts) { p.SMTPCredentials = fakeSMTPCredentials{srv.calls} }},
			{"automations", func(p *Parts) {
				p.Automations, p.AutomationFigures = fakeAutomations{srv.calls}, fakeFigures{srv.calls}
			}},
			{"signin", func(p *Parts) { p.Teams, p.AuditLog, p.Desk = fakeTeams{}, fakeAuditLog{}, fakeInstallation{} }},
			{"deliverability", func(p *Parts) { p.Deliverability = fakeDeliverability{srv.calls} }},
			{"statistics", func(p *Parts) { p.Statistics = fakeStatistics{} }},
			{"apilog", func(p *Parts) { p.APIRequests = fakeRequests{srv.calls} }},
			{moduleAccounts, func(p *Parts) {
				p.Doctor, p.Processes, p.Usage = fakeDoctor{}, fakeInstallation{}, fakeBilling{srv.calls}
			}},
			{"billing", func(p *Parts) { p.BillingWatch, p.Billing = fakeInstallation{}, fakeBilling{srv.calls} }},
			{"outbound", func(p *Parts) { p.Sources = fakeInstallation{} }},
			{ModuleDevelopment, func(p *Parts) { p.Seeds = fakeSeeds{} }},
		}, Logger: slog.New(slog.NewTextHandler(srv.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(held.LimitHandler(handler,
		func(*http.Request) intake.Tenant { return intake.Tenant{} },
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(listener.Close)
	srv.url, srv.held = listener.URL, held
	return srv
}

// answer is an HTTP response with its body, decoded if it is a GraphQL response.
type answer struct {
	status int
	header http.Header
	body   string
	Data   map[string]any
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct {
			Code    string
			Details map[string]string
		}
	}
}

// codes lists the codes of the errors.
func (a answer) codes() string {
	var out []string
	for _, e := range a.Errors {
		out = append(out, e.Extensions.Code)
	}
	return strings.Join(out, " ")
}

// message returns the message of the first error.
func (a answer) message() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Message
}

// ask sends a query with ada's full key.
func (s *testServer) ask(t testing.TB, query string, variables map[string]any) answer {
	t.Helper()
	return s.askAs(t, "svc_full", query, variables)
}

func (s *testServer) askAs(t testing.TB, key, query string, variables map[string]any) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return s.send(t, request(t, s.url, key, string(body)))
}

func request(t testing.TB, url, key, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

func (s *testServer) send(t testing.TB, r *http.Request) answer {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, body: string(body)}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("not JSON: %v: %s", err, body)
	}
	return a
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
