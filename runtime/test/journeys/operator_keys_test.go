package journeys_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// A platform creates an account for a customer and sets it up with nothing but an operator key: plan, key, domain and
// invitation. The audit logs of the account and of the installation name both.
func TestPlatformManagesAccountsWithOperatorKey(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	platform := app.WithOperatorKey(t)
	platform.Account = ""
	var made struct{ Account struct{ ID, Plan string } }
	body := asked{"name": "Customer", "email": "owner@customer.example", "plan": "pro"}
	for range 2 { // with an Idempotency-Key, the second request creates nothing
		got := platform.Do(t, http.MethodPost, "/api/operator/accounts", body, "Idempotency-Key", "customer-1")
		wantText(t, "creating an account", got, http.StatusOK, `"plan":"pro"`)
		previous := made.Account.ID
		if got.JSON(t, &made); previous != "" && made.Account.ID != previous {
			t.Error("the repeated request created another account")
		}
	}
	account := "/api/operator/accounts/" + made.Account.ID
	wantAnswer(t, "finding the account", platform.Do(t, http.MethodGet, "/api/operator/accounts?q=owner@customer.example", nil),
		http.StatusOK, made.Account.ID)
	wantText(t, "changing its limit", platform.Do(t, http.MethodPatch, account, asked{"monthly_limit": 500}), http.StatusOK,
		`"monthly_limit":500`)

	customer := *platform
	customer.Account = made.Account.ID
	secret := keyFor(t, customer.Do, asked{"name": "web shop", "scope": "sending"})
	wantAnswer(t, "adding a domain", customer.Do(t, http.MethodPost, "/api/domains", asked{"name": "customer.example"}), http.StatusOK)
	wantText(t, "inviting", customer.Do(t, http.MethodPost, "/api/invitations",
		asked{"email": "bob@customer.example", "role": "owner"}), http.StatusOK, `"invited_by":null`)
	wantAnswer(t, "reading its usage", customer.Do(t, http.MethodGet, "/api/account", nil), http.StatusOK, made.Account.ID)
	var read struct {
		Domains struct{ Nodes []struct{ Name string } }
		APIKeys struct{ Nodes []struct{ Name string } } `json:"apiKeys"`
	}
	customer.Query(t, `{ domains { nodes { name } } apiKeys { nodes { name } } }`, &read)
	if len(read.Domains.Nodes) != 1 || len(read.APIKeys.Nodes) != 1 || read.APIKeys.Nodes[0].Name != "web shop" {
		t.Errorf("over GraphQL, the account has %+v", read)
	}
	if got := app.Do(t, http.MethodGet, "/api/domains", nil); strings.Contains(string(got.Body), "customer.example") {
		t.Errorf("the domain was added to another account: %s", got.Body)
	}

	key := operatorKeyOf(t, &customer)
	for name, log := range map[string]harness.Answer{
		"account": customer.Do(t, http.MethodGet, "/api/audit-log?limit=100", nil),
		"service": platform.Do(t, http.MethodGet, "/api/operator/audit-log?limit=100", nil)} {
		for _, action := range []string{"operator.account_created", "operator.account_updated", "createAPIKey", "addDomain",
			"invitation.created"} {
			if !hasEntry(t, log, action, key, made.Account.ID, name == "service") {
				t.Errorf("the audit log of the %s has no entry %s of the operator key %s: %s", name, action, key, log.Body)
			}
		}
	}

	wantAnswer(t, "suspending", platform.Do(t, http.MethodPatch, account, asked{"suspended": true}), http.StatusOK)
	send := asked{"from": "a@customer.example", "to": "owner@customer.example", "subject": "x", "text": "x"}
	for name, client := range map[string]*harness.App{"the operator key": &customer, "the key of the account": withKey(app, secret)} {
		expect.Eventually(t, name+" cannot send for a suspended account", func() bool {
			got := client.Do(t, http.MethodPost, "/api/emails", send)
			return got.Status == http.StatusForbidden && strings.Contains(string(got.Body), "account_suspended")
		})
	}
}

// operatorKeyOf returns the id of the client's operator key as the API log names it.
func operatorKeyOf(t *testing.T, client *harness.App) (id string) {
	t.Helper()
	expect.Eventually(t, "the API log has the request", func() bool {
		var list struct {
			Requests []struct {
				APIKeyID string `json:"api_key_id"`
			}
		}
		client.Do(t, http.MethodGet, "/api/requests", nil).JSON(t, &list)
		for _, r := range list.Requests {
			id = r.APIKeyID
		}
		return strings.HasPrefix(id, "opk_")
	})
	return id
}

