package journeys_test

import (
	"context"
	"database/sql"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// Clients that disconnect before they get their response, from any kind of endpoint, count as 499 in the log
// and in the metrics, and never as an error. Their requests wait for a lock in the meantime.
func TestJourneyDisconnectedClientsAreNotErrors(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	locker, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer locker.Close()
	for _, c := range []struct{ name, method, path, body, table, route string }{
		{"a list", "GET", "/api/emails", "", "emails", "GET /api/emails"},
		{"a send", "POST", "/api/emails", `{"from":"ada@dev.test","to":"a@example.net","subject":"s","text":"t"}`, "emails", "POST /api/emails"},
		{"a batch", "POST", "/api/emails/batch",
			`{"emails":[{"from":"ada@dev.test","to":"a@example.net","subject":"s","text":"t"}]}`, "emails",
			"POST /api/emails/batch"},
		{"an export", "GET", "/api/emails/export", "", "emails", "GET /api/emails/export"},
		{"a download", "GET", "/api/received-emails/inb_01kf0m4w7he6x8q2v5b3n9c1ta/raw", "", "received_emails", "GET /api/received-emails/{id}/raw"},
		{"a query", "POST", "/graphql", `{"query":"{ emails(first: 1) { nodes { id } } }"}`, "emails", "/graphql"},
		{"a sign-in", "POST", "/api/session", `{"email":"a@example.net","password":"wrong wrong wrong"}`, "users", "POST /api/session"},
		{"an event", "POST", "/api/events", `{"name":"signed_up","email":"a@example.net"}`, "custom_events", "POST /api/events"},
	} {
		tx, err := locker.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), `LOCK TABLE `+c.table+` IN ACCESS EXCLUSIVE MODE`); err != nil {
			t.Fatal(err)
		}
		leaveWhileWaiting := func() {
			// Background workers can wait for the table, too. A wait is new if its process and start are.
			before := queryWaits(t, tx, c.table)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r, err := http.NewRequestWithContext(ctx, c.method, app.BaseURL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			if c.path != "/api/session" {
				r.Header.Set("Authorization", "Bearer "+app.APIKey)
			}
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if a, err := http.DefaultClient.Do(r); err == nil {
					a.Body.Close()
				}
			}()
			harness.Eventually(t, c.name+" waits for the lock", func() bool {
				return slices.ContainsFunc(queryWaits(t, tx, c.table), func(wait string) bool {
					return !slices.Contains(before, wait)
				})
			})
			leave()
			<-gone
		}
		var left time.Time
		harness.Eventually(t, c.name+" is logged as a closed connection", func() bool {
			// If the new wait was a worker's, the client may have left before the service read the request, which
			// is not logged. A request that waits is logged when its lock timeout of 4 seconds ends.
			if time.Since(left) > 10*time.Second {
				leaveWhileWaiting()
				left = time.Now()
			}
			return strings.Contains(app.Log.String(), `route="`+c.route+`" status=499`) ||
				strings.Contains(app.Log.String(), `route=`+c.route+` status=499`)
		})
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	stream, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(stream, http.MethodGet, app.BaseURL+"/api/event-log/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+app.APIKey)
	a, err := http.DefaultClient.Do(r)
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("a stream of events returned %v, %v, want 200", a, err)
	}
	leave()
	a.Body.Close()
	harness.Eventually(t, "a stream is logged as a closed connection", func() bool {
		return strings.Contains(app.Log.String(), `route="GET /api/event-log/stream" status=499`)
	})
	for line := range strings.Lines(app.Log.String()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "status=500") {
			t.Errorf("a disconnected client is logged as %s, want no error", line)
		}
	}
	if got := string(app.Do(t, http.MethodGet, "/metrics", nil).Body); strings.Contains(got, `status="500"`) ||
		!strings.Contains(got, `status="499"`) {
		t.Error("the metrics count disconnected clients with status 500, want 499")
	}
}

// queryWaits returns the process and start of each wait for a lock on the table.
func queryWaits(t *testing.T, tx *sql.Tx, table string) []string {
	t.Helper()
	var waits pq.StringArray
	if err := tx.QueryRowContext(t.Context(), `SELECT coalesce(array_agg(pid || ' ' || waitstart), '{}') FROM pg_locks
		WHERE NOT granted AND waitstart IS NOT NULL AND relation = $1::regclass
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, table).Scan(&waits); err != nil {
		t.Fatal(err)
	}
	return waits
}
