package journeys_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/rest/compat"
	"github.com/postrider/postrider/rest/compat/mailgun"
	"github.com/postrider/postrider/rest/compat/postmark"
	"github.com/postrider/postrider/rest/compat/resend"
	"github.com/postrider/postrider/rest/compat/sendgrid"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/test/harness"
)

// compatAPIs are the APIs of other providers, with the form in which each sends a key.
var compatAPIs = []struct {
	compat.Provider

	credentials func(key string) []string
}{
	{resend.API(), func(key string) []string { return []string{"Authorization", "Bearer " + key} }},
	{sendgrid.API(), func(key string) []string { return []string{"Authorization", "Bearer " + key} }},
	{postmark.API(), func(key string) []string { return []string{"Authorization", "", "X-Postmark-Server-Token", key} }},
	{mailgun.API(), func(key string) []string {
		return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("api:"+key))}
	}},
}

// compatIDs are the records that the ids in Resend's paths identify, by the first segments of the path.
var compatIDs = []struct{ prefix, resource string }{
	{"/emails/receiving/", "/received-emails"},
	{"/emails/", "/emails"},
	{"/domains/{id}/claim", "/domains/claims"},
	{"/domains/", "/domains"},
	{"/api-keys/", "/api-keys"},
	{"/webhooks/", "/webhooks"},
	{"/suppressions/", "/suppressions"},
	{"/templates/", "/templates"},
	{"/automations/", "/automations"},
	{"/logs/", "/requests"},
}

// For every route of another provider with an id: another account's id gets the response of an unknown one, and changes
// nothing.
func TestCompatForeignIDsLookUnknown(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	stranger := app.Stranger(t, "stranger")
	ids := map[string]string{}
	for _, of := range compatIDs {
		ids[of.resource] = owned[of.resource].add(t, app)
	}
	waitForStatus(t, app, ids["/emails"], "delivered")
	checked := 0
	for _, route := range resend.API().Routes {
		if !strings.Contains(route.Path, "{id}") {
			continue
		}
		at := slices.IndexFunc(compatIDs, func(of struct{ prefix, resource string }) bool {
			return strings.HasPrefix(route.Path, of.prefix)
		})
		if at < 0 {
			t.Errorf("%s takes an unsupported kind of id: add a row to compatIDs", route.Path)
			continue
		}
		resource := compatIDs[at].resource
		for _, id := range []string{ids[resource], owned[resource].unknown} {
			path := resend.Prefix + strings.NewReplacer("{id}", id, "{event}", "whd_01kf0m4w7he6x8q2v5b3n9c1ta", "{run}",
				"run_01kf0m4w7he6x8q2v5b3n9c1ta", "{file}", "0").Replace(route.Path)
			var body any
			if route.Method == http.MethodPatch {
				body = map[string]any{}
				switch resource {
				case "/emails":
					body = map[string]any{"scheduled_at": time.Now().Add(time.Hour)}
				case "/api-keys":
					body = map[string]any{"name": "n"}
				}
			}
			before := app.Do(t, http.MethodGet, "/api"+resource+"/"+ids[resource], nil)
			got := stranger.Do(t, route.Method, path, body)
			if got.Status != http.StatusNotFound && got.Status != http.StatusNotImplemented {
				t.Errorf("%s %s by another account returned %d %s, want 404", route.Method, path, got.Status, got.Body)
			}
			if after := app.Do(t, http.MethodGet, "/api"+resource+"/"+ids[resource], nil); after.Status != http.StatusOK ||
				string(after.Body) != string(before.Body) {
				t.Errorf("%s %s by another account changed the record: %s, before %s", route.Method, path, after.Body,
					before.Body)
			}
			checked++
		}
	}
	token := []string{"Authorization", "", "X-Postmark-Server-Token", stranger.APIKey}
	for path, method := range map[string]string{"/postmark/messages/outbound/" + ids["/emails"] + "/details": http.MethodGet,
		"/postmark/bounces/" + ids["/suppressions"]:               http.MethodGet,
		"/postmark/bounces/" + ids["/suppressions"] + "/activate": http.MethodPut} {
		wantText(t, method+" "+path+" by another account", stranger.Do(t, method, path, nil, token...),
			http.StatusNotFound, `"ErrorCode":701`)
	}
	wantText(t, "the bounces of another account", stranger.Do(t, http.MethodGet, "/postmark/bounces?count=10", nil,
		token...), http.StatusOK, `"Bounces":[]`)
	wantText(t, "the bounces of another account", stranger.Do(t, http.MethodGet, "/sendgrid/v3/suppression/bounces", nil),
		http.StatusOK, "[]")
	wantText(t, "a template of another account", stranger.Do(t, http.MethodPost, "/resend/emails",
		asked{"from": "ada@dev.test", "to": "bob@example.net", "template": asked{"id": ids["/templates"]}}),
		http.StatusBadRequest, "template.id is not a template of this account")
	if checked < 40 {
		t.Errorf("checked %d routes with an id, want at least 40", checked)
	}
	for _, path := range []string{"/emails", "/emails/receiving", "/domains", "/api-keys", "/webhooks", "/suppressions",
		"/templates", "/automations", "/logs"} {
		for _, query := range []string{"", "?after=" + ids["/emails"], "?before=" + ids["/emails"]} {
			got := stranger.Do(t, http.MethodGet, resend.Prefix+path+query, nil)
			var page struct{ Data []struct{ ID string } }
			got.JSON(t, &page)
			for _, item := range page.Data {
				for _, id := range ids {
					if item.ID == id {
						t.Errorf("GET %s%s shows another account %s: %s", path, query, id, got.Body)
					}
				}
			}
		}
	}
}

