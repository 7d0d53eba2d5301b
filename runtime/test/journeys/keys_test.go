package journeys_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// keyFor creates an API key in a browser or with another key.
func keyFor(t *testing.T, do func(t testing.TB, method, path string, body any, headers ...string) harness.Answer,
	body asked) string {
	t.Helper()
	var made struct{ Secret string }
	got := do(t, http.MethodPost, "/api/api-keys", body)
	if got.Status != http.StatusOK {
		t.Fatalf("creating the key %v got %d %s, want 200", body, got.Status, got.Body)
	}
	got.JSON(t, &made)
	return made.Secret
}

// A key can never do more than the member who created it can do now: neither a developer's full key, nor a
// key that this key created, nor one whose creator became a viewer or left.
func TestKeyIsLimitedByCreatorRole(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	bob := invite(t, app, ada, "developer")
	id := idOf(t, bob)
	by := func(t testing.TB, method, path string, body any, _ ...string) harness.Answer {
		return bob.Do(t, method, path, body)
	}
	full := withKey(app, keyFor(t, by, asked{"name": "full"}))
	child := withKey(app, keyFor(t, full.Do, asked{"name": "made by a key"}))
	var credential struct{ Password string }
	made := bob.Do(t, http.MethodPost, "/api/smtp-credentials", asked{"name": "bob's"})
	wantAnswer(t, "a developer creating an SMTP credential", made, http.StatusOK)
	made.JSON(t, &credential)

	brand := asked{"name": "Eve's shop"}
	for name, key := range map[string]*harness.App{"a developer's full key": full, "a key that it created": child} {
		wantAnswer(t, name+" listing domains", key.Do(t, http.MethodGet, "/api/domains", nil), http.StatusOK)
		wantAnswer(t, name+" changing the account", key.Do(t, http.MethodPatch, "/api/account", asked{"name": "Eve's"}),
			http.StatusForbidden, "insufficient_scope")
		wantAnswer(t, name+" changing the brand", key.Do(t, http.MethodPut, "/api/account/brand", brand),
			http.StatusForbidden, "insufficient_scope")
		wantAnswer(t, name+" reading the bill", key.Do(t, http.MethodGet, "/api/billing/usage", nil),
			http.StatusForbidden, "insufficient_scope")
	}
	if got := full.Do(t, http.MethodPost, "/graphql",
		asked{"query": `{usage{emails}}`}); !strings.Contains(string(got.Body), "insufficient_scope") {
		t.Errorf("a developer's full key reading usage over GraphQL got %s, want an error", got.Body)
	}
	if !signsIn(t, app, credential.Password) {
		t.Error("the SMTP credential of a developer is rejected")
	}

	wantAnswer(t, "the owner making bob a viewer",
		ada.Do(t, http.MethodPatch, "/api/members/"+id, asked{"role": "viewer"}), http.StatusOK)
	expect.Eventually(t, "the keys of a viewer only read", func() bool {
		return full.Do(t, http.MethodPost, "/api/suppressions", asked{}).Status == http.StatusForbidden &&
			child.Do(t, http.MethodPost, "/api/emails", anEmail).Status == http.StatusForbidden
	})
	wantAnswer(t, "a viewer's key listing domains", full.Do(t, http.MethodGet, "/api/domains", nil), http.StatusOK)
	expect.Eventually(t, "the SMTP credential of a viewer does not sign in",
		func() bool { return !signsIn(t, app, credential.Password) })

	wantAnswer(t, "the owner making bob a developer again",
		ada.Do(t, http.MethodPatch, "/api/members/"+id, asked{"role": "developer"}), http.StatusOK)
	expect.Eventually(t, "the keys of a developer write again", func() bool {
		return full.Do(t, http.MethodPost, "/api/suppressions", asked{}).Status == http.StatusBadRequest
	})
	wantAnswer(t, "the owner removing bob", ada.Do(t, http.MethodDelete, "/api/members/"+id, nil), http.StatusOK)
	for name, key := range map[string]*harness.App{"the key of a former member": full, "a key that it created": child} {
		expect.Eventually(t, name+" does not list domains",
			func() bool { return key.Do(t, http.MethodGet, "/api/domains", nil).Status == http.StatusForbidden })
		wantAnswer(t, name+" creating a key", key.Do(t, http.MethodPost, "/api/api-keys", asked{"name": "another"}),
			http.StatusForbidden, "insufficient_scope")
		wantAnswer(t, name+" that sends", key.Do(t, http.MethodPost, "/api/emails", anEmail), http.StatusOK)
	}
	var list struct {
		APIKeys []struct {
			Name        string
			CreatorRole string `json:"creator_role"`
			CreatorLeft bool   `json:"creator_left"`
		} `json:"api_keys"`
	}
	ada.Do(t, http.MethodGet, "/api/api-keys", nil).JSON(t, &list)
	if got := fmt.Sprint(list.APIKeys); !strings.Contains(got, "{full developer true}") ||
		!strings.Contains(got, "{made by a key developer true}") {
		t.Errorf("the list of keys is %s, want both keys of bob, a former developer", got)
	}
}

