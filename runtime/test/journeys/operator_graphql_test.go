package journeys_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// operatorMutations are the mutations of the installation, with the arguments that a foreign caller tries.
var operatorMutations = map[string]string{
	"createAccountAsOperator":  `account:{name:"Foreign",email:"foreign@example.com"}`,
	"updateAccountAsOperator":  `id:"ACCOUNT",change:{suspended:true}`,
	"updatePlanAsOperator":     `id:"pro",change:{name:"Foreign"}`,
	"createUserAsOperator":     `user:{email:"foreign@example.com"}`,
	"updateUserAsOperator":     `id:"USER",change:{disabled:true}`,
	"createUserLinkAsOperator": `id:"USER"`,
	"createOperatorKey":        `key:{name:"Foreign"}`,
	"revokeOperatorKey":        `id:"opk_01kf0m4w7he6x8q2v5b3n9c1tz"`,
}

// checkOperatorMutation has API keys change the installation, their own account included: nothing changes.
func checkOperatorMutation(t *testing.T, callers []*harness.App, owner *harness.App, name, arguments string) {
	t.Helper()
	s := scenarioOf(t, owner)
	userID := s.readText(t, `SELECT id FROM users ORDER BY id LIMIT 1`)
	arguments = strings.NewReplacer("ACCOUNT", owner.AccountID, "USER", userID).Replace(arguments)
	for _, caller := range callers {
		got := mutate(t, caller, fmt.Sprintf(`%s(%s){__typename}`, name, arguments))
		if !strings.Contains(got, `"insufficient_scope"`) || !strings.HasSuffix(got, `"data":null}`) {
			t.Errorf("%s by an API key got %s, want insufficient_scope", name, got)
		}
	}
	if n := s.readText(t, `SELECT (SELECT count(*) FROM users WHERE disabled_at IS NOT NULL OR email = 'foreign@example.com')
		+ (SELECT count(*) FROM accounts WHERE suspended_at IS NOT NULL OR name = 'Foreign')
		+ (SELECT count(*) FROM plans WHERE name = 'Foreign') + (SELECT count(*) FROM operator_keys)`); n != "0" {
		t.Errorf("%s by an API key changed %s rows", name, n)
	}
}

// readText returns the only value of a query.
func (s *scenario) readText(t *testing.T, query string) (value string) {
	t.Helper()
	if err := s.db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// mutate returns the response to one mutation.
func mutate(t *testing.T, client *harness.App, mutation string) string {
	t.Helper()
	return string(client.Do(t, http.MethodPost, "/graphql", asked{"query": "mutation{" + mutation + "}"}).Body)
}

// Over GraphQL, a platform manages accounts, plans and users by the rules of the REST API. An operator key can become
// neither a person nor a better key.
func TestPlatformManagesAccountsOverGraphQL(t *testing.T) {
	t.Parallel()
	app := startCaptured(t)
	platform := app.WithOperatorKey(t)
	platform.Account = ""
	must := func(what, got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%s got %s, want %s", what, got, want)
		}
	}
	var ids []string
	for range 2 {
		var made struct {
			CreateAccountAsOperator struct{ Account struct{ ID string } }
		}
		platform.Query(t, `mutation{createAccountAsOperator(account:{name:"Customer",email:"owner@customer.example",plan:"pro"},
			idempotencyKey:"customer-1"){account{id}}}`, &made)
		ids = append(ids, made.CreateAccountAsOperator.Account.ID)
	}
	if account := ids[0]; !strings.HasPrefix(account, "acc_") || ids[1] != account {
		t.Fatalf("the repeated mutation created another account: %v", ids)
	}
	change := func(fields string) string {
		return mutate(t, platform, fmt.Sprintf(`updateAccountAsOperator(id:%q,change:{%s}){account{monthlyLimit storedBytesLimit planId}}`,
			ids[0], fields))
	}
	must("limits", change(`monthlyLimit:500,storedBytes:3000000000`), `{"monthlyLimit":500,"storedBytesLimit":3e+09,"planId":"pro"}`)
	must("null", change(`monthlyLimit:null`), `{"monthlyLimit":null,"storedBytesLimit":3e+09,"planId":"pro"}`)
	must("an unknown plan", change(`plan:"none"`), `"code":"validation_error"`)
	must("a plan", mutate(t, platform, `updatePlanAsOperator(id:"pro",change:{dailySms:40}){dailySMS}`), `{"dailySMS":40}`)
	must("an unknown account", mutate(t, platform, `updateAccountAsOperator(id:"acc_01kf0m4w7he6x8q2v5b3n9c1tz",change:{suspended:true}){account{id}}`),
		`"code":"not_found"`)

	var made struct{ CreateUserAsOperator struct{ ID string } }
	platform.Query(t, `mutation{createUserAsOperator(user:{email:"new@customer.example",name:"New"}){id}}`, &made)
	user := made.CreateUserAsOperator.ID
	must("a link", mutate(t, platform, fmt.Sprintf(`createUserLinkAsOperator(id:%q){url expiresAt}`, user)), `"url":"http`)
	must("disabling", mutate(t, platform, fmt.Sprintf(`updateUserAsOperator(id:%q,change:{disabled:true}){disabledAt}`, user)), `"disabledAt":"2`)

	signInOwner(t, app)
	owner := scenarioOf(t, app).readText(t, `SELECT id FROM users WHERE last_sign_in_at IS NOT NULL`)
	for what, mutation := range map[string]string{
		"a link for a user who has signed in": fmt.Sprintf(`createUserLinkAsOperator(id:%q){url}`, owner),
		"making an operator":                  fmt.Sprintf(`updateUserAsOperator(id:%q,change:{operator:true}){id}`, user),
		"removing an operator":                fmt.Sprintf(`updateUserAsOperator(id:%q,change:{operator:false}){id}`, owner),
		"creating an operator key":            `createOperatorKey(key:{name:"x"}){secret}`,
		"revoking an operator key":            `revokeOperatorKey(id:"opk_01kf0m4w7he6x8q2v5b3n9c1tz"){id}`,
	} {
		if got := mutate(t, platform, mutation); !strings.HasSuffix(got, `"data":null}`) ||
			!strings.Contains(got, `"insufficient_scope"`) {
			t.Errorf("%s by an operator key got %s, want insufficient_scope", what, got)
		}
	}
	log := platform.Do(t, http.MethodGet, "/api/operator/audit-log?limit=100", nil)
	key := scenarioOf(t, app).readText(t, `SELECT id FROM operator_keys`)
	for action, target := range map[string]string{"operator.account_created": ids[0], "operator.account_updated": ids[0],
		"operator.plan_updated": "pro", "user.created": user, "user.link_created": user, "user.changed": user} {
		if !hasEntry(t, log, action, key, target, true) {
			t.Errorf("the audit log of the installation has no entry %s of the operator key for %s: %s", action, target, log.Body)
		}
	}
}
