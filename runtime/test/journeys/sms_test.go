package journeys_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/postrider/postrider/runtime/test/harness"
)

// sendTexts has an automation send two text messages, and returns the id of one.
func sendTexts(t *testing.T, app *harness.App) string {
	t.Helper()
	textAutomation(t, app, `{"provider": "operator", "countries": ["DE"]}`,
		"Your code is {{event.data.code}}. Ваш код.")
	for range 2 {
		postEvent(t, app,
			`{"name": "code.asked", "user_id": "u1", "email": "bob@example.net", "data": {"phone": "+4915112345678", "code": "4711"}}`)
	}
	var list struct {
		Messages []struct{ ID string } `json:"sms_messages"`
	}
	harness.Eventually(t, "both text messages are delivered", func() bool {
		app.Do(t, http.MethodGet, "/api/sms-messages?status=delivered", nil).JSON(t, &list)
		return len(list.Messages) == 2
	})
	return list.Messages[0].ID
}

// textAutomation sets the provider and creates an automation that sends a text message.
func textAutomation(t *testing.T, app *harness.App, settings, text string) {
	t.Helper()
	if got := app.Do(t, http.MethodPut, "/api/sms-settings", json.RawMessage(settings)); got.Status != http.StatusOK {
		t.Fatalf("PUT /sms-settings: %d %s", got.Status, got.Body)
	}
	var made struct{ Automation struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/automations",
		map[string]any{"name": "Code", "trigger": map[string]string{"event": "code.asked"},
			"steps": []map[string]string{{"key": "code", "type": "send_sms", "to": "{{event.data.phone}}", "text": text}}}).JSON(t, &made)
	if got := app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		map[string]string{"action": "activate"}); got.Status != http.StatusOK {
		t.Fatalf("activate: %d %s", got.Status, got.Body)
	}
}

func TestAutomationTextMessageIsInDevelopmentInbox(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	messageID := sendTexts(t, app)
	type shownText struct {
		MessageID string `json:"message_id"`
		To, Text  string
		Encoding  string
		Segments  int
	}
	var shown struct{ Texts []shownText }
	app.Do(t, http.MethodGet, "/dev/inbox/sms.json", nil).JSON(t, &shown)
	// Two messages that are sent concurrently can arrive in any order.
	want := shownText{MessageID: messageID, To: "+4915112345678", Text: "Your code is 4711. Ваш код.", Encoding: "ucs2",
		Segments: 1}
	if len(shown.Texts) != 2 || !slices.Contains(shown.Texts, want) {
		t.Errorf("the development inbox shows %+v, want two messages, one of them %+v", shown.Texts, want)
	}
	var one struct {
		Message struct {
			Status   string
			RunID    string `json:"run_id"`
			Attempts []struct{ Outcome string }
		} `json:"sms_message"`
	}
	app.Do(t, http.MethodGet, "/api/sms-messages/"+messageID, nil).JSON(t, &one)
	var run struct {
		Run struct {
			Status string
			Steps  []struct {
				Status string
				Output struct {
					SMSID    string `json:"sms_id"`
					Segments int
				}
			}
		} `json:"automation_run"`
	}
	app.Do(t, http.MethodGet, "/api/automation-runs/"+one.Message.RunID, nil).JSON(t, &run)
	if run.Run.Status != "completed" || len(run.Run.Steps) != 1 || run.Run.Steps[0].Status != "sent" ||
		run.Run.Steps[0].Output.SMSID != messageID || run.Run.Steps[0].Output.Segments != 1 ||
		len(one.Message.Attempts) != 1 {
		t.Errorf("the run of the message is %+v and the message %+v, want a step that names the message", run.Run,
			one.Message)
	}
	// Erasing a person erases the messages sent to that person.
	if got := app.Do(t, http.MethodDelete, "/api/contacts/bob@example.net/data", nil); got.Status != http.StatusOK {
		t.Fatalf("erase: %d %s", got.Status, got.Body)
	}
	if got := app.Do(t, http.MethodGet, "/api/sms-messages/"+messageID, nil); got.Status != http.StatusNotFound {
		t.Errorf("after the erasure the text message returned %d, want 404", got.Status)
	}
}

// A gateway gets the message with the URL for receipts, and its receipts are trusted. It posts STOP to the
// URL from the settings.
func TestGatewayReportsTextMessageOutcome(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	var mu sync.Mutex
	var got []map[string]string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, body)
		_, _ = w.Write([]byte(`{"id": "g-1"}`))
	}))
	t.Cleanup(gateway.Close)
	textAutomation(t, app, `{"provider": "http", "countries": ["DE"], "http": {"url": "`+gateway.URL+
		`", "id_path": "id"}}`, `He said "{{event.data.name}}"`)
	event := `{"name": "code.asked", "user_id": "u1", "data": {"phone": "+4915112345678", "name": "x\"}, \\ <b>"}}`
	postEvent(t, app, event)
	status := func(want string) {
		t.Helper()
		harness.Eventually(t, "the text message is "+want, func() bool {
			return strings.Contains(string(app.Do(t, http.MethodGet, "/api/sms-messages?limit=1", nil).Body),
				`"status":"`+want+`"`)
		})
	}
	status("sent")
	mu.Lock()
	first := got[0]
	mu.Unlock()
	if first["text"] != "He said \"x\"}, \\ <b>\"" || first["to"] != "+4915112345678" {
		t.Errorf("the gateway got %q, want the text unchanged", first)
	}
	post := func(target, body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if answered := post(first["receipt_url"]+"x", `{"status": "delivered"}`); answered != http.StatusNotFound {
		t.Errorf("a receipt with another token returned %d, want 404", answered)
	}
	if answered := post(first["receipt_url"], `{"status": "delivered"}`); answered != http.StatusNoContent {
		t.Errorf("the receipt returned %d, want 204", answered)
	}
	status("delivered")
	var settings struct {
		Settings struct {
			ReplyURL string `json:"reply_url"`
		} `json:"sms_settings"`
	}
	app.Do(t, http.MethodGet, "/api/sms-settings", nil).JSON(t, &settings)
	if answered := post(settings.Settings.ReplyURL,
		`{"from": "+4915112345678", "text": "Stop"}`); answered != http.StatusOK {
		t.Errorf("the reply returned %d, want 200", answered)
	}
	postEvent(t, app, event)
	status("failed")
}

func TestTextMessagesDisabled(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, setModules("-sms"))
	for _, path := range []string{"/api/sms-settings", "/api/sms-messages", "/s/r/x.y", "/s/i/x.y"} {
		if got := app.Do(t, http.MethodGet, path, nil); got.Status != http.StatusNotFound {
			t.Errorf("with the module disabled %s returned %d, want 404", path, got.Status)
		}
	}
	var made struct{ Automation struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/automations",
		json.RawMessage(`{"name": "Code", "trigger": {"event": "code.asked"}, "steps": [{"type": "send_sms", "to": "{{event.data.phone}}", "text": "x"}]}`)).JSON(t, &made)
	if got := app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID,
		map[string]string{"action": "activate"}); got.Status != http.StatusBadRequest ||
		!strings.Contains(string(got.Body), "disabled on this server") {
		t.Errorf("activating an automation with text messages while the module is disabled returned %d %s, want 400 with the reason", got.Status, got.Body)
	}
}
