package journeys_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/mail/dnsx/dnsxtest"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// The queries of docs/queries run against an account with a little of every kind of data.
func TestDashboardQueries(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	w := newEventfulWorld(t, app)
	files, err := filepath.Glob("../../../docs/queries/*.graphql")
	if err != nil || len(files) < 25 {
		t.Fatalf("found %d queries, %v; want at least 25", len(files), err)
	}
	list, err := os.ReadFile("../../../docs/queries/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".graphql")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		question, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		if line := "| [" + name + "](" + name + ".graphql) | " + question + " |"; !bytes.Contains(list, []byte(line)) {
			t.Errorf("docs/queries/README.md does not list %s", line)
		}
		ask := map[string]any{"query": string(text), "variables": w.variables(string(text))}
		do := app.Do
		if forPeople.Match(text) {
			do = w.owner.Do
		}
		got := do(t, http.MethodPost, "/graphql", ask)
		if got.Status != http.StatusOK || bytes.Contains(got.Body, []byte(`"errors"`)) {
			t.Errorf("the query %s got status %d and %s, want a response without errors", name, got.Status, got.Body)
			continue
		}
		expect.Golden(t, filepath.Join("questions", name+".json"), w.stabilize(t, got.Body))
	}
}

// forPeople are the queries that no key may run.
var forPeople = regexp.MustCompile(`(?m)^  (auditLog|operator)\b`)

// world is the data that the queries read.
type world struct {
	owner *harness.Person

	values map[string]any // values of variables by name
	named  map[string]string
}

// variables returns the declared variables of a document that have no default.
func (w *world) variables(document string) map[string]any {
	out := map[string]any{}
	for name, value := range w.values {
		if strings.Contains(document, "$"+name+":") {
			out[name] = value
		}
	}
	if strings.Contains(document, "automation(id: $id)") {
		out["id"] = w.values["automation"]
	}
	if strings.Contains(document, "customEvent(id: $id)") {
		out["id"] = w.values["event"]
	}
	return out
}