// Every route of every provider asks for a key in the form of the provider, and never fails with a 5xx other
// than a documented error.
func TestCompatRoutesNeedKey(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	operator := app.WithOperatorKey(t) // which no API of other providers accepts
	for _, api := range compatAPIs {
		for _, route := range api.Routes {
			method := route.Method
			if method == "" {
				method = http.MethodGet
			}
			path := api.Prefix + strings.NewReplacer("{...}", "x", "{id}", "x", "{event}", "x", "{run}", "x", "{email}", "x",
				"{domain}", "dev.test", "{file}", "0").Replace(route.Path)
			for _, key := range []string{"", "svc_wrong", operator.APIKey} {
				if got := app.Do(t, method, path, nil, api.credentials(key)...); got.Status != http.StatusUnauthorized {
					t.Errorf("%s %s with the key %q returned %d %s, want 401", method, path, key, got.Status, got.Body)
				}
			}
			for _, body := range []any{nil, "{}", "[]", "{", `{"nonsense":1}`, "null"} {
				if method == http.MethodDelete && body == nil {
					continue
				}
				got := app.Do(t, method, path, body, api.credentials(app.APIKey)...)
				if got.Status >= http.StatusInternalServerError && got.Status != http.StatusNotImplemented {
					t.Errorf("%s %s with the body %v returned %d %s, want no server error", method, path, body, got.Status,
						got.Body)
				}
				if got.Status >= http.StatusBadRequest && !json.Valid(got.Body) {
					t.Errorf("%s %s with the body %v returned %q, want JSON", method, path, body, got.Body)
				}
			}
		}
		got := app.Do(t, http.MethodGet, api.Prefix+"/nothing/like/this", nil, api.credentials(app.APIKey)...)
		if got.Status != http.StatusNotFound && got.Status != http.StatusNotImplemented {
			t.Errorf("an unknown path of %s returned %d %s, want 404 or 501", api.Prefix, got.Status, got.Body)
		}
	}
}

