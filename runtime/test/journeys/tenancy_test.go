package journeys_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/test/harness"
)

// owned creates a record of each kind for the app's account and returns its id. A resource with ids in its
// paths needs a row here.
var owned = map[string]struct {
	root    string // its field in GraphQL; empty if it has none
	unknown string // a well-formed unknown id
	add     func(t *testing.T, app *harness.App) string
}{
	"/emails": {"email", "msg_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		return send(t, app, anEmail)
	}},
	"/domains": {"domain", "dom_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		var made struct{ Domain struct{ ID string } }
		app.Do(t, http.MethodPost, "/api/domains", map[string]string{"name": "owned.example"}).JSON(t, &made)
		return made.Domain.ID
	}},
	"/templates": {"template", "tpl_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		var made struct{ Template struct{ ID string } }
		for range 2 { // so that the list has a second page
			app.Do(t, http.MethodPost, "/api/templates", map[string]string{"name": "Owned", "text": "Hello"}).
				JSON(t, &made)
		}
		app.Do(t, http.MethodPost, "/api/templates/"+made.Template.ID+"/publish", nil)
		return made.Template.ID
	}},
	"/api-keys": {"apiKey", "key_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		var made struct {
			APIKey struct{ ID string } `json:"api_key"`
		}
		app.Do(t, http.MethodPost, "/api/api-keys", map[string]string{"name": "owned"}).JSON(t, &made)
		return made.APIKey.ID
	}},
	// Two, so that the list has a second page.
	"/suppressions": {"suppression", "sup_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		var made suppressed
		for _, address := range []string{"first@suppressed.example", "second@suppressed.example"} {
			app.Do(t, http.MethodPost, "/api/suppressions", map[string]string{"email": address}).JSON(t, &made)
		}
		return made.Suppression.ID
	}},
	"/category-opt-outs": {"categoryOptOut", "opt_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		app.MailDomain(t, "opted-out.example")
		for _, category := range []string{"News", "Offers"} {
			visit(t, http.MethodPost, unsubscribeLink(t, app, "bob@opted-out.example", `,"category":"`+category+`"`),
				"List-Unsubscribe=One-Click")
		}
		var list struct {
			OptOuts []struct{ ID string } `json:"category_opt_outs"`
		}
		app.Do(t, http.MethodGet, "/api/category-opt-outs", nil).JSON(t, &list)
		return list.OptOuts[0].ID
	}},
	// Two, so that the list has a second page.
	"/received-emails": {"receivedEmail", "inb_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		for range 2 {
			receive(t, app, "support@dev.test", questionMessage)
		}
		return lastReceived(t, app)
	}},
	// Two, so that the list has a second page.
	"/webhooks": {"webhook", "wh_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		return createEndpoints(t, app)
	}},
	"/webhook-deliveries": {"webhookDelivery", "whd_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		createEndpoints(t, app)
		var made struct{ Deliveries []string }
		app.Do(t, http.MethodPost, "/api/emails/test", map[string]string{"event": "email.complained"}).JSON(t, &made)
		for _, id := range made.Deliveries {
			harness.Eventually(t, "the email is settled", func() bool {
				return strings.Contains(string(app.Do(t, http.MethodGet, "/api/webhook-deliveries/"+id, nil).Body),
					`"state":"delivered"`)
			})
		}
		return made.Deliveries[0]
	}},
	"/smtp-credentials": {"smtpCredential", "smtp_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		// with the development credential, the list has a second page
		id, _ := newCredential(t, app, map[string]any{"name": "owned"})
		return id
	}},
	// Two, so that the list has a second page.
	"/automations": {"automation", "aut_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		createAutomation(t, app, "owned.never")
		return createAutomation(t, app, "owned.never")
	}},
	// Two, so that the list has a second page.
	"/events": {"customEvent", "ae_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		postEvent(t, app, `{"name": "owned.unheard", "user_id": "u1"}`)
		return postEvent(t, app, `{"name": "owned.unheard", "user_id": "u2"}`).Event.ID
	}},
	// Two, so that the list has a second page.
	"/automation-runs": {"automationRun", "run_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		createAutomation(t, app, "owned.began")
		postEvent(t, app, `{"name": "owned.began", "user_id": "u1"}`)
		postEvent(t, app, `{"name": "owned.began", "user_id": "u2"}`)
		var waiting struct {
			Runs []struct{ ID string } `json:"automation_runs"`
		}
		harness.Eventually(t, "both runs wait", func() bool {
			app.Do(t, http.MethodGet, "/api/automation-runs?status=waiting", nil).JSON(t, &waiting)
			return len(waiting.Runs) == 2
		})
		return waiting.Runs[0].ID
	}},
	// Two, so that the list has a second page.
	"/sms-messages": {"", "sms_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		return sendTexts(t, app)
	}},
	"/requests": {"", "req_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		id := app.Do(t, http.MethodGet, "/api/domains", nil).Header.Get("X-Request-Id")
		harness.Eventually(t, "the request is in the log", func() bool { // and so are earlier requests
			return app.Do(t, http.MethodGet, "/api/requests/"+id, nil).Status == http.StatusOK
		})
		return id
	}},
	// Two, because there is no other way to a second page of claims.
	"/domains/claims": {"", "clm_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		holder := app.Stranger(t, "holder")
		var made struct{ Claim struct{ ID string } }
		for _, name := range []string{"first-claimed.example", "second-claimed.example"} {
			verifyDomain(t, holder, name)
			app.Do(t, http.MethodPost, "/api/domains/claims", map[string]string{"name": name}).JSON(t, &made)
		}
		return made.Claim.ID
	}},
	"/template-images": {"", "img_01kf0m4w7he6x8q2v5b3n9c1ta", func(t *testing.T, app *harness.App) string {
		t.Helper()
		var made struct{ Image struct{ ID string } }
		app.Do(t, http.MethodPost, "/api/template-images", map[string]string{"name": "owned.png", "content": onePixel}).
			JSON(t, &made)
		return made.Image.ID
	}},
}