// signsIn reports whether the relay accepts a password.
func signsIn(t *testing.T, app *harness.App, password string) bool {
	t.Helper()
	s := dialRelay(t, app)
	s.auth("postrider", password)
	return strings.HasPrefix(s.answer(), "235")
}

// A key limited to one domain can access neither mail of another domain nor that domain, its DKIM keys and
// its rules, whatever its scope; lists do not include them.
func TestDomainKeyCannotAccessOtherDomains(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	verifyDomain(t, app, "other.example")
	devID, otherID := idOfDomain(t, app, "dev.test"), idOfDomain(t, app, "other.example")
	key := withKey(app, keyFor(t, app.Do, asked{"name": "limited", "domain_ids": []string{devID}}))
	later := time.Now().Add(time.Hour)
	var sent struct{ ID string }
	got := app.Do(t, http.MethodPost, "/api/emails", asked{"from": "ada@other.example", "to": "bob@example.net",
		"subject": "s", "text": "t", "scheduled_at": later})
	wantAnswer(t, "scheduling mail of the other domain", got, http.StatusOK)
	got.JSON(t, &sent)
	own := schedule(t, key, "own")

	for _, op := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPatch, "/api/emails/" + sent.ID, asked{"scheduled_at": later.Add(time.Hour)}},
		{http.MethodPatch, "/api/emails/" + sent.ID, asked{"cancel": true}},
		{http.MethodDelete, "/api/domains/" + devID, nil},
		{http.MethodPost, "/api/domains", asked{"name": "third.example"}},
		{http.MethodPatch, "/api/account", asked{"name": "Eve's"}},
		{http.MethodPost, "/api/webhooks", asked{"url": "https://eve.example/hook"}},
		{http.MethodGet, "/api/event-log", nil},
		{http.MethodGet, "/api/requests", nil},
		{http.MethodDelete, "/api/contacts/bob@example.net/data", nil},
	} {
		wantAnswer(t, "a limited key calling "+op.method+" "+op.path, key.Do(t, op.method, op.path, op.body),
			http.StatusForbidden, "insufficient_scope")
	}
	keyID, _ := newKey(t, app, "full")
	credentialID, _ := newCredential(t, app, map[string]any{"name": "unlimited"})
	for _, of := range []struct{ path, id string }{{"/emails", sent.ID}, {"/domains", otherID}, {"/api-keys", keyID},
		{"/smtp-credentials", credentialID}} {
		asked := 0
		for path, methods := range operationsOf(t, app) {
			if path != of.path+"/{id}" && !strings.HasPrefix(path, of.path+"/{id}/") {
				continue
			}
			for _, method := range methods {
				asked++
				path := "/api" + strings.Replace(path, "{id}", of.id, 1)
				wantAnswer(t, "a limited key calling "+method+" "+path, key.Do(t, method, path, nil),
					http.StatusForbidden, "insufficient_scope")
			}
		}
		if asked < 2 {
			t.Errorf("the document has %d operations on one of %s, want all", asked, of.path)
		}
	}
	for _, query := range []string{`{email(id: "` + sent.ID + `"){id}}`, `{domain(id: "` + otherID + `"){id}}`,
		`{queue{nodes{email{id}}}}`, `{node(id: "` + sent.ID + `"){id}}`,
		`{search(query: "other"){__typename}}`,
		`mutation{dropDelivery(selection: {all: true}, reason: "x"){__typename}}`} {
		if got := key.Do(t, http.MethodPost, "/graphql", asked{"query": query}); !strings.Contains(string(got.Body),
			"insufficient_scope") {
			t.Errorf("a limited key querying %s got %s, want an error", query, got.Body)
		}
	}
	for _, path := range []string{"/api/emails", "/api/emails?q=s", "/api/emails/export", "/api/domains",
		"/api/received-emails"} {
		got := key.Do(t, http.MethodGet, path, nil)
		wantAnswer(t, "a limited key listing "+path, got, http.StatusOK)
		if body := string(got.Body); strings.Contains(body, "other.example") || strings.Contains(body, sent.ID) {
			t.Errorf("a limited key finds the other domain in %s: %s", path, body)
		}
	}
	both := string(key.Do(t, http.MethodPost, "/graphql",
		asked{"query": `{emails{nodes{id} count{value}} domains{nodes{name} count{value}}}`}).Body)
	if !strings.Contains(both, own) || !strings.Contains(both, "dev.test") || strings.Contains(both, "other.example") ||
		strings.Contains(both, sent.ID) {
		t.Errorf("a limited key lists %s over GraphQL, want only its own domain and mail", both)
	}
	wantAnswer(t, "a limited key canceling its own mail",
		key.Do(t, http.MethodPatch, "/api/emails/"+own, asked{"cancel": true}), http.StatusOK)
	wantAnswer(t, "a limited key rotating its own DKIM key",
		key.Do(t, http.MethodPost, "/api/domains/"+devID+"/dkim/rotate", nil), http.StatusOK)
}