// Without the module, no path of another provider is served.
func TestCompatModuleCanBeDisabled(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, func(s setting.RawValues) { s["POSTRIDER_MODULES"] = "-compat" })
	for _, request := range [][2]string{{http.MethodPost, "/resend/emails"}, {http.MethodGet, "/resend/emails"},
		{http.MethodPost, "/sendgrid/v3/mail/send"}, {http.MethodPost, "/postmark/email"},
		{http.MethodPost, "/mailgun/v3/dev.test/messages"}} {
		if got := app.Do(t, request[0], request[1], anEmail); got.Status != http.StatusNotFound {
			t.Errorf("%s %s without the module returned %d %.80s, want 404", request[0], request[1], got.Status, got.Body)
		}
	}
}

// The rules of our own API apply: scope, idempotency, one rate limit, the audit log and the request log.
func TestCompatKeepsOwnRules(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	sending := withKey(app, keyFor(t, app.Do, asked{"name": "sending", "scope": "sending"}))
	mail := asked{"from": "ada@dev.test", "to": "bob@example.net", "subject": "Hello", "text": "Hello"}
	if got := sending.Do(t, http.MethodPost, "/resend/emails", mail); got.Status != http.StatusOK {
		t.Errorf("a sending key got %d %s, want 200", got.Status, got.Body)
	}
	wantText(t, "a sending key reading domains", sending.Do(t, http.MethodGet, "/resend/domains", nil),
		http.StatusForbidden, `"statusCode":403`, `"restricted_api_key"`)

	var first, second struct{ ID string }
	mail["scheduled_at"] = "in 1 hour"
	app.Do(t, http.MethodPost, "/resend/emails", mail, "Idempotency-Key", "k1").JSON(t, &first)
	again := app.Do(t, http.MethodPost, "/resend/emails", mail, "Idempotency-Key", "k1")
	again.JSON(t, &second)
	if first.ID == "" || first != second || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same key and a relative time got %v and %v, want one email and a replay", first, second)
	}
	mail["scheduled_at"] = "in 2 hours"
	wantText(t, "the same key with another time", app.Do(t, http.MethodPost, "/resend/emails", mail,
		"Idempotency-Key", "k1"), http.StatusConflict, `"invalid_idempotent_request"`)

	made := app.Do(t, http.MethodPost, "/resend/api-keys", asked{"name": "audited"})
	wantText(t, "creating a key", made, http.StatusCreated, `"token":"svc_`)
	owner := signInOwner(t, app)
	harness.Eventually(t, "the audit log names the key", func() bool {
		return strings.Contains(string(owner.Do(t, http.MethodGet, "/api/audit-log", nil).Body), "createAPIKey")
	})
	requestID := made.Header.Get("X-Request-Id")
	harness.Eventually(t, "the request is in the log", func() bool {
		return app.Do(t, http.MethodGet, "/api/requests/"+requestID, nil).Status == http.StatusOK
	})
	logged := app.Do(t, http.MethodGet, "/api/requests/"+requestID, nil)
	var secret struct{ Token string }
	made.JSON(t, &secret)
	if secret.Token == "" || strings.Contains(string(logged.Body), secret.Token) {
		t.Errorf("the request log shows the secret of a key: %s", logged.Body)
	}
}

// Calls that Postrider does not support are in the API log, where a team that migrates can find them.
func TestCompatRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	refused := app.Do(t, http.MethodPost, "/resend/emails", asked{"from": "ada@dev.test", "to": "bob@example.net",
		"subject": "Hello", "text": "Hello", "topic_id": "news"})
	wantText(t, "an email with a topic", refused, http.StatusNotImplemented, "Topics (topic_id) are not supported")
	harness.Eventually(t, "the refusal is in the log", func() bool {
		got := app.Do(t, http.MethodGet, "/api/requests/"+refused.Header.Get("X-Request-Id"), nil)
		return strings.Contains(string(got.Body), `"path":"/resend/emails"`) &&
			strings.Contains(string(got.Body), "Topics (topic_id) are not supported")
	})
}

