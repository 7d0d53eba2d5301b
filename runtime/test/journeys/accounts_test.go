package journeys_test

import (
	"bytes"
	"database/sql"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

func withKey(app *harness.App, key string) *harness.App {
	other := *app
	other.APIKey = key
	return &other
}

// sendingMay lists all operations that a sending key may call. It is not derived from the code, so that a
// review shows every addition.
var sendingMay = []string{
	"GET /emails", "GET /emails/{id}", "POST /emails", "POST /emails/batch", "POST /emails/check", "POST /emails/{id}/resend",
	"GET /emails/{id}/attempts", "GET /emails/{id}/recipients", // the outcome of its emails
	"GET /emails/{id}/attachments/{index}",            // which are part of its emails
	"POST /events", "GET /events", "GET /events/{id}", // events from its program
	"GET /emails/{id}/visits",                                           // clicks and opens of emails that it may read
	"GET /test/inbox", "GET /test/inbox/latest", "GET /test/inbox/{id}", // emails that it sent in test mode
}

// fullKeyOnly lists the operations that even a read key may not call: keys and secrets.
var fullKeyOnly = []string{"GET /api-keys", "GET /api-keys/{id}", "GET /smtp-credentials", "GET /smtp-credentials/{id}",
	"GET /automation-webhook-secret",
	"GET /billing", "GET /billing/usage", "GET /billing/invoices"} // programs that only read have no access to billing

// For every operation: a read key can only read, a sending key can only send and read what it sent, and the
// document says so.
func TestScopesOfEveryOperation(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	read, sending := app.WithKey(t, "read"), app.WithKey(t, "sending")
	inTestMode := map[string]*harness.App{}
	for _, scope := range []string{"read", "sending"} {
		inTestMode[scope] = withKey(app, keyFor(t, app.Do, asked{"name": scope, "scope": scope, "mode": "test"}))
	}
	for _, o := range operations(t, app) {
		if o.public {
			continue
		}
		for _, c := range []struct {
			app   *harness.App
			scope string
			may   bool
		}{
			{read, "read", o.keys && (o.method == http.MethodGet && !slices.Contains(fullKeyOnly, o.String()) || slices.Contains(readMay, o.String()))},
			{sending, "sending", slices.Contains(sendingMay, o.String())},
		} {
			at := o.pathFor("x")
			if o.endless {
				at += "?after=nothing" // rejected, but after the scope check
			}
			client := c.app
			if o.isTestOnly() {
				client = inTestMode[c.scope]
			}
			got := client.Do(t, o.method, at, nil)
			if refused := got.Status == http.StatusForbidden &&
				strings.Contains(string(got.Body), `"insufficient_scope"`); refused == c.may {
				t.Errorf("%s with a %s key: %d %s", o, c.scope, got.Status, got.Body)
			}
		}
	}
	got := read.Do(t, http.MethodPost, "/api/emails", anEmail)
	if want := `{"error":{"message":"This API key has the scope \"read\", which does not allow this operation","code":"insufficient_scope"}}`; string(got.Body) != want {
		t.Errorf("a read key that sends got %s, want %s", got.Body, want)
	}
}

// readMay lists the operations other than GET that change nothing.
var readMay = []string{"POST /templates/{id}/render"}

// The life cycle of a key over REST. Its secret is not stored anywhere.
func TestKeyFromCreationToRevocation(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	const body = `{"name":"shop","scope":"sending","expires_at":"2126-01-01T00:00:00Z"}`
	var made struct {
		APIKey struct{ ID, Prefix, Scope string } `json:"api_key"`
		Secret string
	}
	first := app.Do(t, http.MethodPost, "/api/api-keys", body, "Idempotency-Key", "make a key")
	first.JSON(t, &made)
	again := app.Do(t, http.MethodPost, "/api/api-keys", body, "Idempotency-Key", "make a key")
	if !bytes.Equal(first.Body, again.Body) || again.Header.Get("Idempotent-Replayed") != "true" ||
		made.APIKey.Scope != "sending" || !strings.HasPrefix(made.Secret, made.APIKey.Prefix) {
		t.Errorf("created %s, replayed %s", first.Body, again.Body)
	}
	handle := openDatabase(t, app)
	var leaked int
	err := handle.QueryRowContext(t.Context(),
		`SELECT count(*) FROM idempotency_keys WHERE position(convert_to($1, 'UTF8') IN body) > 0 OR status <> 200`, made.Secret).Scan(&leaked)
	if err != nil || leaked != 0 {
		t.Errorf("the secret appears in %d responses: %v", leaked, err)
	}
	key := withKey(app, made.Secret)
	if got := key.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusOK {
		t.Errorf("the new key: %d %s", got.Status, got.Body)
	}
	for range 2 { // revoking again changes nothing
		if got := app.Do(t, http.MethodDelete, "/api/api-keys/"+made.APIKey.ID, nil); got.Status != http.StatusOK ||
			string(got.Body) != `{"ok":true}` {
			t.Errorf("revoke: %d %s", got.Status, got.Body)
		}
	}
	if got := key.Do(t, http.MethodGet, "/api/emails", nil); got.Status != http.StatusUnauthorized ||
		string(got.Body) != `{"error":{"message":"Unauthorized"}}` {
		t.Errorf("the revoked key: %d %s", got.Status, got.Body)
	}
	if got := app.Do(t, http.MethodGet, "/api/api-keys/"+made.APIKey.ID, nil); !strings.Contains(string(got.Body),
		`"revoked_at":"20`) || strings.Contains(string(got.Body), made.Secret) {
		t.Errorf("the record: %s", got.Body)
	}
}

func openDatabase(t *testing.T, app *harness.App) *sql.DB {
	t.Helper()
	handle, err := sql.Open("postgres", app.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := handle.Close(); err != nil {
			t.Error(err)
		}
	})
	return handle
}