// operationsOf returns the methods of each path of the served document.
func operationsOf(t *testing.T, app *harness.App) map[string][]string {
	t.Helper()
	var document struct{ Paths map[string]map[string]any }
	app.Do(t, http.MethodGet, "/api/openapi.json", nil).JSON(t, &document)
	all := map[string][]string{}
	for path, methods := range document.Paths {
		for method := range methods {
			all[path] = append(all[path], strings.ToUpper(method))
		}
	}
	return all
}

// A key that is limited to networks is refused from another address on every API, whatever a client claims its address
// is, and works again when its own network is allowed.
func TestKeyIsRefusedFromOtherNetworks(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	var made struct {
		APIKey struct{ ID string } `json:"api_key"`
		Secret string
	}
	app.Do(t, http.MethodPost, "/api/api-keys",
		asked{"name": "office", "allowed_ips": []string{"192.0.2.0/24"}}).JSON(t, &made)
	limited := withKey(app, made.Secret)
	forged := []string{"X-Forwarded-For", "192.0.2.1", "Forwarded", "for=192.0.2.1", "X-Real-Ip", "192.0.2.1"}
	for what, got := range map[string]harness.Answer{
		"REST":         limited.Do(t, http.MethodGet, "/api/domains", nil, forged...),
		"a send":       limited.Do(t, http.MethodPost, "/api/emails", anEmail, forged...),
		"the stream":   limited.Do(t, http.MethodGet, "/api/events/stream", nil, forged...),
		"GraphQL":      limited.Do(t, http.MethodPost, "/graphql", asked{"query": "{domains{nodes{id}}}"}, forged...),
		"the MCP tool": limited.Do(t, http.MethodPost, "/mcp", asked{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, forged...),
	} {
		if got.Status != http.StatusForbidden || !strings.Contains(string(got.Body), "cannot be used from 127.0.0.1") {
			t.Errorf("%s got %d %s, want 403 address_not_allowed", what, got.Status, got.Body)
		}
	}
	for _, api := range compatAPIs {
		got := limited.Do(t, http.MethodGet, api.Prefix+"/unknown", nil, append(api.credentials(made.Secret), forged...)...)
		if got.Status != http.StatusForbidden {
			t.Errorf("%s got %d %s, want 403", api.Prefix, got.Status, got.Body)
		}
	}
	if signsIn(t, app, made.Secret) {
		t.Error("the key signs in over SMTP from another network")
	}

	wantAnswer(t, "allowing the network of the test", app.Do(t, http.MethodPatch, "/api/api-keys/"+made.APIKey.ID,
		asked{"allowed_ips": []string{"127.0.0.1", "::1"}}), http.StatusOK)
	wantAnswer(t, "the key in its network", limited.Do(t, http.MethodGet, "/api/domains", nil), http.StatusOK)
	if !signsIn(t, app, made.Secret) {
		t.Error("the key does not sign in over SMTP from its network")
	}
}

// A key with permissions sends over REST, SMTP and the APIs of other providers, or not, and has no other access.
func TestKeyWithPermissions(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	sender := withKey(app, keyFor(t, app.Do, asked{"name": "sender", "permissions": []string{"emails:send"}}))
	reader := withKey(app, keyFor(t, app.Do, asked{"name": "reader", "permissions": []string{"emails:read", "domains:write"}}))
	wantAnswer(t, "sending with emails:send", sender.Do(t, http.MethodPost, "/api/emails", anEmail), http.StatusOK)
	wantAnswer(t, "reading with emails:send", sender.Do(t, http.MethodGet, "/api/emails", nil), http.StatusForbidden, "insufficient_scope")
	wantAnswer(t, "sending with emails:read", reader.Do(t, http.MethodPost, "/api/emails", anEmail), http.StatusForbidden, "insufficient_scope")
	wantAnswer(t, "reading with emails:read", reader.Do(t, http.MethodGet, "/api/emails", nil), http.StatusOK)
	wantAnswer(t, "adding a domain with domains:write", reader.Do(t, http.MethodPost, "/api/domains", asked{"name": "permitted.example"}), http.StatusOK)
	for name, key := range map[string]*harness.App{"emails:send": sender, "domains:write": reader} {
		wantAnswer(t, "creating a key with "+name, key.Do(t, http.MethodPost, "/api/api-keys", asked{"name": "x"}), http.StatusForbidden, "insufficient_scope")
		wantAnswer(t, "the event log with "+name, key.Do(t, http.MethodGet, "/api/event-log/stream", nil), http.StatusForbidden, "insufficient_scope")
		for _, query := range []string{"{ emails { nodes { id } } }", "{ domains { nodes { name } } }", "{ account { id } }"} {
			if got := key.Do(t, http.MethodPost, "/graphql", asked{"query": query}); !strings.Contains(string(got.Body), "insufficient_scope") {
				t.Errorf("%s over GraphQL with %s got %s", query, name, got.Body)
			}
		}
	}
	if !signsIn(t, app, sender.APIKey) || signsIn(t, app, reader.APIKey) {
		t.Error("over SMTP, emails:send must sign in, and emails:read must not")
	}
	got := sender.Do(t, http.MethodPost, "/resend/emails", asked{"from": "hello@dev.test", "to": []string{"bob@example.net"}, "subject": "x", "text": "x"})
	other := reader.Do(t, http.MethodPost, "/resend/emails", asked{"from": "hello@dev.test", "to": []string{"bob@example.net"}, "subject": "x", "text": "x"})
	if got.Status != http.StatusOK || other.Status != http.StatusForbidden {
		t.Errorf("over the API of Resend, emails:send got %d %s and emails:read %d %s", got.Status, got.Body, other.Status, other.Body)
	}
}
