package runtime_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/runtimetest"
)

// owned makes one thing of each kind for the app's account and gives its id.
// A resource with ids in its paths needs a row here.
var owned = map[string]struct {
	root    string // its field in GraphQL, empty when it has none
	unknown string // a well-formed id that nobody has
	add     func(t *testing.T, app *runtimetest.App) string
}{
	"/emails": {"email", "msg_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		return send(t, app, anEmail)
	}},
	"/domains": {"domain", "dom_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		var made struct{ Domain struct{ ID string } }
		app.Do(t, http.MethodPost, "/api/domains", map[string]string{"name": "owned.example"}).JSON(t, &made)
		return made.Domain.ID
	}},
	"/templates": {"template", "tpl_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		var made struct{ Template struct{ ID string } }
		for range 2 { // for a second page
			app.Do(t, http.MethodPost, "/api/templates", map[string]string{"name": "Owned", "text": "Hello"}).JSON(t, &made)
		}
		app.Do(t, http.MethodPost, "/api/templates/"+made.Template.ID+"/publish", nil)
		return made.Template.ID
	}},
	"/api-keys": {"apiKey", "key_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		var made struct {
			APIKey struct{ ID string } `json:"api_key"`
		}
		app.Do(t, http.MethodPost, "/api/api-keys", map[string]string{"name": "owned"}).JSON(t, &made)
		return made.APIKey.ID
	}},
	// Two, for a second page.
	"/suppressions": {"suppression", "sup_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		var made suppressed
		for _, address := range []string{"first@suppressed.example", "second@suppressed.example"} {
			app.Do(t, http.MethodPost, "/api/suppressions", map[string]string{"email": address}).JSON(t, &made)
		}
		return made.Suppression.ID
	}},
	"/category-opt-outs": {"categoryOptOut", "opt_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		app.MailDomain(t, "opted-out.example")
		for _, category := range []string{"News", "Offers"} {
			visit(t, http.MethodPost, unsubscribeLink(t, app, "bob@opted-out.example", `,"category":"`+category+`"`), "List-Unsubscribe=One-Click")
		}
		var list struct {
			OptOuts []struct{ ID string } `json:"category_opt_outs"`
		}
		app.Do(t, http.MethodGet, "/api/category-opt-outs", nil).JSON(t, &list)
		return list.OptOuts[0].ID
	}},
	// Two, for a second page.
	"/received-emails": {"receivedEmail", "inb_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		for range 2 {
			receive(t, app, "support@dev.test", aQuestion)
		}
		return lastReceived(t, app)
	}},
	// Two, for a second page.
	"/webhooks": {"webhook", "wh_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		return endpoints(t, app)
	}},
	"/webhook-deliveries": {"webhookDelivery", "whd_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		endpoints(t, app)
		var made struct{ Deliveries []string }
		app.Do(t, http.MethodPost, "/api/emails/test", map[string]string{"event": "automation.failed"}).JSON(t, &made)
		for _, id := range made.Deliveries {
			runtimetest.Eventually(t, "it is settled", func() bool {
				return strings.Contains(string(app.Do(t, http.MethodGet, "/api/webhook-deliveries/"+id, nil).Body), `"state":"delivered"`)
			})
		}
		return made.Deliveries[0]
	}},
	"/smtp-credentials": {"smtpCredential", "smtp_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		id, _ := newCredential(t, app, map[string]any{"name": "owned"}) // there is the development credential for a second page
		return id
	}},
	// Two, for there is no other way to a second page of claims.
	"/domains/claims": {"", "clm_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *runtimetest.App) string {
		t.Helper()
		holder := app.Stranger(t, "holder")
		var made struct{ Claim struct{ ID string } }
		for _, name := range []string{"first-claimed.example", "second-claimed.example"} {
			verifyDomain(t, holder, name)
			app.Do(t, http.MethodPost, "/api/domains/claims", map[string]string{"name": name}).JSON(t, &made)
		}
		return made.Claim.ID
	}},
}

// endpoints makes two that get nothing but automation.failed, and gives the second.
func endpoints(t *testing.T, app *runtimetest.App) string {
	t.Helper()
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(r.Close)
	var made struct{ Webhook struct{ ID string } }
	for range 2 {
		app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": r.URL, "events": []string{"automation.failed"}}).JSON(t, &made)
	}
	return made.Webhook.ID
}

