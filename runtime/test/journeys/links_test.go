package journeys_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/harness"
)

// linkedEmail is an email with its related records.
type linkedEmail struct {
	Node *struct {
		Domain            *struct{ Name string }
		APIKey            *struct{ Name string }
		Template          *struct{ Alias string }
		WebhookDeliveries []struct {
			EventType string
			Webhook   *struct{ URL string }
		}
	}
	Search []struct{ Type, ID string }
}

// An email links to its domain, key, template and webhook deliveries. A caller without access to those sees
// null, and another account sees nothing.
func TestEmailLinksToRelatedRecords(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	if answer := app.Do(t, http.MethodPost, "/api/webhooks",
		map[string]any{"url": receiver.URL,
			"events": []string{"email.sent", "email.delivered"}}); answer.Status >= 300 {
		t.Fatalf("the endpoint got %d %s", answer.Status, answer.Body)
	}
	if answer := app.Do(t, http.MethodPost, "/api/templates",
		map[string]any{"name": "Hello", "alias": "hello", "subject": "Hello", "text": "Hello"}); answer.Status >= 300 {
		t.Fatalf("the template got %d %s", answer.Status, answer.Body)
	}
	if answer := app.Do(t, http.MethodPost, "/api/templates/hello/publish", nil); answer.Status >= 300 {
		t.Fatalf("publishing got %d %s", answer.Status, answer.Body)
	}
	id := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","template":{"alias":"hello"}}`)
	waitForStatus(t, app, id, "delivered")
	query := `{ node(id: "` + id +
		`") { ... on Email { domain { name } apiKey { name } template { alias } webhookDeliveries { eventType webhook { url } } } } search(query: "bob@example.net", types: [EMAIL]) { type id } }`
	var got linkedEmail
	expect.Eventually(t, "two deliveries", func() bool {
		got = linkedEmail{}
		app.Query(t, query, &got)
		return got.Node != nil && len(got.Node.WebhookDeliveries) == 2
	})
	n := got.Node
	if n.Domain == nil || n.Domain.Name != "dev.test" || n.APIKey == nil || n.APIKey.Name != "development" ||
		n.Template == nil || n.Template.Alias != "hello" ||
		n.WebhookDeliveries[0].EventType != "email.sent" || n.WebhookDeliveries[0].Webhook == nil ||
		n.WebhookDeliveries[0].Webhook.URL != receiver.URL {
		t.Errorf("the email links to %+v %+v %+v %+v", n.Domain, n.APIKey, n.Template, n.WebhookDeliveries)
	}
	if len(got.Search) != 1 || got.Search[0].ID != id {
		t.Errorf("the search returned %+v", got.Search)
	}
	got = linkedEmail{}
	app.WithKey(t, "sending").Query(t, query, &got)
	if n := got.Node; n == nil || n.Domain != nil || n.APIKey != nil || n.Template != nil ||
		len(n.WebhookDeliveries) != 0 {
		t.Errorf("a sending key sees %+v", n)
	}
	got = linkedEmail{}
	app.Stranger(t, "stranger").Query(t, query, &got)
	if got.Node != nil || len(got.Search) != 0 {
		t.Errorf("another account sees %+v", got)
	}
}
