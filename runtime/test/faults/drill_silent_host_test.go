package faults_test

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// The first host of DATABASE_URL is silent, like a machine that has vanished: it accepts connections and
// does not respond, or does not even accept them. A process is still ready in time, and continues after all
// its connections must be reopened under load.
func TestDrillSilentFirstHost(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	for name, silent := range map[string]func(*testing.T) string{
		"accepts connections": func(t *testing.T) string { t.Helper(); return expect.SilentPort(t, new(atomic.Int64)) },
		"accepts none":        func(t *testing.T) string { t.Helper(); return expect.UnreachablePort(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := faults.NewSink(t)
			database := dbtest.URL(t)
			host := outbound(sink.Listen("127.0.0.1:0"))
			known := faults.Start(t, database, host) // by now, the program is built and the database has its account
			if err := known.Stop(); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			node := known.Moved(silentFirst(t, database, silent(t)), host)
			expect.Eventually(t, "it is ready",
				func() bool { return node.Do(t.Context(), http.MethodGet, "/readyz", "").Status == http.StatusOK })
			atMost(t, "ready after", time.Since(began), 6*time.Second)

			load := faults.BeginOn(faults.Cluster{node}, 1)
			count := func(n int) {
				t.Helper()
				expect.Eventually(t, "the load is running", func() bool { return load.Count() >= n })
			}
			count(lengthOf(50, 500))
			cut := time.Now()
			if _, err := faults.Query(t.Context(), database,
				`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
				t.Fatal(err)
			}
			expect.Eventually(t, "mail is accepted over new connections",
				func() bool { return load.LastAccepted().After(cut.Add(100 * time.Millisecond)) })
			atMost(t, "accepted again after all connections were closed", time.Since(cut), 6*time.Second)
			count(load.Count() + lengthOf(50, 500))
			load.End()
			expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
			awaitIdle(t, known)
			result := load.Audit(sink, known.OpenBetween(began, time.Now()), nil)
			figure(t, "doubled", result.Duplicates, "0")
			audit(t, result)
		})
	}
}

// silentFirst inserts a host before the host of an address, which is a machine or a folder with a socket.
func silentFirst(t *testing.T, server, port string) string {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	host, second := query.Get("host"), "5432"
	if host == "" {
		host = address.Hostname()
	}
	if given := address.Port(); given != "" {
		second = given
	}
	address.Host = ""
	query.Set("host", "127.0.0.1,"+host)
	query.Set("port", port+","+second)
	query.Set("target_session_attrs", "read-write")
	address.RawQuery = query.Encode()
	return address.String()
}
