package journeys_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// The same over GraphQL, derived from introspection.
func TestGraphQLIsolatesAccounts(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")                                         // a failed recipient would be suppressed
	stranger, noter := app.Stranger(t, "stranger"), app.Stranger(t, "noter") // the first stranger has no events
	byField := map[string]string{}
	unknown := map[string]string{}
	for _, kind := range owned {
		if kind.root != "" {
			byField[kind.root], unknown[kind.root] = kind.add(t, app), kind.unknown
		}
	}
	send(t, app, anEmail)
	app.DNS.Fault("unanswered.example", dnsxtest.ServFail)
	later := `{"scheduled_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `",`
	for range 2 { // so that the queue and the list of scheduled emails have a second page
		send(t, app, strings.ReplaceAll(anEmail, "example.net", "unanswered.example"))
		if a := app.Do(t, http.MethodPost, "/api/emails", strings.Replace(anEmail, "{", later, 1)); a.Status != http.StatusOK {
			t.Fatalf("a scheduled email: %d %s", a.Status, a.Body)
		}
	}
	var schema struct {
		Schema struct {
			QueryType    struct{ Fields []rootField }
			MutationType struct{ Fields []rootField }
		} `json:"__schema"`
	}
	app.Query(t, `{__schema{queryType{fields{name args{name}}} mutationType{fields{name args{name}}}}}`, &schema)
	if len(schema.Schema.MutationType.Fields) == 0 {
		t.Error("the schema has no mutations")
	}
	for _, f := range schema.Schema.MutationType.Fields {
		if arguments, isOperators := operatorMutations[f.Name]; isOperators {
			checkOperatorMutation(t, []*harness.App{app, stranger}, app, f.Name, arguments)
			continue
		}
		if !f.hasArgument("selection") {
			checkMutation(t, noter, f, byField, unknown)
			continue
		}
		checkQueueMutation(t, app, stranger, f)
	}
	byField["node"], unknown["node"] = byField["email"], unknown["email"]
	harness.Eventually(t, "the log has requests of the owner", func() bool {
		var logged struct {
			APIRequests struct{ Nodes []struct{ ID string } }
		}
		app.Query(t, `{apiRequests(first:2){nodes{id}}}`, &logged)
		if found := logged.APIRequests.Nodes; len(found) == 2 {
			byField["apiRequest"], unknown["apiRequest"] = found[1].ID, "req_01kf0m4w7he6x8q2v5b3n9c1tz"
			return true
		}
		return false
	})
	for _, f := range schema.Schema.QueryType.Fields {
		switch {
		case crossing[f.Name] != "":
			query := strings.NewReplacer("EMAIL", byField["email"], "WEBHOOK", byField["webhook"], "AUTOMATION", byField["automation"]).
				Replace(crossing[f.Name])
			ask := func(a *harness.App) string {
				return string(a.Do(t, http.MethodPost, "/graphql", map[string]string{"query": query}).Body)
			}
			if own := ask(app); !strings.HasPrefix(own, `{"data":{"`+f.Name+`":`) {
				t.Errorf("the owner's %s returned no data, so this proves nothing: %s", f.Name, own)
			}
			foreign := ask(stranger)
			if f.Name == "automationStatistics" && foreign != `{"data":{"automationStatistics":{"totals":{"started":0}}}}` {
				t.Errorf("the statistics of another account's automation are %s, want none", foreign)
			}
			if answered := strings.HasPrefix(foreign, `{"data":{"`+f.Name+`":`); !answered &&
				!strings.Contains(foreign, `"code":"not_found"`) {
				t.Errorf("a stranger's %s: %s", f.Name, foreign)
			}
			for _, theirs := range []string{byField["email"], byField["webhook"], "example.net", "unanswered.example"} {
				// the response repeats the requested ID
				if strings.Contains(foreign, theirs) && !strings.Contains(foreign, `"code":"not_found"`) {
					t.Errorf("%s by another account names %s: %s", f.Name, theirs, foreign)
				}
			}
		case f.hasArgument("id"):
			if byField[f.Name] == "" {
				t.Errorf("%s takes an unsupported kind of id: add it to owned", f.Name)
			}
			ask := func(a *harness.App, id string) string {
				return string(a.Do(t, http.MethodPost, "/graphql",
					map[string]string{"query": fmt.Sprintf(`{%s(id:%q){id}}`, f.Name, id)}).Body)
			}
			if own := ask(app, byField[f.Name]); !strings.Contains(own, byField[f.Name]) {
				t.Errorf("%s does not return the owner's own record: %s", f.Name, own)
			}
			if foreign, none := ask(stranger, byField[f.Name]), ask(stranger, unknown[f.Name]); foreign != none ||
				strings.Contains(foreign, byField[f.Name]) {
				t.Errorf("%s distinguishes another account's id (%s) from an unknown one (%s)", f.Name, foreign, none)
			}
		case f.hasArgument("webhookId"):
			query := map[string]string{"query": fmt.Sprintf(`{%s(webhookId:%q){nodes{id}}}`, f.Name,
				byField["webhook"])}
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", query).Body); got != `{"data":{"`+f.Name+
				`":null}}` {
				t.Errorf("%s of another account's endpoint: %s", f.Name, got)
			}
		case f.Name == "events": // positions are not secret: another account's event is like any other
			harness.Eventually(t, "the owner has events", func() bool {
				return strings.Contains(string(app.Do(t, http.MethodPost, "/graphql",
					map[string]string{"query": `{events{nodes{id}}}`}).Body), "evt_")
			})
			if got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{events{nodes{id}}}`}).Body); got != `{"data":{"events":{"nodes":[]}}}` {
				t.Errorf("a stranger's events: %s", got)
			}
		case f.hasArgument("domainId"):
			query := map[string]string{"query": fmt.Sprintf(`{%s(domainId:%q){catchAll}}`, f.Name, byField["domain"])}
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", query).Body); got != `{"data":{"`+f.Name+`":null}}` {
				t.Errorf("%s of another account's domain: %s", f.Name, got)
			}
		case f.Name == "auditLog", f.Name == "invitations": // no key reads them; users: see TestTeamsAreIsolated
			if got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{` + f.Name + `{nodes{id}}}`}).Body); !strings.Contains(got,
				`"insufficient_scope"`) {
				t.Errorf("%s with a key: %s, want an error", f.Name, got)
			}
		case f.Name == "members":
			got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{members{nodes{user{email}}}}`}).Body)
			if !strings.Contains(got, stranger.AccountEmail) || strings.Contains(got, app.AccountEmail) {
				t.Errorf("members of another account: %s, want only its own", got)
			}
		case f.hasArgument("after"):
			checkConnection(t, app, stranger, f.Name)
		case f.Name == "operator": // for signed-in operators: see TestTheInstallationIsForOperatorsOnly
			for _, asks := range []*harness.App{app, stranger} {
				if got := string(asks.Do(t, http.MethodPost, "/graphql",
					map[string]string{"query": `{operator{accounts{nodes{id}} queueByDestination{destination}}}`}).
					Body); got != `{"data":{"operator":null}}` {
					t.Errorf("the installation with a key: %s, want null", got)
				}
			}
		case f.Name == "queueByDestination":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{queueByDestination{destination}}`}).
				Body); got != `{"data":{"queueByDestination":[]}}` {
				t.Errorf("a stranger's queue: %s", got)
			}
			if got := string(app.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{queueByDestination{destination}}`}).Body); !strings.Contains(got,
				"unanswered.example") {
				t.Errorf("the owner's queue: %s", got)
			}
		case f.Name == "viewer":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{viewer{account{id}}}`}).Body); !strings.Contains(got, stranger.AccountID) {
				t.Errorf("viewer: %s", got)
			}
		case f.Name == "plans": // the offered plans are not secret, but the caller's own plan is
			if got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{plans{id current}}`}).Body); strings.Count(got, `"current":true`) != 1 {
				t.Errorf("plans: %s", got)
			}
		case f.Name == "billing":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql",
				map[string]string{"query": `{billing{billingEmail}}`}).Body); !strings.Contains(got,
				stranger.AccountEmail) {
				t.Errorf("billing: %s", got)
			}
		case f.Name == "usage":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{usage{emails}}`}).
				Body); got != `{"data":{"usage":{"emails":0}}}` {
				t.Errorf("a stranger's usage: %s", got)
			}
			if got := string(app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{usage{emails}}`}).
				Body); !strings.HasPrefix(got, `{"data":{"usage":{"emails":`) || strings.Contains(got, `:0}`) {
				t.Errorf("the owner's usage: %s", got)
			}
		case f.Name == "account":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{account{id}}`}).
				Body); !strings.Contains(got, stranger.AccountID) {
				t.Errorf("account: %s", got)
			}
		default:
			t.Errorf("the test does not cover the root field %s", f.Name)
		}
	}
}