// verifyDomain adds a domain, publishes its records and verifies it.
func verifyDomain(t *testing.T, app *runtimetest.App, name string) {
	t.Helper()
	var added struct {
		Domain struct {
			ID, Status string
			Records    []struct{ Type, Name, Value string }
		}
	}
	app.Do(t, http.MethodPost, "/api/domains", map[string]string{"name": name}).JSON(t, &added)
	for _, r := range added.Domain.Records {
		value := r.Value + "."
		if r.Type == "TXT" {
			value = quotedStrings(r.Value)
		}
		app.DNS.Add(t, r.Name+". 60 IN "+r.Type+" "+value)
	}
	app.Do(t, http.MethodPost, "/api/domains/"+added.Domain.ID+"/verify", nil).JSON(t, &added)
	if added.Domain.Status != "verified" {
		t.Fatalf("%s is %s", name, added.Domain.Status)
	}
}

// For every operation with an id: another account's id is answered like one that
// nobody has, to the octet, and changes nothing.
func TestAnotherAccountsIDsAnswerLikeUnknownOnesEverywhere(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "stranger")
	ids := map[string]string{}
	for resource, kind := range owned {
		ids[resource] = kind.add(t, app)
	}
	waitForStatus(t, app, ids["/emails"], "delivered")
	checked := 0
	for _, o := range operations(t, app) {
		if !strings.Contains(o.path, "{") {
			continue
		}
		kind, covered := owned[o.resource()]
		if o.resource() == "/contacts" {
			continue // takes an address, which anybody may write to: TestErasingTouchesTheCallersOwnOnly
		}
		if !covered {
			t.Errorf("%s takes an id of a kind that this test cannot make: give it a row in owned", o)
			continue
		}
		checked++
		id := ids[o.resource()]
		before := app.Do(t, http.MethodGet, "/api"+o.resource()+"/"+id, nil)
		foreign := stranger.Do(t, o.method, o.at(id), o.body)
		unknown := stranger.Do(t, o.method, o.at(kind.unknown), o.body)
		if foreign.Status != http.StatusNotFound {
			t.Errorf("%s answers a stranger %d %s", o, foreign.Status, foreign.Body)
		}
		if diff := cmp.Diff(told(unknown, kind.unknown), told(foreign, id)); diff != "" {
			t.Errorf("%s tells another's id from an unknown one (-unknown +another's):\n%s", o, diff)
		}
		if after := app.Do(t, http.MethodGet, "/api"+o.resource()+"/"+id, nil); before.Status != http.StatusOK || string(after.Body) != string(before.Body) {
			t.Errorf("%s by a stranger has changed the owner's: %d %s, before %s", o, after.Status, after.Body, before.Body)
		}
	}
	if checked == 0 {
		t.Error("no operation has an id")
	}
}

// told is an answer without what differs between any two requests.
func told(a runtimetest.Answer, id string) string {
	return fmt.Sprint(a.Status, a.Header.Get("Content-Type"), strings.ReplaceAll(string(a.Body), id, "ID"))
}

// Every list holds the caller's own things only, and takes no cursor of another's.
func TestListsAndCursorsStayWithTheirAccount(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, nil)
	app.MailDomain(t, "example.net") // a failed recipient would be suppressed
	stranger := app.Stranger(t, "stranger")
	var ids []string
	for _, kind := range owned {
		ids = append(ids, kind.add(t, app))
	}
	send(t, app, anEmail)
	for _, o := range operations(t, app) {
		if !o.has("query", "cursor") || strings.Contains(o.path, "{") {
			continue
		}
		var page struct {
			NextCursor string `json:"next_cursor"`
		}
		app.Do(t, o.method, o.at("")+"?limit=1", nil).JSON(t, &page)
		if page.NextCursor == "" {
			t.Errorf("%s has no second page: give the owner two things of its kind", o)
		}
		if got := stranger.Do(t, o.method, o.at("")+"?cursor="+page.NextCursor, nil); got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), `"cursor":`) {
			t.Errorf("%s takes another account's cursor: %d %s", o, got.Status, got.Body)
		}
		got := stranger.Do(t, o.method, o.at(""), nil)
		if got.Status != http.StatusOK {
			t.Errorf("%s: %d %s", o, got.Status, got.Body)
		}
		for _, id := range append(ids, *app.VerifiedDomain) {
			if strings.Contains(string(got.Body), id) {
				t.Errorf("%s shows a stranger %s: %s", o, id, got.Body)
			}
		}
	}
}