// A suspended account can still read, and gets an error that explains why it cannot send. It can send again when
// it is resumed. Both changes take effect within five seconds.
func TestSuspendedAccount(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	for _, suspended := range []bool{true, false} {
		app.Change(t, accounts.AccountChange{Suspended: &suspended})
		harness.Eventually(t, "the change takes effect", func() bool {
			got := app.Do(t, http.MethodPost, "/api/emails", anEmail)
			refused := got.Status == http.StatusForbidden &&
				strings.Contains(string(got.Body), `"code":"account_suspended"`)
			return refused == suspended && (suspended || got.Status == http.StatusOK)
		})
		if got := app.Do(t, http.MethodGet, "/api/account", nil); got.Status != http.StatusOK {
			t.Errorf("reading: %d %s", got.Status, got.Body)
		}
	}
}

// A free account sends a hundred emails a day, however many concurrent requests it makes, and the error says
// when it can send again.
func TestDailyCapOfTheFreePlan(t *testing.T) {
	t.Parallel()
	app := harness.Start(t, nil)
	app.MailDomain(t, "example.net")
	handle := openDatabase(t, app)
	if _, err := handle.ExecContext(t.Context(), `UPDATE plans SET requests_per_second = 1000 WHERE id = 'free'`); err != nil {
		t.Fatal(err)
	}
	free := app.Stranger(t, "free")
	free.Change(t, accounts.AccountChange{Plan: new("free"), ProductionUnlocked: new(true)})
	if _, err := handle.ExecContext(t.Context(), `UPDATE accounts SET unmetered = false WHERE id = $1`, free.AccountID); err != nil {
		t.Fatal(err)
	}
	verifyDomain(t, free, "free.example")
	body := strings.ReplaceAll(anEmail, "dev.test", "free.example")
	send := func(n int) (accepted int, refused harness.Answer) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				got := free.Do(t, http.MethodPost, "/api/emails", body)
				mu.Lock()
				defer mu.Unlock()
				switch got.Status {
				case http.StatusOK:
					accepted++
				case http.StatusTooManyRequests:
					refused = got
				default:
					t.Errorf("sending on the free plan got status %d and %s, want 200 or 429", got.Status, got.Body)
				}
			})
		}
		all.Wait()
		return accepted, refused
	}
	// Most of the cap is already used: the test sends the last ten.
	if _, err := handle.ExecContext(t.Context(), `INSERT INTO usages (account_id, period, emails)
		SELECT $1, to_char(now() AT TIME ZONE 'UTC', f), 90 FROM (VALUES ('YYYY-MM'), ('YYYY-MM-DD')) AS v (f)`, free.AccountID); err != nil {
		t.Fatal(err)
	}
	accepted, refused := send(60)
	if accepted != 10 {
		t.Errorf("%d of 60 accepted with 10 left", accepted)
	}
	if text := string(refused.Body); !strings.Contains(text, `"code":"plan_limit"`) ||
		!strings.Contains(text, `"upgrade_url":"/settings/billing"`) || refused.Header.Get("Retry-After") == "" {
		t.Errorf("refusal %s, Retry-After %q", text, refused.Header.Get("Retry-After"))
	}
	var account struct {
		Account struct{ Usage struct{ Day, Month int } }
	}
	free.Do(t, http.MethodGet, "/api/account", nil).JSON(t, &account)
	if u := account.Account.Usage; u.Day != 100 || u.Month != 100 {
		t.Errorf("usage %+v", u)
	}
}

// Two processes on one database together admit as many requests as one would.
func TestProcessesShareTheRateLimit(t *testing.T) {
	t.Parallel()
	url, keys := dbtest.URL(t), t.TempDir() // with one master key
	share := func(s setting.RawValues) { s["DATABASE_URL"], s["POSTRIDER_DATA_DIR"] = url, keys }
	first, second := harness.Start(t, share), harness.Start(t, share)
	begin := limitRate(t, url, first)
	harness.Eventually(t, "the other process knows the rate", func() bool {
		return second.Do(t, http.MethodGet, "/api/emails", nil).Header.Get("ratelimit-limit") == "2"
	})
	var mu sync.Mutex
	var admitted, refused int
	var all sync.WaitGroup
	again := time.Now()
	for i := range 40 {
		all.Go(func() {
			got := []*harness.App{first, second}[i%2].Do(t, http.MethodGet, "/api/emails", nil)
			mu.Lock()
			defer mu.Unlock()
			if got.Status == http.StatusOK {
				admitted++
			} else if got.Status == http.StatusTooManyRequests && got.Header.Get("Retry-After") != "" {
				refused++
			} else {
				t.Errorf("a request over the limit got status %d and %s, want 200, or 429 with Retry-After",
					got.Status, got.Body)
			}
		})
	}
	all.Wait()
	if most := 2 + int(time.Since(again).Seconds()) + 1; admitted > most || refused < 40-most {
		t.Errorf("%d admitted, %d rejected, want at most %d (metered for %s)", admitted, refused, most,
			time.Since(begin))
	}
}
