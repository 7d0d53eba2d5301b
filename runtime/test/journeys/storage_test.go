package journeys_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/test/harness"
)

// limitBytes sets byte quotas for the account of the app.
func limitBytes(t *testing.T, app *harness.App, stored, daily int) {
	t.Helper()
	if _, err := openDatabase(t, app).
		ExecContext(t.Context(),
			`UPDATE accounts SET unmetered = false, stored_bytes = NULLIF($2, 0), daily_bytes = NULLIF($3, 0) WHERE id = $1`, app.AccountID, stored, daily); err != nil {
		t.Fatal(err)
	}
}

type refusal struct {
	Error struct {
		Code       string
		UpgradeURL string `json:"upgrade_url"`
		Details    struct {
			Cap   string
			Limit int
		}
	}
}

// Every write of an account is rejected when the quota is used, with the name of the cap. Reads, deletions
// and actions still work.
func TestAllWritesCountAgainstByteQuota(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	sent := send(t, app, `{"from":"ada@dev.test","to":"bob@example.net","subject":"Hello","text":"Hello"}`)
	waitForStatus(t, app, sent, "delivered")
	receive(t, app, "support@dev.test", questionMessage)
	received := lastReceived(t, app)
	if got := app.Do(t, http.MethodPost, "/api/templates",
		`{"name":"Hello","alias":"hello","subject":"Hello","text":"Hello"}`); got.Status != http.StatusOK {
		t.Fatalf("a template got %d %s", got.Status, got.Body)
	}
	limitBytes(t, app, 1, 0)
	harness.Eventually(t, "the quota takes effect", func() bool {
		return app.Do(t, http.MethodPost, "/api/suppressions", `{"email":"carol@example.net"}`).
			Status == http.StatusTooManyRequests
	})
	const message = `{"from":"ada@dev.test","to":"bob@example.net","subject":"Hello","text":"Hello"}`
	for _, door := range []struct{ path, body string }{
		{"/api/emails", message},
		{"/api/emails", strings.Replace(message, `"text"`, `"scheduled_at":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`","text"`, 1)},
		{"/api/emails/batch", `{"emails":[` + message + `]}`},
		{"/api/emails/" + sent + "/resend", ""},
		{"/api/received-emails/" + received + "/reply", `{"text":"Thanks"}`},
		{"/api/received-emails/" + received + "/forward", `{"to":"carol@example.net"}`},
		{"/api/templates", `{"name":"More","subject":"Hello","text":"Hello"}`},
		{"/api/templates/hello/publish", ""},
		{"/api/templates/hello/duplicate", ""},
		{"/api/suppressions/batch", `{"emails":["dan@example.net"]}`},
		{"/api/events", `{"name":"user.created","user_id":"1"}`},
		{"/api/automations", `{"name":"Welcome","trigger":{"event":"user.created"},"steps":[{"key":"end","type":"end"}]}`},
		{"/api/webhooks", `{"url":"http://127.0.0.1:9/"}`},
		{"/api/api-keys", `{"name":"more"}`},
		{"/api/smtp-credentials", `{"name":"more"}`},
		{"/api/domains", `{"name":"more.test"}`},
	} {
		got := app.Do(t, http.MethodPost, door.path, nonEmpty(door.body))
		var said refusal
		if err := json.Unmarshal(got.Body, &said); err != nil || got.Status != http.StatusTooManyRequests ||
			said.Error.Code != "plan_limit" || said.Error.Details.Cap != "stored_bytes" ||
			said.Error.Details.Limit != 1 || said.Error.UpgradeURL != "/settings/billing" {
			t.Errorf("POST %s over the quota got %d %s, want 429 plan_limit for stored_bytes", door.path,
				got.Status, got.Body)
		}
	}
	if rcpt, data := deliver(t, app, "juergen@example.net", "support@dev.test", questionMessage); !strings.HasPrefix(data,
		"452 4.2.2 ") {
		t.Errorf("received mail over the quota got %s and %s, want 452 4.2.2", rcpt, data)
	}
	relay := signIn(t, app)
	if reply := relay.submit("ada@dev.test", []string{"bob@example.net"}, aLetter); !strings.HasPrefix(reply,
		"452 4.2.2 ") {
		t.Errorf("a relayed message over the quota got %s, want 452 4.2.2", reply)
	}
	for _, free := range []struct{ method, path string }{{http.MethodGet, "/api/emails"},
		{http.MethodGet, "/api/account"}, {http.MethodDelete, "/api/templates/hello"}} {
		if got := app.Do(t, free.method, free.path, nil); got.Status != http.StatusOK {
			t.Errorf("%s %s over the quota got %d %s, want 200", free.method, free.path, got.Status, got.Body)
		}
	}
	var account struct {
		Account struct {
			Usage struct {
				StoredBytes    *int64 `json:"stored_bytes"`
				StoredBytesCap *int64 `json:"stored_bytes_cap"`
				DailyBytesCap  *int64 `json:"daily_bytes_cap"`
			}
		}
	}
	app.Do(t, http.MethodGet, "/api/account", nil).JSON(t, &account)
	if u := account.Account.Usage; u.StoredBytes == nil || u.StoredBytesCap == nil || *u.StoredBytesCap != 1 ||
		u.DailyBytesCap == nil {
		t.Errorf("the usage shows %+v, want stored bytes with a cap of 1 and the daily cap of the plan", u)
	}
	var graph struct {
		Account struct {
			Usage struct{ StoredBytes, StoredBytesCap, DailyBytesCap *float64 }
		}
	}
	app.Query(t, `{ account { usage { storedBytes storedBytesCap dailyBytesCap } } }`, &graph)
	if u := graph.Account.Usage; u.StoredBytes == nil || u.StoredBytesCap == nil || *u.StoredBytesCap != 1 ||
		u.DailyBytesCap == nil {
		t.Errorf("GraphQL shows %+v, want stored bytes with a cap of 1 and the daily cap of the plan", u)
	}
}

func nonEmpty(body string) any {
	if body == "" {
		return nil
	}
	return body
}

// The large body of an email to a suppressed recipient is not stored. The record remains, reports this, and
// cannot be resent.
func TestUndeliverableBodyIsNotStored(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	if got := app.Do(t, http.MethodPost, "/api/suppressions",
		`{"email":"bob@example.net"}`); got.Status != http.StatusOK {
		t.Fatalf("the suppression got %d %s", got.Status, got.Body)
	}
	message := func(text, file string) map[string]any {
		m := map[string]any{"from": "ada@dev.test", "to": []string{"bob@example.net"}, "subject": "Hello", "text": text}
		if file != "" {
			m["attachments"] = []any{map[string]any{"name": "a.txt", "data": file}}
		}
		return m
	}
	large := strings.Repeat("Hello ", 20_000)
	for name, c := range map[string]struct {
		body map[string]any
		kept bool
	}{
		"a small one":            {message("Hello", "SGVsbG8="), true},
		"a large text":           {message(large, ""), false},
		"a small text, one file": {message("Hello", strings.Repeat("QUFB", 40_000)), false},
	} {
		var receipt struct{ ID, Status string }
		app.Do(t, http.MethodPost, "/api/emails", c.body).JSON(t, &receipt)
		var stored int64
		if err := openDatabase(t, app).QueryRowContext(t.Context(), `SELECT coalesce(octet_length(e.text), 0) + (SELECT coalesce(sum(octet_length(data)), 0) FROM attachments a WHERE a.email_id = e.id)
			FROM emails e WHERE id = $1`, receipt.ID).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		var record struct {
			Email struct {
				Subject, Status string
				Text            *string
				BodyPurgedAt    *string `json:"body_purged_at"`
			}
		}
		app.Do(t, http.MethodGet, "/api/emails/"+receipt.ID, nil).JSON(t, &record)
		if receipt.Status != "failed" || record.Email.Subject != "Hello" || record.Email.Status != "failed" ||
			(stored > 0) != c.kept || (record.Email.Text != nil) != c.kept {
			t.Errorf("%s to a suppressed recipient: %+v, %d bytes are stored, the record is %+v; want the body kept: %v", name, receipt, stored, record.Email, c.kept)
		}
		again := app.Do(t, http.MethodPost, "/api/emails/"+receipt.ID+"/resend", nil)
		if refused := again.Status == http.StatusConflict &&
			strings.Contains(string(again.Body),
				"was not kept, because a recipient was suppressed"); refused == c.kept {
			t.Errorf("sending %s again got %d %s, want 409 with the reason unless the body was kept", name,
				again.Status, again.Body)
		}
	}
}
