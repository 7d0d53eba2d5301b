package faults_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// A database responds but stores nothing: readiness reports it within ten seconds, with or without requests,
// and liveness stays OK. Requests are rejected in time, none is rejected permanently for its key, and
// everything resumes automatically.
func TestDrillReadinessReflectsStoredWrites(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	for name, c := range map[string]struct {
		server func(t *testing.T) *dbtest.Server
		fault  func(t *testing.T, s *dbtest.Server) (undo func())
		idle   bool
	}{
		"read-only": {fault: func(_ *testing.T, s *dbtest.Server) func() {
			s.SetReadOnly(true)
			return func() { s.SetReadOnly(false) }
		}},
		"commits hang": {fault: func(_ *testing.T, s *dbtest.Server) func() {
			s.SetHangingCommits(true)
			return func() { s.SetHangingCommits(false) }
		}},
		"full disk, no requests": {
			server: func(t *testing.T) *dbtest.Server {
				t.Helper()
				return dbtest.NewServerIn(t, dbtest.SmallDisk(t, "300m"))
			},
			fault: func(t *testing.T, s *dbtest.Server) func() { t.Helper(); return dbtest.Fill(t, s.Folder()) },
			idle:  true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.server == nil {
				c.server = func(t *testing.T) *dbtest.Server { t.Helper(); return dbtest.NewServer(t) }
			}
			database := c.server(t)
			sink := faults.NewSink(t)
			server := faults.Start(t, database.URL(), outbound(sink.Listen("127.0.0.1:0")))
			ready := func() bool {
				return server.Do(t.Context(), http.MethodGet, "/readyz", "").
					Status == http.StatusOK
			}
			expect.Eventually(t, "it is ready", ready)
			load := faults.Begin(server, 1)
			expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 20 })
			if c.idle {
				load.End()
				awaitIdle(t, server)
			}
			undo := c.fault(t, database)
			broken := time.Now()
			last, most := broken, 0 // times of the last ready state, and the maximum of the server's connections
			end := broken.Add(lengthOf(12*time.Second, time.Minute))
			for is := true; is || time.Now().Before(end); <-time.After(100 * time.Millisecond) {
				if is = ready(); is {
					last = time.Now()
				}
				if last.After(end.Add(expect.Patience)) {
					t.Fatal("the process never reported that it is not ready")
				}
				const connectionsSQL = `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'`
				rows, err := faults.Query(t.Context(), database.URL(), connectionsSQL)
				switch {
				case err == nil:
					most = max(most, number(t, rows[0][0]))
				case !c.idle: // on a full disk, PostgreSQL may refuse a new connection
					t.Fatal(err)
				}
			}
			unready := last.Sub(broken)
			figure(t, "connections of the server, maximum", most, "-")
			if a := server.Do(t.Context(), http.MethodGet, "/healthz", ""); a.Status != http.StatusOK {
				t.Errorf("liveness returned %d", a.Status)
			}
			if !c.idle {
				awaitOutage(t, load)
			}
			undo()
			fixed := time.Now()
			expect.Eventually(t, "it is ready again", ready)
			back := time.Since(fixed)
			if !c.idle {
				expect.Eventually(t, "mail is accepted again", func() bool { return load.LastAccepted().After(fixed) })
				load.End()
			}
			expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
			awaitIdle(t, server)
			atMost(t, "not ready after", unready, 10*time.Second)
			atMost(t, "ready again after", back, 10*time.Second)
			if !c.idle {
				// A request whose commit hangs holds its key; a retry gets a response that says so.
				checkOutageResponses(t, load, http.StatusConflict)
			}
			refused := server.Query(`SELECT count(*) FROM idempotency_keys WHERE status <> 200`)[0][0]
			figure(t, "rejections stored under a key", refused, "0")
			if n := load.Contradictions(); n > 0 || refused != "0" {
				t.Errorf("%d replays of a key had a different response, %s rejections are stored", n, refused)
			}
			audit(t, load.Audit(sink, server.OpenBetween(broken, fixed), nil))
		})
	}
}