type rootField struct {
	Name string
	Args []struct{ Name string }
}

func (f rootField) hasArgument(name string) bool {
	for _, a := range f.Args {
		if a.Name == name {
			return true
		}
	}
	return false
}

// foreignMutations are the mutations that name a record of the field, with a selection of what they return.
var foreignMutations = map[string]struct{ field, arguments, selection string }{
	"cancelEmail":           {"email", "", "id content{text}"},
	"rescheduleEmail":       {"email", `,scheduledAt:"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`, "id"},
	"removeSuppression":     {"suppression", "", "id"},
	"replayWebhookDelivery": {"webhookDelivery", "", "id eventType"},
}

// checkMutation has another account change the owner's records: the response is that for an unknown id.
func checkMutation(t *testing.T, stranger *harness.App, f rootField, ids, unknown map[string]string) {
	t.Helper()
	ask := func(query string) string {
		return string(stranger.Do(t, http.MethodPost, "/graphql", map[string]string{"query": query}).Body)
	}
	of, byID := foreignMutations[f.Name]
	switch {
	case byID:
		mutate := func(id string) string {
			got := ask(fmt.Sprintf(`mutation{%s(id:%q%s){%s}}`, f.Name, id, of.arguments, of.selection))
			return strings.ReplaceAll(got, id, "ID")
		}
		if foreign, none := mutate(ids[of.field]), mutate(unknown[of.field]); foreign != none ||
			!strings.Contains(foreign, `"code":"not_found"`) {
			t.Errorf("%s by another account got %s, want the response for an unknown id, %s", f.Name, foreign, none)
		}
	case f.Name == "sendEmail":
		if got := ask(fmt.Sprintf(`mutation{sendEmail(email:{from:"ada@dev.test",to:"bob@example.net",template:{id:%q}}){id}}`,
			ids["template"])); !strings.Contains(got, `"template.id":`) {
			t.Errorf("a template of another account got %s, want an error of template.id", got)
		}
	case f.Name == "checkEmail":
		if got := ask(fmt.Sprintf(`mutation{checkEmail(email:{from:"ada@dev.test",to:"bob@example.net",template:{id:%q}}){findings{code}}}`,
			ids["template"])); !strings.Contains(got, `"template.id":`) {
			t.Errorf("a check of another account's template got %s, want an error of template.id", got)
		}
	case f.Name == "addSuppression":
		// The email's id is only a note from the client. It gives no access to an email of another account.
		if got := ask(fmt.Sprintf(`mutation{addSuppression(email:"x@example.net",emailId:%q){causedBy{id subject}}}`,
			ids["email"])); got != `{"data":{"addSuppression":{"causedBy":null}}}` {
			t.Errorf("a suppression because of another account's email got %s, want causedBy null", got)
		}
	default:
		t.Errorf("the test does not cover the mutation %s", f.Name)
	}
}

