package journeys_test

import (
	"database/sql"
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Requests of an account to REST and to GraphQL share one limit. With a rate of one per second, as few are
// admitted as with one of them alone.
func TestRESTAndGraphQLShareTheRateLimit(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	begin := limitRate(t, url, app)

	var admitted, refused int
	// more rounds if each takes a second
	for round := 0; round < 6 || refused == 0 && time.Since(begin) < expect.Patience; round++ {
		for _, answer := range []harness.Answer{
			app.Do(t, http.MethodGet, "/api/emails", nil),
			app.Do(t, http.MethodPost, "/graphql", `{"query":"{ __typename }"}`),
		} {
			if answer.Header.Get("ratelimit-limit") != "2" || answer.Header.Get("ratelimit-remaining") == "" ||
				answer.Header.Get("ratelimit-reset") == "" {
				t.Errorf("headers of %d: %v", answer.Status, answer.Header)
			}
			switch answer.Status {
			case http.StatusOK:
				admitted++
			case http.StatusTooManyRequests:
				refused++
				if answer.Header.Get("Retry-After") != "1" {
					t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
				}
			default:
				t.Errorf("response %d %s", answer.Status, answer.Body)
			}
		}
	}
	// Two at first, one of which meter has used, and one more for every second since.
	if limit := 1 + int(time.Since(begin).Seconds()); admitted > limit || refused == 0 {
		t.Errorf("%d were admitted and %d rejected; one shared limit admits %d in this time", admitted, refused, limit)
	}
}

// limitRate limits the development account, which is otherwise unlimited, to one request per second, and sends
// requests until one is counted. It was counted after begin.
func limitRate(t *testing.T, url string, app *harness.App) (begin time.Time) {
	t.Helper()
	handle, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer handle.Close()
	const change = `WITH p AS (UPDATE plans SET requests_per_second = 1) UPDATE accounts SET unmetered = false`
	if _, err := handle.ExecContext(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the account is limited", func() bool {
		begin = time.Now()
		return app.Do(t, http.MethodGet, "/api/emails", nil).Header.Get("ratelimit-limit") == "2"
	})
	return begin
}