// wantText checks the status of a response, and that it contains texts.
func wantText(t *testing.T, what string, got harness.Answer, status int, texts ...string) {
	t.Helper()
	if got.Status != status {
		t.Errorf("%s got %d %s, want %d", what, got.Status, got.Body, status)
		return
	}
	for _, text := range texts {
		if !strings.Contains(string(got.Body), text) {
			t.Errorf("%s got %s, want it to contain %s", what, got.Body, text)
		}
	}
}

// A strict batch, and several personalizations, send all emails or none.
func TestCompatBatchesAreAtomic(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	mail := func(to string) asked {
		return asked{"from": "ada@dev.test", "to": to, "subject": "Hello", "text": "Hello"}
	}
	got := app.Do(t, http.MethodPost, "/resend/emails/batch", []asked{mail("bob@example.net"), mail("nobody")})
	wantText(t, "a strict batch with an invalid email", got, http.StatusBadRequest, "emails[1].to")
	personal := func(to ...string) asked {
		var all []asked
		for _, address := range to {
			all = append(all, asked{"to": []asked{{"email": address}}})
		}
		return asked{"from": asked{"email": "ada@dev.test"}, "subject": "Hello", "personalizations": all,
			"content": []asked{{"type": "text/plain", "value": "Hello"}}}
	}
	wantText(t, "an invalid personalization", app.Do(t, http.MethodPost, "/sendgrid/v3/mail/send",
		personal("bob@example.net", "nobody")), http.StatusBadRequest, `"errors":[{"message"`)
	wantText(t, "the list after them", app.Do(t, http.MethodGet, "/resend/emails", nil), http.StatusOK, `"data":[]`)
	got = app.Do(t, http.MethodPost, "/resend/emails/batch", []asked{mail("bob@example.net"), mail("nobody")},
		"X-Batch-Validation", "permissive")
	wantText(t, "a permissive batch", got, http.StatusOK, `"errors":[{"index":1,"message":"to`, `"id":"msg_`)
	if got := app.Do(t, http.MethodPost, "/sendgrid/v3/mail/send",
		personal("bob@example.net", "carol@example.net")); got.Status != http.StatusAccepted ||
		!strings.HasPrefix(got.Header.Get("X-Message-Id"), "msg_") {
		t.Errorf("two personalizations got %d %s, want 202 with an X-Message-Id", got.Status, got.Body)
	}
}

// Mailgun's clients send forms with files.
func TestCompatMailgunForm(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range [][2]string{{"from", "Ada <ada@dev.test>"}, {"to", "bob@example.net"},
		{"to", "Carol <carol@example.net>, dan@example.net"}, {"subject", "Hello"}, {"text", "Hello"}, {"o:tag", "receipt"},
		{"v:order", "17/42"}, {"h:X-Order", "1742"}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			t.Fatal(err)
		}
	}
	file, err := form.CreateFormFile("attachment", "note.txt")
	if err == nil {
		_, err = file.Write([]byte("a note"))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	credentials := compatAPIs[3].credentials(app.APIKey)
	got := app.Do(t, http.MethodPost, "/mailgun/v3/mg.dev.test/messages", body.String(),
		append(credentials, "Content-Type", form.FormDataContentType())...)
	wantText(t, "a form", got, http.StatusOK, `"message":"Queued. Thank you."`, `@dev.test>"`)
	var sent struct{ ID string }
	got.JSON(t, &sent)
	id, _, _ := strings.Cut(strings.TrimPrefix(sent.ID, "<"), "@")
	wantText(t, "the email", app.Do(t, http.MethodGet, "/api/emails/"+id, nil), http.StatusOK, `"note.txt"`,
		`"dan@example.net"`, `{"name":"order","value":"17_42"}`, `"X-Order":"1742"`)
	wantText(t, "an option that is not supported", app.Do(t, http.MethodPost, "/mailgun/v3/dev.test/messages",
		"from=ada@dev.test&to=bob@example.net&subject=x&text=x&o:testmode=yes", append(credentials, "Content-Type",
			"application/x-www-form-urlencoded")...), http.StatusNotImplemented, "o:testmode is not supported")
}