// hasEntry reports whether an audit log has an entry of the operator key, which names the account if it must.
func hasEntry(t *testing.T, log harness.Answer, action, key, account string, named bool) bool {
	t.Helper()
	var list struct {
		Entries []struct {
			Action, Target string
			Actor          struct{ Kind, ID, Name string }
			Changes        map[string]any
		} `json:"entries"`
	}
	log.JSON(t, &list)
	for _, e := range list.Entries {
		if e.Action == action && e.Actor.Kind == "operator" && e.Actor.ID == key && e.Actor.Name == "provisioning" {
			return !named || e.Changes["account"] == account || e.Target == account
		}
	}
	return false
}

// Without an account, an operator key has no access to mail; as a password of SMTP and in MCP it has none either.
func TestOperatorKeyNeedsAccount(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	platform := app.WithOperatorKey(t)
	if signsIn(t, app, platform.APIKey) {
		t.Error("an operator key signs in over SMTP")
	}
	const question = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"domain_status","arguments":{}}}`
	ask := func(client *harness.App) harness.Answer {
		return client.Do(t, http.MethodPost, "/mcp", json.RawMessage(question), "Accept", "application/json, text/event-stream")
	}
	wantText(t, "an agent with an operator key and an account", ask(platform), http.StatusOK, "dev.test")
	nobody := *platform
	nobody.Account = ""
	if got := ask(&nobody); strings.Contains(string(got.Body), "dev.test") {
		t.Errorf("an agent with an operator key and no account got %s", got.Body)
	}
	for _, path := range []string{"/api/emails", "/api/event-log", "/api/event-log/stream", "/api/account", "/api/api-keys"} {
		wantAnswer(t, path+" without an account", nobody.Do(t, http.MethodGet, path, nil), http.StatusBadRequest, "Postrider-Account")
	}
	wantAnswer(t, "GraphQL without an account", nobody.Do(t, http.MethodPost, "/graphql", asked{"query": "{ domains { nodes { name } } }"}),
		http.StatusOK, "Postrider-Account")
	stream := nobody
	if got := stream.Do(t, http.MethodPost, "/graphql", asked{"query": "subscription { events { id } }"}, "Accept",
		"text/event-stream"); !strings.Contains(string(got.Body), "Postrider-Account") && got.Status == http.StatusOK {
		t.Errorf("a subscription without an account got %d %s", got.Status, got.Body)
	}
}

// Only people and the command line manage operator keys, so that a leaked key cannot outlive its revocation.
func TestOperatorManagesOperatorKeys(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	ada := signInOwner(t, app)
	var made struct {
		Key    struct{ ID string } `json:"operator_key"`
		Secret string
	}
	got := ada.Do(t, http.MethodPost, "/api/operator/keys", asked{"name": "provisioning"})
	wantText(t, "an operator creating an operator key", got, http.StatusOK, `"created_by":"usr_`)
	got.JSON(t, &made)
	platform := withKey(app, made.Secret)
	wantAnswer(t, "the key", platform.Do(t, http.MethodGet, "/api/operator/accounts", nil), http.StatusOK)
	for path, method := range map[string]string{"/api/operator/keys": http.MethodGet, "/api/operator/keys/" + made.Key.ID: http.MethodDelete} {
		wantAnswer(t, method+" "+path+" by an operator key", platform.Do(t, method, path, nil), http.StatusForbidden, "insufficient_scope")
	}
	wantAnswer(t, "an operator key creating another", platform.Do(t, http.MethodPost, "/api/operator/keys", asked{"name": "x"}),
		http.StatusForbidden, "insufficient_scope")
	wantAnswer(t, "the list", ada.Do(t, http.MethodGet, "/api/operator/keys", nil), http.StatusOK, made.Key.ID)
	wantAnswer(t, "an API key", app.Do(t, http.MethodGet, "/api/operator/keys", nil), http.StatusForbidden, "insufficient_scope")
	wantText(t, "revoking", ada.Do(t, http.MethodDelete, "/api/operator/keys/"+made.Key.ID, nil), http.StatusOK, `"revoked_at":"2`)
	wantAnswer(t, "the revoked key", platform.Do(t, http.MethodGet, "/api/operator/accounts", nil), http.StatusUnauthorized)
	wantAnswer(t, "the log of the installation", ada.Do(t, http.MethodGet, "/api/operator/audit-log", nil), http.StatusOK,
		"operator.key_created", "operator.key_revoked")

	// The key of a person ends with their operator role.
	got = ada.Do(t, http.MethodPost, "/api/operator/keys", asked{"name": "provisioning"})
	got.JSON(t, &made)
	platform = withKey(app, made.Secret)
	wantAnswer(t, "another key", platform.Do(t, http.MethodGet, "/api/operator/accounts", nil), http.StatusOK)
	scenarioOf(t, app).exec(t, `UPDATE users SET operator = false`)
	expect.Eventually(t, "the key of a former operator is refused", func() bool {
		return platform.Do(t, http.MethodGet, "/api/operator/accounts", nil).Status == http.StatusUnauthorized
	})
}
