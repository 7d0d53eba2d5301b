package graph

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/graph/schema"
	"github.com/postrider/postrider/runtime/base/expect"
)

// foreignIDs has an ID of bob for every root field that takes one.
var foreignIDs = map[string]string{"node": "msg_999", "email": "msg_999", "domain": "dom_999", "apiKey": "key_999",
	"suppression": "sup_999", "categoryOptOut": "opt_999", "template": "tpl_bob", "webhook": "wh_999",
	"webhookDelivery": "whd_999", "receivedEmail": "inb_003", "smtpCredential": "smtp_999",
	"automation": "aut_999", "automationRun": "run_999", "customEvent": "ae_999", "apiRequest": "req_009"}

func TestAnotherAccountsIDsAnswerLikeUnknownOnes(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	served, err := schema.ParseServed(allModules)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range served.Query.Fields {
		if f.Arguments.ForName("id") == nil {
			continue
		}
		foreign := foreignIDs[f.Name]
		if foreign == "" {
			t.Errorf("no foreign id for Query.%s: a field that takes an id is tried with another account's", f.Name)
			continue
		}
		query := `query($id: ID!) { ` + f.Name + `(id: $id) { id } }`
		if own := s.askAs(t, "svc_bob", query, map[string]any{"id": foreign}); own.Data[f.Name] == nil {
			t.Errorf("%s: the owner does not see it either, so this proves nothing: %s", f.Name, own.body)
		}
		theirs := s.ask(t, query, map[string]any{"id": foreign})
		unknown := s.ask(t, query, map[string]any{"id": "nothing"})
		if theirs.body != unknown.body || theirs.status != unknown.status || theirs.body != `{"data":{"`+f.Name+
			`":null}}` {
			t.Errorf("%s: foreign %d %s, unknown %d %s", f.Name, theirs.status, theirs.body, unknown.status,
				unknown.body)
		}
	}
}

func TestListsHoldOnlyTheCallersOwn(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 2})
	a := s.ask(t, `{ emails { nodes { id } } domains { nodes { id } } apiKeys { nodes { id } } account { id } }`, nil)
	same(t, "ada's", map[string]any{
		"emails":  map[string]any{"nodes": []any{map[string]any{"id": "msg_002"}, map[string]any{"id": "msg_001"}}},
		"domains": map[string]any{"nodes": []any{map[string]any{"id": "dom_002"}, map[string]any{"id": "dom_001"}}},
		"apiKeys": map[string]any{"nodes": []any{map[string]any{"id": "key_002"}, map[string]any{"id": "key_001"}}},
		"account": map[string]any{"id": ada},
	}, a.Data)
}

func TestScopesDecideWhatAKeyReads(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{emails: 1})
	served, err := schema.ParseServed(allModules)
	if err != nil {
		t.Fatal(err)
	}
	// every caller can read its own identity
	sendingMay := map[string]bool{"email": true, "emails": true, "scheduledEmails": true, "viewer": true, "operator": true, "node": true,
		"nodes": true, "search": true, "customEvent": true, "customEvents": true}
	peopleOnly := map[string]bool{"invitations": true, "auditLog": true}
	// keys open everything
	fullOnly := map[string]bool{"apiKey": true, "apiKeys": true, "smtpCredential": true, "smtpCredentials": true,
		"usage": true, "billing": true} // billing is not visible to read-only programs
	for _, f := range served.Query.Fields {
		if strings.HasPrefix(f.Name, "__") {
			continue // introspection, which every caller may use
		}
		query := `{ ` + f.Name
		if f.Arguments.ForName("id") != nil {
			query += `(id: "x")`
		}
		if f.Arguments.ForName("webhookId") != nil && f.Arguments.ForName("range") == nil {
			query += `(webhookId: "x")`
		}
		if f.Arguments.ForName("domainId") != nil {
			query += `(domainId: "x")`
		}
		if f.Arguments.ForName("ids") != nil {
			query += `(ids: [])`
		}
		if f.Arguments.ForName("query") != nil {
			query += `(query: "xx")`
		}
		if f.Arguments.ForName("range") != nil {
			query += `(range: {gte: "2026-01-01T00:00:00Z", lt: "2026-01-02T00:00:00Z"})`
		}
		query += ` { __typename } }`
		for _, key := range []string{"svc_full", "svc_read"} {
			a := s.askAs(t, key, query, nil)
			if refused := fullOnly[f.Name] && key != "svc_full" ||
				peopleOnly[f.Name]; refused != (a.codes() == "insufficient_scope") || !refused && len(a.Errors) != 0 {
				t.Errorf("%s reads %s: %s", key, f.Name, a.body)
			}
		}
		a := s.askAs(t, "svc_sending", query, nil)
		switch {
		case sendingMay[f.Name] && len(a.Errors) != 0:
			t.Errorf("svc_sending reads %s: %s", f.Name, a.body)
		case !sendingMay[f.Name] && a.codes() != "insufficient_scope":
			t.Errorf("svc_sending reads %s: %s, want insufficient_scope", f.Name, a.body)
		}
	}
}

func TestDomainAndAccountAnswerEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ domain(id: "dom_001") `+everything(t, "Domain")+` account `+everything(t, "Account")+
		` domains(first: 1) `+everything(t, "DomainConnection")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 {
		t.Fatalf("asking every field of a domain and an account got status %d and %s, want 200 without errors",
			a.status, a.body)
	}
	expect.Golden(t, "domain.json", indented(t, a.body))
}

func TestAPIKeysAnswerEveryFieldButTheirSecret(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.ask(t, `{ apiKey(id: "key_001") `+everything(t, "APIKey")+` apiKeys(first: 1) `+
		everything(t, "APIKeyConnection")+` }`, nil)
	if a.status != 200 || len(a.Errors) != 0 || strings.Contains(a.body, "never shown") {
		t.Fatalf("asking every field of API keys got status %d and %s, want 200 without errors and without the secret",
			a.status, a.body)
	}
	expect.Golden(t, "apikey.json", indented(t, a.body))
}

func TestUsageIsToldOfPlansWithoutCaps(t *testing.T) {
	t.Parallel()
	s := newServer(t, setup{})
	a := s.askAs(t, "svc_bob", `{ account { usage { day month dailyCap monthlyCap } } }`, nil)
	if a.body != `{"data":{"account":{"usage":{"day":0,"month":0,"dailyCap":null,"monthlyCap":null}}}}` {
		t.Errorf("the usage of a plan without caps got status %d and %s, want numbers, and null for the caps",
			a.status, a.body)
	}
}