// checkQueueMutation has another account change the owner's queue, with every selection that names it: it
// matches nothing and changes nothing, like an unknown id.
func checkQueueMutation(t *testing.T, app, stranger *harness.App, f rootField) {
	t.Helper()
	var queue struct {
		Queue struct {
			Nodes []struct{ ID, EmailID, Destination string }
		}
	}
	// Held after the attempts are over, so that only a mutation changes it.
	expect.Eventually(t, "the owner has two held deliveries", func() bool {
		app.Do(t, http.MethodPost, "/graphql",
			map[string]string{"query": `mutation{holdDelivery(selection:{destination:"unanswered.example"}){changed}}`})
		app.Query(t, `{queue(filter:{state:HELD}){nodes{id emailId destination}}}`, &queue)
		return len(queue.Queue.Nodes) == 2
	})
	state := func() string {
		return string(app.Do(t, http.MethodPost, "/graphql",
			map[string]string{"query": `{queue(filter:{destination:"unanswered.example"}){nodes{id state}}}`}).Body)
	}
	ask := func(a *harness.App, selection string, dryRun bool) string {
		arguments := fmt.Sprintf("selection:{%s},dryRun:%t", selection, dryRun)
		if f.hasArgument("reason") {
			arguments += `,reason:"not mine"`
		}
		return string(a.Do(t, http.MethodPost, "/graphql",
			map[string]string{"query": fmt.Sprintf(`mutation{%s(%s){matched changed}}`, f.Name, arguments)}).Body)
	}
	one, none := queue.Queue.Nodes[0], fmt.Sprintf(`{"data":{"%s":{"matched":0,"changed":0}}}`, f.Name)
	for _, selection := range []string{fmt.Sprintf("recipients:[%q]", one.ID), fmt.Sprintf("email:%q", one.EmailID),
		fmt.Sprintf("destination:%q", one.Destination), "all:true"} {
		if own := ask(app, selection, true); own == none || strings.Contains(own, "errors") {
			t.Errorf("%s(%s) does not match the owner's queue: %s", f.Name, selection, own)
		}
		before := state()
		if foreign := ask(stranger, selection, false); foreign != none {
			t.Errorf("%s(%s) by another account: %s", f.Name, selection, foreign)
		}
		if after := state(); after != before {
			t.Errorf("%s(%s) by another account changed the owner's queue: %s, before %s", f.Name, selection,
				after, before)
		}
	}
}

