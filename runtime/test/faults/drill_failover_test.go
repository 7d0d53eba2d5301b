package faults_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// hostList returns the address of several servers.
func hostList(t *testing.T, servers ...*dbtest.Server) string {
	t.Helper()
	var hosts []string
	var address *url.URL
	for _, server := range servers {
		one, err := url.Parse(server.URL())
		if err != nil {
			t.Fatal(err)
		}
		address, hosts = one, append(hosts, one.Query().Get("host"))
	}
	query := address.Query()
	query.Set("host", strings.Join(hosts, ","))
	query.Set("port", "5432"+strings.Repeat(",5432", len(hosts)-1))
	query.Set("target_session_attrs", "read-write")
	address.RawQuery = query.Encode()
	return address.String()
}

// A standby was promoted, and the old primary is started again by mistake: it is the first of the three
// hosts and accepts writes. A process that starts then, a running process and the commands write nothing,
// anywhere, until one of the two primaries is gone.
func TestDrillOldPrimaryRestarts(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	old := dbtest.NewServer(t)
	promoted, follower := old.NewStandby("one"), old.NewStandby("two")
	address := hostList(t, old, promoted, follower)
	running := faults.Start(t, address, outbound(sink.Listen("127.0.0.1:0")))
	load := faults.BeginOn(faults.Cluster{running}, 1)
	expect.Eventually(t, "mail is accepted", func() bool { return load.Count() >= 20 })
	old.Stop()
	promoted.Promote()
	follower.Follow(promoted)
	failedOver := time.Now()
	expect.Eventually(t, "the new primary is used", func() bool { return load.LastAccepted().After(failedOver) })
	load.End()
	awaitIdle(t, running)

	old.Start()
	stored := func(server *dbtest.Server) string {
		t.Helper()
		found, err := faults.Query(t.Context(), server.URL(),
			`SELECT (SELECT count(*) FROM emails)::text, (SELECT count(*) FROM nodes WHERE seen_at > now() - interval '6 seconds')::text`)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(found[0], " emails, nodes ")
	}
	expect.Eventually(t, "no process is still registered with the old primary",
		func() bool { return strings.HasSuffix(stored(old), " 0") })
	before := stored(old)
	back := time.Now()
	fresh := running.Fresh(address)
	expect.Eventually(t, "the running process is not ready", func() bool {
		a := running.Do(t.Context(), http.MethodGet, "/readyz", "")
		return a.Status == http.StatusServiceUnavailable && strings.Contains(string(a.Body), "two primaries")
	})
	atMost(t, "not ready after", time.Since(back), 10*time.Second)
	refused := 0
	var slowest time.Duration
	for time.Since(back) < lengthOf(8*time.Second, 30*time.Second) || refused < 20 {
		a := running.Do(t.Context(), http.MethodPost, "/api/emails",
			`{"from":"ada@dev.test","to":"bob@example.net","subject":"s","text":"t"}`)
		slowest = max(slowest, a.Took)
		if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
			t.Errorf("with two primaries a send returned %d %s, want 503 with Retry-After", a.Status, a.Body)
		}
		refused++
	}
	expect.Eventually(t, "the starting process reports why it does not start",
		func() bool { return strings.Contains(fresh.Log.String(), "hosts of DATABASE_URL accept writes") })
	if fresh.Log.String() != "" && strings.Contains(fresh.Log.String(), "node registered") {
		t.Error("the starting process has registered with a database")
	}
	for _, args := range [][]string{{"doctor", "--only", "database", "--json"}, {"backup", "--to", t.TempDir()}} {
		printed, told, err := running.Try(address, args...)
		if said := string(printed) + string(told); err == nil ||
			!strings.Contains(said, "accept writes for the same cluster") {
			t.Errorf("postrider %s exited with %v and printed %s, want it to report that two hosts accept writes",
				args[0], err, said)
		}
	}
	if after := stored(old); after != before {
		t.Errorf("the old primary has %s; it had %s before", after, before)
	}
	figure(t, "sends refused, slowest", refused, "all")
	atMost(t, "slowest refusal", slowest, 6*time.Second)

	old.Stop()
	alone := time.Now()
	fresh.AwaitReady()
	atMost(t, "the new process is ready after", time.Since(alone), 15*time.Second)
	both := faults.BeginOn(faults.Cluster{running, fresh}, 1)
	expect.Eventually(t, "both accept mail", func() bool {
		return both.Count() >= 20 && both.LastAccepted().
			After(alone)
	})
	both.End()
	expect.Eventually(t, "all accepted mail has arrived",
		func() bool { return load.Missing(sink)+both.Missing(sink) == 0 })
	awaitIdle(t, running)
	audit(t, both.Audit(sink, nil, nil))
}