// onePixel is a PNG image in base64.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC"

// createAutomation creates an automation that an event starts and that waits for another event, and returns its
// id.
func createAutomation(t *testing.T, app *harness.App, event string) string {
	t.Helper()
	var made struct{ Automation struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/automations",
		map[string]any{"name": "Owned", "trigger": map[string]string{"event": event},
			"steps": []map[string]string{{"key": "wait", "type": "wait_for_event", "event": "owned.ended", "timeout": "P1D"}}}).JSON(t, &made)
	if got := app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID, map[string]string{"action": "activate"}); got.Status != http.StatusOK {
		t.Fatalf("activate: %d %s", got.Status, got.Body)
	}
	return made.Automation.ID
}

// createEndpoints creates two endpoints that receive only email.complained, and returns the second.
func createEndpoints(t *testing.T, app *harness.App) string {
	t.Helper()
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(r.Close)
	var made struct{ Webhook struct{ ID string } }
	for range 2 {
		app.Do(t, http.MethodPost, "/api/webhooks",
			map[string]any{"url": r.URL, "events": []string{"email.complained"}}).JSON(t, &made)
	}
	return made.Webhook.ID
}

// verifyDomain adds a domain, publishes its records and verifies it.
func verifyDomain(t *testing.T, app *harness.App, name string) {
	t.Helper()
	var added struct{ Domain domainWithRecords }
	app.Do(t, http.MethodPost, "/api/domains", map[string]string{"name": name}).JSON(t, &added)
	added.Domain.publish(t, app)
	app.Do(t, http.MethodPost, "/api/domains/"+added.Domain.ID+"/verify", nil).JSON(t, &added)
	if added.Domain.Status != "verified" {
		t.Fatalf("%s is %s", name, added.Domain.Status)
	}
}

type domainWithRecords struct {
	ID, Name, Status string
	Records          []struct{ Type, Name, Value string }
}

// publish adds the records of the domain to the DNS of the app.
func (d *domainWithRecords) publish(t *testing.T, app *harness.App) {
	t.Helper()
	for _, r := range d.Records {
		value := r.Value + "."
		switch r.Type {
		case "TXT":
			value = quotedStrings(r.Value)
		case "MX":
			value = "10 " + value
		}
		app.DNS.Add(t, r.Name+". 60 IN "+r.Type+" "+value)
	}
}

// devDomain returns the domain that development mode creates.
func devDomain(t *testing.T, app *harness.App) domainWithRecords {
	t.Helper()
	var list struct{ Domains []domainWithRecords }
	app.Do(t, http.MethodGet, "/api/domains", nil).JSON(t, &list)
	for _, d := range list.Domains {
		if d.Name == "dev.test" {
			return d
		}
	}
	t.Fatal("the account has no dev.test")
	return domainWithRecords{}
}

