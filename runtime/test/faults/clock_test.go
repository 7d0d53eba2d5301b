package faults_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// shiftTimes moves every time that the server stored within the last minutes, or that is due within the next
// ones, as if the database clock had been ahead by this duration and was corrected afterwards.
func shiftTimes(t *testing.T, s *faults.Server, by time.Duration) {
	t.Helper()
	const near = `BETWEEN now() - interval '10 minutes' AND now() + interval '10 minutes'`
	for _, c := range s.Query(`SELECT table_name, column_name FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'timestamp with time zone'`) {
		s.Query(fmt.Sprintf(`UPDATE %[1]s SET %[2]s = %[2]s + interval '%[3]d seconds' WHERE %[2]s %[4]s`, c[0], c[1], int(by.Seconds()), near))
	}
}

// The database clock was ahead, by an hour or by a day, when the server was killed. When it restarts, the clock
// is correct: waiting mail and webhooks are sent, clients get responses, and the step is reported.
func TestClockStepBackDelaysNothing(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	for _, step := range lengthOf([]time.Duration{time.Hour}, []time.Duration{time.Minute, time.Hour, 24 * time.Hour}) {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			sink := faults.NewSink(t)
			host := sink.Listen("127.0.0.1:0")
			host.Set(faults.Greeting, faults.Hold)
			server := faults.Start(t, dbtest.URL(t), outbound(host))
			server.Query(`UPDATE plans SET monthly_emails = NULL, daily_emails = NULL, requests_per_second = 5`)
			server.Query(`UPDATE accounts SET unmetered = false`)
			hook := newListener(t)
			hook.subscribe(t, server, `,"events":["email.sent","email.delivered"],"rate_limit":20`)
			ledger := faults.NewLedger()
			const messages = 8 // within the burst of two seconds
			for i := range messages {
				ledger.Send(t.Context(), server, fmt.Sprintf("n%d@d%d.test", i, i%3))
			}
			if ledger.Count() != messages {
				t.Fatalf("%d of %d messages were accepted", ledger.Count(), messages)
			}
			expect.Eventually(t, "attempts have begun", func() bool { return len(server.OpenAttempts()) > 0 })
			server.Kill()
			if err := host.Clear(); err != nil {
				t.Fatal(err)
			}
			shiftTimes(t, server, step)
			server.Launch()

			expect.Eventually(t, "the account gets responses", func() bool {
				return server.Do(t.Context(), http.MethodGet, "/api/account", "").Status == http.StatusOK
			})
			expect.Eventually(t, "every message has arrived", func() bool { return ledger.Missing(sink) == 0 })
			expect.Eventually(t, "every event was received",
				func() bool { heard, _ := hook.counts(); return heard == 2*messages })
			ready := server.Do(t.Context(), http.MethodGet, "/readyz", "")
			if ready.Status != http.StatusOK || !strings.Contains(string(ready.Body), `"database_clock":"degraded"`) ||
				!strings.Contains(string(ready.Body), "the database clock stepped back by") {
				t.Errorf("GET /readyz returned %d %s, want 200 with the step", ready.Status, ready.Body)
			}
			if !strings.Contains(server.Log.String(), "the database clock stepped back") {
				t.Error("the log does not report the step")
			}
			if by := steppedBy(t, server); by <= 0 || by > step {
				t.Errorf("the metrics report a step of %s, want at most %s, less the time since the clock was last recorded", by, step)
			}
			awaitIdle(t, server)
			audit(t, ledger.Audit(sink, server.Unknown(), nil))
		})
	}
}

// steppedBy returns by how much the database clock stepped back, according to the metrics.
func steppedBy(t *testing.T, server *faults.Server) time.Duration {
	t.Helper()
	const name = "postrider_database_clock_stepped_back_seconds "
	for line := range strings.Lines(string(server.Do(t.Context(), http.MethodGet, "/metrics", "").Body)) {
		if value, found := strings.CutPrefix(line, name); found {
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(seconds * float64(time.Second))
		}
	}
	t.Fatalf("the metrics do not contain %s", name)
	return 0
}
