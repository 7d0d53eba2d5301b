package callbacks_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/modules/accounts"
	"github.com/postrider/postrider/modules/accounts/plans"
	"github.com/postrider/postrider/modules/billing"
	"github.com/postrider/postrider/modules/billing/stripetest"
	"github.com/postrider/postrider/rest/callbacks"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/page"
)

// serve starts the handler with the module. Billing is enabled if there is a key.
func serve(t *testing.T, key string) (url string, d *db.DB) {
	t.Helper()
	double, log, cursors := stripetest.New(t), slog.New(slog.DiscardHandler), page.NewCodec([]byte("0123456789abcdef"))
	d = dbtest.New(t)
	a, err := accounts.New(accounts.Params{DB: d, Cursors: cursors, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	service, err := billing.New(billing.Params{Config: billing.Config{Key: secret.New(key),
		Secrets: []secret.String{secret.New(stripetest.Secret)}, URL: double.URL, BaseURL: "https://mail.example.com"},
		DB: d, Accounts: a, Plans: plans.New(d, a), Cursors: cursors, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(callbacks.NewStripe(service, log))
	t.Cleanup(srv.Close)
	return srv.URL, d
}

const event = `{"id":"evt_1","object":"event","type":"customer.updated","api_version":"2026-06-24.dahlia","created":1767225600,"livemode":false,"data":{"object":{"id":"cus_1","object":"customer"}}}`

func TestEventsAreTakenOrRefused(t *testing.T) {
	t.Parallel()
	url, d := serve(t, stripetest.Key)
	url += callbacks.StripePath
	now := time.Now()
	stored := func() int {
		n, err := db.One(t.Context(), d.SQL, db.Value[int], `SELECT count(*) FROM billing_events`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, c := range map[string]struct {
		signature, body string
		status          int
		said            string
	}{
		"unsigned":            {"", event, 400, "The signature is invalid"},
		"no signature":        {"what", event, 400, "The signature is invalid"},
		"of another secret":   {stripetest.Sign("whsec_of_another", []byte(event), now), event, 400, "The signature is invalid"},
		"of another body":     {stripetest.Sign(stripetest.Secret, []byte(event), now), event + " ", 400, "The signature is invalid"},
		"an hour old":         {stripetest.Sign(stripetest.Secret, []byte(event), now.Add(-time.Hour)), event, 400, "The signature is invalid"},
		"of the future":       {stripetest.Sign(stripetest.Secret, []byte(event), now.Add(time.Hour)), event, 400, "The signature's time is in the future"},
		"signed, but no JSON": {stripetest.Sign(stripetest.Secret, []byte("{"), now), "{", 400, "The body must be a Stripe event"},
		"signed, but no id":   {stripetest.Sign(stripetest.Secret, []byte("{}"), now), "{}", 400, "The body must be a Stripe event"},
		"too large":           {"", strings.Repeat("x", 512<<10+1), 413, "The body is too large"},
	} {
		if status, said := stripetest.PostSigned(t, url, c.signature, []byte(c.body)); status != c.status ||
			strings.TrimSpace(said) != c.said {
			t.Errorf("%s: %d %q, want %d %q", name, status, said, c.status, c.said)
		}
	}
	if n := stored(); n != 0 {
		t.Errorf("%d rejected events are stored, want none", n)
	}
	for range 2 { // Stripe repeats
		if status, said := stripetest.Post(t, url, stripetest.Secret, []byte(event), now); status != http.StatusOK ||
			said != `{"ok":true}` {
			t.Errorf("an event: %d %q", status, said)
		}
	}
	if n := stored(); n != 1 {
		t.Errorf("of one event that came twice %d are stored, want 1", n)
	}
	if _, err := d.SQL.ExecContext(t.Context(), `ALTER TABLE billing_events RENAME TO gone`); err != nil {
		t.Fatal(err)
	}
	if status, said := stripetest.Post(t, url, stripetest.Secret, []byte(event),
		now); status != http.StatusServiceUnavailable || strings.Contains(said, "billing_events") {
		t.Errorf("an event that cannot be stored: %d %q, want 503 without the cause", status, said)
	}
}

func TestOnlyEventsArePosted(t *testing.T) {
	t.Parallel()
	on, _ := serve(t, stripetest.Key)
	off, _ := serve(t, "")
	for _, c := range []struct {
		method, url  string
		status       int
		said, allows string
	}{
		{http.MethodGet, on + callbacks.StripePath, 405, "Method not allowed: use POST", "POST"},
		{http.MethodDelete, on + callbacks.StripePath, 405, "Method not allowed: use POST", "POST"},
		{http.MethodPost, on + callbacks.StripePath + "/", 404, "Not found", ""},
		{http.MethodPost, off + callbacks.StripePath, 404, "Not found", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader(event))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Stripe-Signature", stripetest.Sign(stripetest.Secret, []byte(event), time.Now()))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status || strings.TrimSpace(string(said)) != c.said ||
			answer.Header.Get("Allow") != c.allows || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d %q %v, want %d %q, Allow %q and no-store", c.method, c.url, answer.StatusCode, said,
				answer.Header, c.status, c.said, c.allows)
		}
	}
}