// For every operation with an id: another account's id gets exactly the response of an unknown one, and
// changes nothing.
func TestForeignIDsLookUnknownEverywhere(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "stranger")
	ids := map[string]string{}
	for resource, kind := range owned {
		ids[resource] = kind.add(t, app)
	}
	waitForStatus(t, app, ids["/emails"], "delivered")
	for name, client := range map[string]*harness.App{"a key of another account": stranger,
		"an operator key for another account": stranger.WithOperatorKey(t)} {
		checkForeignIDs(t, name, app, client, ids)
	}
}

func checkForeignIDs(t *testing.T, who string, app, stranger *harness.App, ids map[string]string) {
	t.Helper()
	checked := 0
	for _, o := range operations(t, app) {
		if !strings.Contains(o.path, "{") || !o.keys || o.isTestOnly() { // those for signed-in users: see TestTeamsAreIsolated
			continue
		}
		kind, covered := owned[o.resource()]
		if o.resource() == "/contacts" {
			continue // takes an address, which every account may send to: TestErasureIsLimitedToAccount
		}
		if !covered {
			t.Errorf("%s takes an unsupported kind of id: add a row to owned", o)
			continue
		}
		checked++
		id := ids[o.resource()]
		record := "/api" + o.resource() + "/" + id
		if o.resource() == "/template-images" {
			record = "/api/template-images" // an image is only listed
		}
		before := app.Do(t, http.MethodGet, record, nil)
		foreign := stranger.Do(t, o.method, o.pathFor(id), o.body)
		unknown := stranger.Do(t, o.method, o.pathFor(kind.unknown), o.body)
		if foreign.Status != http.StatusNotFound {
			t.Errorf("%s by %s returned %d %s", o, who, foreign.Status, foreign.Body)
		}
		if diff := cmp.Diff(normalizeAnswer(unknown, kind.unknown), normalizeAnswer(foreign, id)); diff != "" {
			t.Errorf("%s by %s distinguishes another account's id from an unknown one (-unknown +other):\n%s", o, who, diff)
		}
		if after := app.Do(t, http.MethodGet, record, nil); before.Status != http.StatusOK ||
			string(after.Body) != string(before.Body) {
			t.Errorf("%s by %s changed the owner's record: %d %s, before %s", o, who, after.Status, after.Body,
				before.Body)
		}
	}
	if checked == 0 {
		t.Error("found no operation with an id")
	}
}

// normalizeAnswer returns a response without the parts that differ between any two requests.
func normalizeAnswer(a harness.Answer, id string) string {
	return fmt.Sprint(a.Status, a.Header.Get("Content-Type"), strings.ReplaceAll(string(a.Body), id, "ID"))
}

// Every list contains only the caller's own records, and accepts no cursor of another account.
func TestListsAndCursorsAreIsolated(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net") // a failed recipient would be suppressed
	stranger := app.Stranger(t, "stranger")
	var ids []string
	for _, kind := range owned {
		ids = append(ids, kind.add(t, app))
	}
	send(t, app, anEmail)
	for _, o := range operations(t, app) {
		if !o.hasParameter("query", "cursor") || !o.keys || strings.Contains(o.path, "{") || o.isTestOnly() {
			continue
		}
		if o.path == "/billing/invoices" { // owned by the payment provider: see TestInvoicesBelongToAccount
			continue
		}
		var page struct {
			NextCursor string `json:"next_cursor"`
		}
		app.Do(t, o.method, o.pathFor("")+"?limit=1", nil).JSON(t, &page)
		if page.NextCursor == "" {
			t.Errorf("%s has no second page: create two records of its kind for the owner", o)
		}
		if got := stranger.Do(t, o.method, o.pathFor("")+"?cursor="+page.NextCursor,
			nil); got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), `"cursor":`) {
			t.Errorf("%s accepts another account's cursor: %d %s", o, got.Status, got.Body)
		}
		got := stranger.Do(t, o.method, o.pathFor(""), nil)
		if got.Status != http.StatusOK {
			t.Errorf("%s by another account got status %d and %s, want 200", o, got.Status, got.Body)
		}
		for _, id := range append(ids, *app.VerifiedDomain) {
			if strings.Contains(string(got.Body), id) {
				t.Errorf("%s shows another account %s: %s", o, id, got.Body)
			}
		}
	}
}