// newEventfulWorld creates emails that were delivered, opened, bounced, deferred and scheduled; received mail;
// endpoints that accept events, and a failing one; an automation that sends and one that fails.
func newEventfulWorld(t *testing.T, app *harness.App) *world {
	t.Helper()
	w := &world{owner: app.SignedIn(t, app.Owner.Email, app.Owner.Password), values: map[string]any{},
		named: map[string]string{}}
	app.MailDomain(t, "example.net")
	app.MX.Always(smtptest.Rcpt, "gone@example.net", smtptest.Reply(550, "5.1.1", "No such user"))
	app.DNS.Fault("unanswered.example", dnsxtest.ServFail)
	trackEverything(t, app)
	post := func(path string, body any) map[string]map[string]any {
		t.Helper()
		got := app.Do(t, http.MethodPost, path, body)
		if got.Status != http.StatusOK {
			t.Fatalf("POST %s: %d %s", path, got.Status, got.Body)
		}
		out := map[string]json.RawMessage{}
		got.JSON(t, &out)
		things := map[string]map[string]any{}
		for name, raw := range out {
			var thing map[string]any
			if json.Unmarshal(raw, &thing) == nil {
				things[name] = thing
			}
		}
		return things
	}

	takes := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	gone := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter,
		_ *http.Request) {
		http.Error(rw, "moved away", http.StatusGone)
	}))
	t.Cleanup(takes.Close)
	t.Cleanup(gone.Close)
	w.named[takes.URL], w.named[gone.URL] = "http://takes.example", "http://gone.example"
	post("/api/webhooks", asked{"url": takes.URL, "events": []string{"email.bounced", "email.received"}})
	post("/api/webhooks", asked{"url": gone.URL, "events": []string{"email.complained"}})
	app.Do(t, http.MethodPost, "/api/emails/test", asked{"event": "email.complained"})

	template := post("/api/templates", asked{"name": "Receipt", "subject": "Your receipt",
		"html": `<p>Thank you. <a href="https://example.com/order">Order</a></p>`})["template"]["id"].(string)
	post("/api/templates/"+template+"/publish", nil)
	wantAnswer(t, "a new draft", app.Do(t, http.MethodPatch, "/api/templates/"+template, asked{"text": "Thank you."}),
		http.StatusOK)
	post("/api/templates/"+template+"/publish", nil)
	opened := app.Send(t,
		fmt.Sprintf(`{"from":"ada@dev.test","to":"bob@example.net","template":{"id":%q},"tags":[{"name":"kind","value":"receipt"}]}`, template))
	bounces := app.Send(t,
		`{"from":"ada@dev.test","to":"gone@example.net","subject":"Welcome","text":"t","tags":[{"name":"kind","value":"welcome"}]}`)
	app.Send(t, `{"from":"ada@dev.test","to":"eve@unanswered.example","subject":"Waits","text":"t"}`)
	later := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	post("/api/emails",
		json.RawMessage(`{"from":"ada@dev.test","to":"bob@example.net","subject":"Reminder","text":"t","scheduled_at":"`+later+`"}`))
	waitForStatus(t, app, opened, "delivered")
	waitForStatus(t, app, bounces, "bounced")
	html := awaitMessage(t, app, opened).HTML
	link := regexp.MustCompile(`href="([^"]+)"`).FindStringSubmatch(html)
	follow(t, app, http.MethodGet, link[1], "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")

	receive(t, app, "support@dev.test", questionMessage)
	sends := post("/api/automations", json.RawMessage(`{"name": "Welcome", "trigger": {"event": "user.created", "re_entry": "once"}, "steps": [
		{"key": "hello", "type": "send_email", "from": "ada@dev.test", "subject": "Hi", "text": "Hello"},
		{"key": "verified", "type": "wait_for_event", "event": "user.verified", "timeout": "P1D"}]}`))["automation"]["id"].(string)
	farewell := post("/api/templates",
		asked{"name": "Farewell", "subject": "Bye", "text": "Bye"})["template"]["id"].(string)
	post("/api/templates/"+farewell+"/publish", nil)
	fails := post("/api/automations", json.RawMessage(`{"name": "Broken", "trigger": {"event": "user.left"}, "steps": [
		{"key": "bye", "type": "send_email", "from": "ada@dev.test", "to": "{{event.data.manager}}", "template": {"id": "`+farewell+`"}}]}`))["automation"]["id"].(string)
	for _, id := range []string{sends, fails} {
		post("/api/automations/"+id, asked{"action": "activate"})
	}
	postEvent(t, app, `{"name": "user.created", "user_id": "u1", "email": "bob@example.net"}`)
	postEvent(t, app, `{"name": "user.left", "user_id": "u2", "email": "gone@example.net"}`)
	unheard := postEvent(t, app, `{"name": "User.Created", "user_id": "u3"}`)
	app.Do(t, http.MethodPost, "/api/domains", asked{"name": "owned.example"})
	app.Do(t, http.MethodPost, "/api/emails", `{"from":"ada@dev.test","to":"nobody","subject":"s","text":"t"}`)
	wantAnswer(t, "a new name", w.owner.Do(t, http.MethodPatch, "/api/user", asked{"name": "Ada"}), http.StatusOK)

	settled := func(query string) func() bool {
		return func() bool {
			got := app.Do(t, http.MethodPost, "/graphql", map[string]string{"query": query})
			return got.Status == http.StatusOK && !nothing.Match(got.Body)
		}
	}
	harness.Eventually(t, "the endpoint is disabled",
		settled(`{webhooks(filter:{enabled:false}){nodes{deliveries(state:FAILED){id}}}}`))
	harness.Eventually(t, "a run has failed", settled(`{automationRuns(filter:{status:FAILED}){nodes{id}}}`))
	harness.Eventually(t, "a run waits",
		settled(`{automationRuns(filter:{status:WAITING}){nodes{emails{deliveredAt}}}}`))
	harness.Eventually(t, "the click is counted", settled(`{email(id:"`+opened+`"){engagement{clicks}}}`))
	harness.Eventually(t, "the bounce suppresses the address", settled(`{suppressions{nodes{id}}}`))
	harness.Eventually(t, "the endpoint received the events",
		settled(`{receivedEmails{nodes{webhookDeliveries{settledAt}}} email(id:"`+bounces+
			`"){webhookDeliveries{settledAt}}}`))
	harness.Eventually(t, "one waits", settled(`{queue{nodes{diagnostic}}}`))
	harness.Eventually(t, "the error is in the log", settled(`{apiRequests(filter:{status:{gte:400}}){nodes{id}}}`))
	hour := time.Now().UTC().Hour() // a time zone in which it is about noon
	w.values = map[string]any{"range": map[string]any{"gte": time.Now().Add(-6 * time.Hour).UTC().Format(time.RFC3339),
		"lt": time.Now().Add(6 * time.Hour).UTC().Format(time.RFC3339)},
		"timezone": fmt.Sprintf("Etc/GMT%+d", hour-12), "id": bounces, "address": "gone@example.net",
		"templateId": template, "version": 2, "destination": "unanswered.example",
		"automation": sends, "event": unheard.Event.ID, "email": bounces, "since": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), "userId": idOf(t, w.owner)}
	return w
}

