package rest_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postrider/postrider/rest"
	"github.com/postrider/postrider/runtime/idempotency"
	"github.com/postrider/postrider/runtime/secret"
)

const (
	accountID = "acc_01kf0m4w7he6x8q2v5b3n9c1ta"
	emailID   = "msg_01kf0m4w7he6x8q2v5b3n9c1ta"
	domainID  = "dom_01kf0m4w7he6x8q2v5b3n9c1ta"
)

// bundle is the whole API over fakes of its services.
type bundle struct {
	*httptest.Server
	api         *rest.API
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
}

// routes are all that there are; the runtime compares the golden document, which
// is made of them, with the registry of modules. Those of emails come first.
func (b *bundle) routes() []rest.Routes {
	return []rest.Routes{
		rest.Emails(b.sending, b.store), rest.TestEvents(b.sending, nil), rest.Domains(b.domains, b.store), rest.DomainDNS(b.dns, b.store), rest.TrackingHost(b.hosts),
		rest.Account(b.accounts), rest.APIKeys(b.accounts, b.store, b.box), rest.Suppressions(b.suppression, b.store), rest.Templates(b.templates, b.store),
		rest.Contacts(b.contacts),
	}
}

func newBundle(t *testing.T, change ...func(*rest.Options)) *bundle {
	t.Helper()
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{limits: &fakeLimits{perSecond: 10, unmetered: true}, store: &fakeStore{answers: map[string]idempotency.Answer{}}, box: box,
		sending: &fakeSending{}, domains: &fakeDomains{}, dns: &fakeDNS{}, accounts: &fakeAccounts{}, suppression: &fakeSuppression{}, templates: &fakeTemplates{},
		hosts: &fakeHosts{}, contacts: &fakeContacts{}}
	options := rest.Options{Auth: fakeAuth{}, Limits: b.limits, Rate: &rate{}, Logger: slog.New(slog.DiscardHandler), Routes: b.routes()}
	for _, c := range change {
		c(&options)
	}
	if b.api, err = rest.New(options); err != nil {
		t.Fatal(err)
	}
	named := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req_test")
		b.api.ServeHTTP(w, r)
	})
	b.Server = httptest.NewServer(named)
	t.Cleanup(b.Close)
	return b
}

// answer is a response, read.
type answer struct {
	status int
	header http.Header
	body   string
}

type request struct {
	method, path, body string
	key                string // scope of the API key: full, sending, read; "" is full, "-" is none
	header             map[string]string
}

func (b *bundle) do(t *testing.T, q request) answer {
	t.Helper()
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
