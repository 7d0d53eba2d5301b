package faults_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// Two versions share one database, upgrading and downgrading: three processes of the older version are
// upgraded one after the other, an older one starts next to them, and all are downgraded on the newer
// schema. No client has to retry, and the endpoint receives every event once. The same holds if the newer
// version partitions the tables by month while the older ones keep using them.
func TestDrillVersionsSideBySide(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	older, newer := faults.Versions(t, long)
	t.Run("plain tables", func(t *testing.T) { t.Parallel(); versionsSideBySide(t, older, newer) })
	t.Run("tables by month", func(t *testing.T) {
		t.Parallel()
		// an older version can work with these
		versionsSideBySide(t, older, newer, "facts", "received_emails", "emails", "recipients", "attempts")
	})
}

// versionsSideBySide partitions some tables with the newer program once it is running.
func versionsSideBySide(t *testing.T, older, newer string, split ...string) {
	t.Helper()
	sink := faults.NewSink(t)
	nodes := faults.StartClusterAs(t, older, dbtest.EmptyURL(t), 3, outbound(sink.Listen("127.0.0.1:0")), drainDelay)
	front := faults.Balance(t, nodes)
	ready := func() bool { return front.Ready() == len(nodes) }
	expect.Eventually(t, "all are ready", ready)
	schema := func() string { return nodes[0].Query(`SELECT max(version) FROM schema_migrations`)[0][0] }
	before := schema()
	endpoint := newListener(t)
	endpoint.subscribe(t, nodes[0], `,"events":["email.sent","email.delivered"]`)
	load := faults.Begin(front.Behind(nodes[0]), lengthOf(1, 2))
	expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 50 })
	for i, step := range []struct {
		node    int
		program string
	}{{0, newer}, {1, older}, {1, newer}, {2, newer}, {0, older}, {1, older}, {2, older}} {
		if err := nodes[step.node].Stop(); err != nil {
			t.Errorf("a node exited with %v", err)
		}
		nodes[step.node].Become(step.program)
		nodes[step.node].Launch()
		expect.Eventually(t, "it is ready again", ready)
		if i == 0 && len(split) > 0 {
			t.Logf("%s", nodes[0].Command(nodes[0].Database(), append([]string{"partition"}, split...)...))
		}
	}
	load.End()
	expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
	awaitIdle(t, nodes[0])
	counts, _ := load.Statuses()
	failed := 0
	for status, n := range counts {
		if status != http.StatusOK {
			failed += n
		}
	}
	figure(t, "schema before and after", fmt.Sprintf("%s, %s", before, schema()), "-")
	figure(t, "answers", fmt.Sprint(counts), "200 only")
	result := load.Audit(sink, nil, nil)
	audit(t, result)
	if failed > 0 || result.Duplicates > 0 {
		t.Errorf("%d requests failed, %d duplicates: %v", failed, result.Duplicates, counts)
	}
	checkReceivedOnce(t, nodes[0], endpoint)
	for _, table := range split {
		if kind := nodes[0].Query(`SELECT relkind FROM pg_class WHERE oid = $1::regclass`, table)[0][0]; kind != "p" {
			t.Errorf("%s has relkind %s: the drill does not test what it should", table, kind)
		}
	}
}

// checkReceivedOnce checks that the endpoint received each event since it was created, and that no event has two
// deliveries.
func checkReceivedOnce(t *testing.T, server *faults.Server, endpoint *listener) {
	t.Helper()
	const untold = `SELECT count(*) FROM facts f, webhooks w WHERE f.account_id = w.account_id AND f.type IN ('email.sent', 'email.delivered') AND f.created_at > w.enabled_at + interval '1 second'
		AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = f.id AND d.webhook_id = w.id AND d.state = 'delivered')`
	expect.Eventually(t, "the endpoint receives every event", func() bool { return server.Query(untold)[0][0] == "0" })
	doubled := server.Query(`SELECT count(*) - count(DISTINCT (event_id, webhook_id)) FROM webhook_deliveries`)[0][0]
	heard, again := endpoint.counts()
	figure(t, "events that the endpoint received, and again", fmt.Sprintf("%d, %d", heard, again), "0 more")
	if doubled != "0" || again > 0 || heard == 0 {
		t.Errorf("%s deliveries are duplicates; %d events were received, %d of them again", doubled, heard, again)
	}
}