// nothing lists values that no event has set yet.
var nothing = regexp.MustCompile(`\[\]|:0[,}]|null`)

var (
	idPattern   = regexp.MustCompile(`\b([a-z]{2,4})_([0-9a-z]{26}|[0-9a-f]{32})\b`)
	keyPattern  = regexp.MustCompile(`p=MII[\w+/=]+|pr1\w+|postrider-verification=\w+|dmarc\+\w+`)
	timePattern = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	addrPattern = regexp.MustCompile(`\b127\.0\.0\.\d+(:\d+)?`)
	restless    = []string{"p50", "p95", "durationMs", "oldestAgeSeconds", "projected", "octets", "nextAttemptAt",
		"lastUsedAt", "endCursor", "lanes"}
)

// stabilize returns a response without the parts that differ between runs: ids are numbered in the order of
// their appearance, and times, durations and empty periods are removed.
func (w *world) stabilize(t *testing.T, answer []byte) string {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal(answer, &whole); err != nil {
		t.Fatal(err)
	}
	var calm func(any) any
	calm = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				switch list, isList := value.([]any); {
				case slices.Contains(restless, name):
					v[name] = "*"
				case isList && (name == "buckets" || name == "periods"):
					v[name] = calm(slices.DeleteFunc(list, isNothing))
				default:
					v[name] = calm(value)
				}
			}
		case []any:
			for i := range v {
				v[i] = calm(v[i])
			}
		}
		return v
	}
	encoded, err := json.MarshalIndent(calm(whole), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text := string(encoded) + "\n"
	text = keyPattern.ReplaceAllString(text, "*")
	for what, name := range w.named {
		text = strings.ReplaceAll(text, what, name)
	}
	numbers, met := map[string]string{}, map[string]int{}
	text = idPattern.ReplaceAllStringFunc(text, func(id string) string {
		if numbers[id] == "" {
			prefix, _, _ := strings.Cut(id, "_")
			met[prefix]++
			numbers[id] = fmt.Sprintf("%s_%d", prefix, met[prefix])
		}
		return numbers[id]
	})
	return addrPattern.ReplaceAllString(timePattern.ReplaceAllString(text, "*"), "127.0.0.x")
}

// isNothing reports whether all numbers of a period are 0.
func isNothing(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			if !isNothing(value) {
				return false
			}
		}
	case float64:
		return v == 0
	}
	return true
}
