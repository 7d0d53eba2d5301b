package journeys_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/mail/smtpclient/smtptest"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

const anEmail = `{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`

// outageLimit bounds a response while the database is unavailable. The promise is six seconds, which `make
// torture` verifies on an otherwise idle machine. Here processes may stall, so the test only checks that
// nothing waits for the database.
const outageLimit = time.Minute

// While the database is frozen or down, every request is rejected as unavailable, in time and with
// Retry-After. The process keeps running, reports not ready, and recovers automatically.
func TestUnavailableDatabaseReturns503AndRecovers(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]struct{ begin, end func(*dbtest.Server) }{
		"frozen":  {(*dbtest.Server).Freeze, (*dbtest.Server).Thaw},
		"stopped": {(*dbtest.Server).Stop, (*dbtest.Server).Start},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.NewServer(t)
			app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = server.URL() })
			app.MailDomain(t, "example.net")
			send(t, app, anEmail)
			// A claim whose commit is lost in the outage remains valid for its whole lease.
			app.MX.Wait(t, "the first is delivered", func(s smtptest.Stats) bool { return s.Accepted == 1 })

			outage.begin(server)
			for _, r := range []struct {
				method, path string
				body         any
			}{
				{http.MethodPost, "/api/emails", anEmail},
				{http.MethodGet, "/api/emails", nil},
				{http.MethodGet, "/api/domains", nil},
				{http.MethodPost, "/api/emails", anEmail},
			} {
				checkUnavailable(t, app, r.method, r.path, r.body)
			}
			harness.Eventually(t, "it is not ready", func() bool {
				return app.Do(t, http.MethodGet, "/readyz", nil).
					Status == http.StatusServiceUnavailable
			})
			if got := app.Do(t, http.MethodGet, "/healthz", nil); got.Status != http.StatusOK {
				t.Errorf("liveness returned %d", got.Status)
			}
			outage.end(server)

			harness.Eventually(t, "accepts again", func() bool {
				return app.Do(t, http.MethodPost, "/api/emails", anEmail).Status == http.StatusOK
			})
			harness.Eventually(t, "ready again", func() bool {
				return app.Do(t, http.MethodGet, "/readyz", nil).
					Status == http.StatusOK
			})
			app.MX.Wait(t, "delivery continues", func(s smtptest.Stats) bool { return s.Accepted >= 2 })
		})
	}
}

func checkUnavailable(t *testing.T, app *harness.App, method, path string, body any) {
	t.Helper()
	begin := time.Now()
	got := app.Do(t, method, path, body)
	t.Logf("%s %s took %s", method, path, time.Since(begin))
	if took := time.Since(begin); took > outageLimit {
		t.Errorf("%s %s took %s", method, path, took)
	}
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" ||
		!bytes.Contains(got.Body, []byte("delivery_unavailable")) {
		t.Errorf("%s %s returned %d %s", method, path, got.Status, got.Body)
	}
}

// A stop waits for the delivery in progress, stores its outcome, and leaves no claims.
func TestStopDrainsDeliveriesInProgress(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = server.URL() })
	app.MailDomain(t, "example.net")
	app.MX.On(smtptest.Dot, "", smtptest.Stall())
	id := send(t, app, anEmail)
	app.MX.Wait(t, "the message is at its final dot", func(s smtptest.Stats) bool { return s.Messages == 1 })

	ended := make(chan error, 1)
	go func() { ended <- app.Stop() }()
	harness.Eventually(t, "the stop has begun", func() bool { return strings.Contains(app.Log.String(), "stopping:") })
	app.MX.Release() // the server disconnects without a reply: the outcome is unknown
	if err := <-ended; err != nil {
		t.Fatalf("stop: %v", err)
	}
	d := server.Open()
	var outcome, state string
	err := d.SQL.QueryRowContext(t.Context(),
		`SELECT a.outcome, r.state FROM attempts a JOIN recipients r ON r.id = a.recipient_id WHERE a.email_id = $1`, id).Scan(&outcome, &state)
	if err != nil || outcome != "unknown" || state != "deferred" {
		t.Errorf("outcome %q state %q (%v); want unknown and deferred", outcome, state, err)
	}
}

// A second run on the same data finds the records of the first one.
func TestSecondRunReusesData(t *testing.T) {
	t.Parallel()
	server := dbtest.NewServer(t)
	dir := t.TempDir()
	settings := func(s setting.RawValues) { s["DATABASE_URL"], s["POSTRIDER_DATA_DIR"] = server.URL(), dir }
	first := harness.Start(t, settings)
	first.MailDomain(t, "example.net")
	id := send(t, first, anEmail)
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	second := harness.Start(t, settings)
	if second.APIKey != first.APIKey || second.AccountID != first.AccountID {
		t.Errorf("account %s, then %s", first.AccountID, second.AccountID)
	}
	if got := second.Do(t, http.MethodGet, "/api/emails/"+id, nil); got.Status != http.StatusOK {
		t.Errorf("the email is gone: %d %s", got.Status, got.Body)
	}
}
