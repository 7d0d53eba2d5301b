package journeys_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

type loggedRequest struct {
	ID, Method, Path, Operation, IP string
	Status                          int
	DurationMS                      int     `json:"duration_ms"`
	APIKeyID                        *string `json:"api_key_id"`
	UserID                          *string `json:"user_id"`
	EmailID                         *string `json:"email_id"`
	RequestBody                     string  `json:"request_body"`
	ResponseBody                    string  `json:"response_body"`
}

// awaitLogged waits until the request of a response is in the log, and returns the account's newest entry that
// matches a query. It does not query the log until then, because the query would be logged, too.
func awaitLogged(t *testing.T, app *harness.App, after harness.Answer, query url.Values) loggedRequest {
	t.Helper()
	handle, id := openDatabase(t, app), after.Header.Get("X-Request-Id")
	expect.Eventually(t, id+" is in the log", func() (there bool) {
		if err := handle.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT FROM api_requests WHERE request_id = $1)`, id).Scan(&there); err != nil {
			t.Fatal(err)
		}
		return there
	})
	var page struct{ Requests []loggedRequest }
	answer := app.Do(t, http.MethodGet, "/api/requests?"+query.Encode(), nil)
	if answer.JSON(t, &page); len(page.Requests) == 0 {
		t.Fatalf("%s returned %s", query.Encode(), answer.Body)
	}
	return page.Requests[0]
}

// Requests of programs and users are in the log of their account only, without secrets, and without erased
// recipients.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	database := dbtest.URL(t)
	app := startCaptured(t, func(s setting.RawValues) { s["DATABASE_URL"] = database })
	sent := app.Do(t, http.MethodPost, "/api/emails",
		`{"from":"ada@dev.test","to":"Bob@example.net","subject":"Hello","text":"Dear Bob","attachments":[{"name":"a.txt","content":"c3RlYWx0aHktY29udGVudA=="}]}`)
	var made struct{ ID string }
	if sent.JSON(t, &made); sent.Status != http.StatusOK {
		t.Fatalf("the send got %d %s", sent.Status, sent.Body)
	}
	got := awaitLogged(t, app, sent, url.Values{"email_id": {made.ID}, "method": {"POST"}})
	if got.ID != sent.Header.Get("X-Request-Id") || got.Path != "/api/emails" || got.Operation != "sendEmail" ||
		got.Status != http.StatusOK || got.APIKeyID == nil || got.UserID != nil ||
		got.IP != "127.0.0.1" || !strings.Contains(got.RequestBody, `"subject":"Hello"`) ||
		!strings.Contains(got.RequestBody, "[redacted: 24 characters]") || got.ResponseBody != string(sent.Body) {
		t.Errorf("the send is logged as %+v", got)
	}
	refused := app.Do(t, http.MethodPost, "/api/emails", `{"from":"ada@dev.test","to":"nobody"}`)
	got = awaitLogged(t, app, refused, url.Values{"request_id": {refused.Header.Get("X-Request-Id")},
		"status_from": {"400"}, "status_below": {"500"}, "path": {"/api/em"}})
	if got.Status != http.StatusBadRequest || got.ResponseBody != string(refused.Body) {
		t.Errorf("the error %s is logged as %+v", refused.Body, got)
	}
	look := app.Do(t, http.MethodGet, "/api/requests", nil)
	if got := awaitLogged(t, app, look, url.Values{"path": {"/api/requests"}}); got.ResponseBody != "" ||
		got.Status != http.StatusOK {
		t.Errorf("a request to the log is logged as %+v", got)
	}

	stranger := app.Stranger(t, "stranger")
	id := sent.Header.Get("X-Request-Id")
	wantAnswer(t, "the owner of a request", app.Do(t, http.MethodGet, "/api/requests/"+id, nil), http.StatusOK, made.ID)
	wantAnswer(t, "a stranger", stranger.Do(t, http.MethodGet, "/api/requests/"+id, nil), http.StatusNotFound)
	if got := stranger.Do(t, http.MethodGet, "/api/requests", nil); strings.Contains(string(got.Body), made.ID) {
		t.Errorf("another account sees %s", got.Body)
	}
	wantAnswer(t, "a key that only sends", app.WithKey(t, "sending").Do(t, http.MethodGet, "/api/requests", nil),
		http.StatusForbidden)

	erased := app.Do(t, http.MethodDelete, "/api/contacts/bob@example.net/data", nil)
	erasure := awaitLogged(t, app, erased, url.Values{"method": {"DELETE"}})
	if erasure.Path != "/api/contacts/{email}/data" {
		t.Errorf("the erasure is logged as %+v", erasure)
	}
	wantAnswer(t, "the send to the erased recipient", app.Do(t, http.MethodGet, "/api/requests/"+id, nil),
		http.StatusNotFound)
	for _, row := range rowsWith(t, database, "bob@example.net") {
		if strings.HasPrefix(row, "api_requests:") {
			t.Errorf("still there: %s", row)
		}
	}
}

// Secrets that are shown once and secrets that are sent never appear in the log, for any kind of caller.
func TestSecretsAreNotInRequestLog(t *testing.T) {
	t.Parallel()
	database := dbtest.URL(t)
	app := startCaptured(t, func(s setting.RawValues) { s["DATABASE_URL"] = database })
	ada := signInOwner(t, app)
	secrets := []string{app.APIKey, app.Owner.Password, "hunter2-of-the-wrong-name"}
	var made struct{ Secret, Password string }
	var last harness.Answer
	for path, body := range map[string]any{
		"/api/api-keys":         asked{"name": "shop", "scope": "read"},
		"/api/webhooks":         asked{"url": "https://example.com/hook"},
		"/api/smtp-credentials": asked{"name": "shop"},
	} {
		app.Do(t, http.MethodPost, path, body).JSON(t, &made)
		if made.Secret == "" && made.Password == "" {
			t.Fatalf("%s shows no secret", path)
		}
		for _, secret := range []string{made.Secret, made.Password} {
			if secret != "" {
				secrets = append(secrets, secret)
			}
		}
		made.Secret, made.Password = "", ""
	}
	app.Do(t, http.MethodGet, "/api/automation-webhook-secret", nil).JSON(t, &made)
	secrets = append(secrets, made.Secret)
	app.Do(t, http.MethodPost, "/api/emails", asked{"from": "ada@dev.test", "password": "hunter2-of-the-wrong-name",
		"text": app.APIKey})
	ada.Do(t, http.MethodPost, "/api/session/confirm", asked{"password": app.Owner.Password})
	var factor struct{ Secret string }
	ada.Do(t, http.MethodPost, "/api/user/totp", nil).JSON(t, &factor)
	secrets = append(secrets, factor.Secret)
	for _, cookie := range ada.Cookies(t) {
		secrets = append(secrets, cookie.Value)
	}
	last = ada.Do(t, http.MethodGet, "/api/webhooks", nil)
	person := awaitLogged(t, app, last, url.Values{"request_id": {last.Header.Get("X-Request-Id")}})
	if person.UserID == nil || person.APIKeyID != nil {
		t.Fatalf("a request with a cookie is logged as %+v", person)
	}
	if got := awaitLogged(t, app, last,
		url.Values{"user_id": {*person.UserID}, "path": {"/api/user/totp"}}); got.RequestBody != "" ||
		got.ResponseBody != "" {
		t.Errorf("a new second factor is logged as %+v", got)
	}
	if got := awaitLogged(t, app, last, url.Values{"path": {"/api/api-keys"}}); !strings.Contains(got.ResponseBody,
		`"secret":"[redacted]"`) {
		t.Errorf("a new key is logged as %+v", got)
	}
	for _, secret := range secrets {
		if secret == "" {
			t.Error("a secret to search for is empty")
			continue
		}
		for _, row := range rowsWith(t, database, strings.ToLower(secret)) {
			if strings.HasPrefix(row, "api_requests:") {
				t.Errorf("the log contains the secret %s: %s", secret, row)
			}
		}
	}
}

// Without the module the route does not exist, and nothing is written.
func TestRequestLogIsAbsentWithoutItsModule(t *testing.T) {
	t.Parallel()
	database := dbtest.URL(t)
	app := startCaptured(t, func(s setting.RawValues) {
		s["DATABASE_URL"] = database
		s["POSTRIDER_MODULES"] = strings.Join(slices.DeleteFunc(app.ModuleNames(true),
			func(name string) bool { return name == "apilog" }), ",")
	})
	app.Do(t, http.MethodPost, "/api/emails", `{}`)
	wantAnswer(t, "the log without its module", app.Do(t, http.MethodGet, "/api/requests", nil), http.StatusNotFound)
	if err := app.Stop(); err != nil { // with the module, a stop stores buffered entries
		t.Fatal(err)
	}
	for _, row := range rowsWith(t, database, "") {
		if strings.HasPrefix(row, "api_requests:") {
			t.Errorf("the table contains %s", row)
		}
	}
}