func checkConnection(t *testing.T, app, stranger *harness.App, field string) {
	t.Helper()
	var data map[string]struct {
		Nodes    []struct{ ID string }
		PageInfo struct{ EndCursor string }
	}
	app.Query(t, fmt.Sprintf(`{%s(first:1){nodes{id} pageInfo{endCursor}}}`, field), &data)
	page := data[field]
	if page.PageInfo.EndCursor == "" || len(page.Nodes) != 1 {
		t.Errorf("%s has no second page: create two records of its kind for the owner", field)
		return
	}
	query, err := json.Marshal(map[string]string{"query": fmt.Sprintf(`{%s(after:%q){nodes{id}}}`, field,
		page.PageInfo.EndCursor)})
	if err != nil {
		t.Fatal(err)
	}
	if got := stranger.Do(t, http.MethodPost, "/graphql", string(query)); !strings.Contains(string(got.Body),
		"validation_error") {
		t.Errorf("%s accepts another account's cursor: %s", field, got.Body)
	}
	data = nil
	stranger.Query(t, fmt.Sprintf(`{%s{nodes{id} pageInfo{endCursor}}}`, field), &data)
	for _, node := range data[field].Nodes {
		if node.ID == page.Nodes[0].ID {
			t.Errorf("%s shows another account %s", field, node.ID)
		}
	}
}

// crossing are queries with which another account requests records of the first one.
var crossing = map[string]string{
	"nodes":                `{nodes(ids:["EMAIL"]){id}}`,
	"search":               `{search(query:"example.net"){id title detail}}`,
	"health":               `{health{findings{code found subjectId}}}`,
	"emailStatistics":      `{emailStatistics(range:{gte:"2020-01-01T00:00:00Z",lt:"2036-01-01T00:00:00Z"},interval:MONTH,groupBy:RECIPIENT_DOMAIN){groups{key}}}`,
	"receivedStatistics":   `{receivedStatistics(range:{gte:"2020-01-01T00:00:00Z",lt:"2036-01-01T00:00:00Z"},interval:MONTH,groupBy:DOMAIN){groups{key}}}`,
	"topBounceReasons":     `{topBounceReasons(range:{gte:"2020-01-01T00:00:00Z",lt:"2036-01-01T00:00:00Z"}){host example{emailId}}}`,
	"automationStatistics": `{automationStatistics(range:{gte:"2020-01-01T00:00:00Z",lt:"2036-01-01T00:00:00Z"},interval:MONTH,automationId:"AUTOMATION"){totals{started}}}`,
	"webhookStatistics":    `{webhookStatistics(range:{gte:"2026-01-01T00:00:00Z",lt:"2026-01-02T00:00:00Z"},webhookId:"WEBHOOK"){endpoints{webhook{id url}}}}`,
}