// The same over GraphQL, made from introspection.
func TestGraphQLKeepsAccountsApart(t *testing.T) {
	t.Parallel()
	app := runtimetest.Start(t, nil)
	app.MailDomain(t, "example.net") // a failed recipient would be suppressed
	stranger := app.Stranger(t, "stranger")
	byField := map[string]string{}
	unknown := map[string]string{}
	for _, kind := range owned {
		if kind.root != "" {
			byField[kind.root], unknown[kind.root] = kind.add(t, app), kind.unknown
		}
	}
	send(t, app, anEmail)
	app.DNS.Fault("unanswered.example", dnsxtest.ServFail)
	for range 2 { // for a second page of the queue
		send(t, app, strings.ReplaceAll(anEmail, "example.net", "unanswered.example"))
	}
	var schema struct {
		Schema struct {
			QueryType    struct{ Fields []rootField }
			MutationType struct{ Fields []rootField }
		} `json:"__schema"`
	}
	app.Query(t, `{__schema{queryType{fields{name args{name}}} mutationType{fields{name args{name}}}}}`, &schema)
	if len(schema.Schema.MutationType.Fields) == 0 {
		t.Error("there are no mutations")
	}
	for _, f := range schema.Schema.MutationType.Fields {
		if !f.takes("selection") {
			t.Errorf("%s is a mutation that this test does not know", f.Name)
			continue
		}
		checkQueueMutation(t, app, stranger, f)
	}
	for _, f := range schema.Schema.QueryType.Fields {
		switch {
		case f.takes("id"):
			if byField[f.Name] == "" {
				t.Errorf("%s takes an id of a kind that this test cannot make: name it in owned", f.Name)
			}
			ask := func(a *runtimetest.App, id string) string {
				return string(a.Do(t, http.MethodPost, "/graphql", map[string]string{"query": fmt.Sprintf(`{%s(id:%q){id}}`, f.Name, id)}).Body)
			}
			if own := ask(app, byField[f.Name]); !strings.Contains(own, byField[f.Name]) {
				t.Errorf("%s does not show the owner its own: %s", f.Name, own)
			}
			if foreign, none := ask(stranger, byField[f.Name]), ask(stranger, unknown[f.Name]); foreign != none || strings.Contains(foreign, byField[f.Name]) {
				t.Errorf("%s tells another's id (%s) from an unknown one (%s)", f.Name, foreign, none)
			}
		case f.takes("webhookId"):
			query := map[string]string{"query": fmt.Sprintf(`{%s(webhookId:%q){nodes{id}}}`, f.Name, byField["webhook"])}
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", query).Body); got != `{"data":{"`+f.Name+`":null}}` {
				t.Errorf("a stranger's %s of another's endpoint: %s", f.Name, got)
			}
		case f.Name == "events": // positions are no secrets: another's event is one like any
			runtimetest.Eventually(t, "the owner has events", func() bool {
				return strings.Contains(string(app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{events{nodes{id}}}`}).Body), "evt_")
			})
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{events{nodes{id}}}`}).Body); got != `{"data":{"events":{"nodes":[]}}}` {
				t.Errorf("a stranger's events: %s", got)
			}
		case f.takes("domainId"):
			query := map[string]string{"query": fmt.Sprintf(`{%s(domainId:%q){catchAll}}`, f.Name, byField["domain"])}
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", query).Body); got != `{"data":{"`+f.Name+`":null}}` {
				t.Errorf("a stranger's %s of another's domain: %s", f.Name, got)
			}
		case f.takes("after"):
			checkConnection(t, app, stranger, f.Name)
		case f.Name == "queueByDestination":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{queueByDestination{destination}}`}).Body); got != `{"data":{"queueByDestination":[]}}` {
				t.Errorf("a stranger's queue: %s", got)
			}
			if got := string(app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{queueByDestination{destination}}`}).Body); !strings.Contains(got, "unanswered.example") {
				t.Errorf("the owner's queue: %s", got)
			}
		case f.Name == "account":
			if got := string(stranger.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{account{id}}`}).Body); !strings.Contains(got, stranger.AccountID) {
				t.Errorf("account: %s", got)
			}
		default:
			t.Errorf("%s is a root field that this test does not know", f.Name)
		}
	}
}

type rootField struct {
	Name string
	Args []struct{ Name string }
}

func (f rootField) takes(name string) bool {
	for _, a := range f.Args {
		if a.Name == name {
			return true
		}
	}
	return false
}

// checkQueueMutation has a stranger change what the owner has in the queue, by every
// name that it has: it matches nothing and changes nothing, like what nobody has.
func checkQueueMutation(t *testing.T, app, stranger *runtimetest.App, f rootField) {
	t.Helper()
	var queue struct {
		Queue struct {
			Nodes []struct{ ID, EmailID, Destination string }
		}
	}
	// Held, so that nothing but a mutation changes it: once their attempts are over.
	expect.Within(t, 20*time.Second, "the owner has two held deliveries", func() bool {
		app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `mutation{holdDelivery(selection:{destination:"unanswered.example"}){changed}}`})
		app.Query(t, `{queue(filter:{state:HELD}){nodes{id emailId destination}}}`, &queue)
		return len(queue.Queue.Nodes) == 2
	})
	state := func() string {
		return string(app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": `{queue(filter:{destination:"unanswered.example"}){nodes{id state}}}`}).Body)
	}
	ask := func(a *runtimetest.App, selection string, dryRun bool) string {
		arguments := fmt.Sprintf("selection:{%s},dryRun:%t", selection, dryRun)
		if f.takes("reason") {
			arguments += `,reason:"not mine"`
		}
		return string(a.Do(t, http.MethodPost, "/graphql", map[string]string{"query": fmt.Sprintf(`mutation{%s(%s){matched changed}}`, f.Name, arguments)}).Body)
	}
	one, none := queue.Queue.Nodes[0], fmt.Sprintf(`{"data":{"%s":{"matched":0,"changed":0}}}`, f.Name)
	for _, selection := range []string{fmt.Sprintf("recipients:[%q]", one.ID), fmt.Sprintf("email:%q", one.EmailID), fmt.Sprintf("destination:%q", one.Destination), "all:true"} {
		if own := ask(app, selection, true); own == none || strings.Contains(own, "errors") {
			t.Errorf("%s(%s) does not match the owner's own: %s", f.Name, selection, own)
		}
		before := state()
		if foreign := ask(stranger, selection, false); foreign != none {
			t.Errorf("%s(%s) by a stranger: %s", f.Name, selection, foreign)
		}
		if after := state(); after != before {
			t.Errorf("%s(%s) by a stranger has changed the owner's queue: %s, before %s", f.Name, selection, after, before)
		}
	}
}

func checkConnection(t *testing.T, app, stranger *runtimetest.App, field string) {
	t.Helper()
	var data map[string]struct {
		Nodes    []struct{ ID string }
		PageInfo struct{ EndCursor string }
	}
	app.Query(t, fmt.Sprintf(`{%s(first:1){nodes{id} pageInfo{endCursor}}}`, field), &data)
	page := data[field]
	if page.PageInfo.EndCursor == "" || len(page.Nodes) != 1 {
		t.Errorf("%s has no second page: give the owner two things of its kind", field)
		return
	}
	query, err := json.Marshal(map[string]string{"query": fmt.Sprintf(`{%s(after:%q){nodes{id}}}`, field, page.PageInfo.EndCursor)})
	if err != nil {
		t.Fatal(err)
	}
	if got := stranger.Do(t, http.MethodPost, "/graphql", string(query)); !strings.Contains(string(got.Body), "validation_error") {
		t.Errorf("%s takes another account's cursor: %s", field, got.Body)
	}
	data = nil
	stranger.Query(t, fmt.Sprintf(`{%s{nodes{id} pageInfo{endCursor}}}`, field), &data)
	for _, node := range data[field].Nodes {
		if node.ID == page.Nodes[0].ID {
			t.Errorf("%s shows a stranger %s", field, node.ID)
		}
	}
}
