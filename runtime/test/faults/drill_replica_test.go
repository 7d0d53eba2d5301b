package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// Two processes alternately write and list with a replica that keeps up, replays nothing, is frozen, replays
// an hour late and recovers: a list never misses accepted mail, whichever process accepted it, and no
// process becomes not ready.
func TestDrillReplica(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	primary := dbtest.NewServer(t)
	standby := primary.NewStandby("reads")
	nodes := faults.StartCluster(t, primary.URL(), 2, outbound(sink.Listen("127.0.0.1:0")),
		"POSTRIDER_DATABASE_REPLICA_URL="+standby.URL())
	ledger := faults.NewLedger()
	used := func() bool {
		return replicaFigure(t, nodes[0], "passed_over") == 0 && replicaFigure(t, nodes[1], "passed_over") == 0
	}
	expect.Eventually(t, "both processes use the replica", used)
	slowest := map[string]time.Duration{}
	sent := 0
	writeAndList := func(phase string, n int) {
		t.Helper()
		missed := 0
		for range n {
			to := fmt.Sprintf("r%d@example.net", sent)
			writer, reader := nodes[sent%2], nodes[(sent+1)%2]
			sent++
			ledger.Send(t.Context(), writer, to)
			a := reader.Do(t.Context(), http.MethodGet, "/api/emails?limit=1&q="+to, "")
			slowest[phase] = max(slowest[phase], a.Took)
			if a.Status != http.StatusOK || !strings.Contains(string(a.Body), to) {
				missed++
				t.Errorf("%s: after %s was accepted the list returned %d %s", phase, to, a.Status, a.Body)
			}
			if ready := reader.Do(t.Context(), http.MethodGet, "/readyz", ""); ready.Status != http.StatusOK {
				t.Errorf("%s: not ready: %d %s", phase, ready.Status, ready.Body)
			}
		}
		figure(t, phase+": accepted but not listed", missed, "0")
	}
	writeAndList("it keeps up", lengthOf(40, 500))
	// on a busy machine it is not always up to date
	if n := replicaFigure(t, nodes[0], `reads_total{server="replica"}`) + replicaFigure(t, nodes[1],
		`reads_total{server="replica"}`); int(n) < lengthOf(1, sent*3/4) {
		t.Errorf("an up-to-date replica served %v of %d lists", n, sent)
	}
	checkStatistics(t, nodes[0], sent)

	standby.PauseReplay(true)
	writeAndList("it replays nothing", lengthOf(20, 200))
	checkStatistics(t, nodes[1], sent)
	expect.Eventually(t, "it is skipped", func() bool { return replicaFigure(t, nodes[0], "passed_over") == 1 })
	writeAndList("it is passed over", lengthOf(20, 200))
	if ready := string(nodes[0].Do(t.Context(), http.MethodGet, "/readyz", "").Body); !strings.Contains(ready,
		`"replica":"degraded"`) {
		t.Errorf("/readyz returned %s, want it to name the replica", ready)
	}
	standby.PauseReplay(false)
	expect.Eventually(t, "both processes use it again", used)
	standby.Freeze()
	writeAndList("it is frozen", lengthOf(20, 200))
	standby.Thaw()
	expect.Eventually(t, "both processes use it again", used)
	writeAndList("it is back", lengthOf(20, 200))
	standby.ReplayLate(time.Hour)
	writeAndList("it begins to be late", lengthOf(20, 200))
	checkLateReplica(t, nodes, func() { writeAndList("it is late", lengthOf(20, 200)) })
	standby.ReplayLate(0)
	expect.Eventually(t, "both processes use it again", used)
	writeAndList("it has caught up", lengthOf(20, 200))
	checkStatistics(t, nodes[0], sent)
	for _, phase := range []string{"it keeps up", "it replays nothing", "it is passed over", "it is frozen",
		"it is back", "it begins to be late", "it is late", "it has caught up"} {
		atMost(t, phase+": slowest list", slowest[phase], 6*time.Second)
	}
	expect.Eventually(t, "everything that was accepted has arrived", func() bool { return ledger.Missing(sink) == 0 })
	awaitIdle(t, nodes[0])
	audit(t, ledger.Audit(sink, nil, nil))
}

// checkLateReplica checks that a late replica is reported, and that nothing is read from it while others write
// and list.
func checkLateReplica(t *testing.T, nodes faults.Cluster, writeAndList func()) {
	t.Helper()
	answered := func() (n float64) {
		for _, node := range nodes {
			n += replicaFigure(t, node, `reads_total{server="replica"}`)
		}
		return n
	}
	for i, node := range nodes {
		expect.Eventually(t, "it is skipped", func() bool { return replicaFigure(t, node, "passed_over") == 1 })
		if lag := replicaFigure(t, node, "lag_seconds"); lag < 5 {
			t.Errorf("process %d reports a lag of %v s for a late replica", i, lag)
		}
		if ready := string(node.Do(t.Context(), http.MethodGet, "/readyz", "").Body); !strings.Contains(ready,
			`"replica":"degraded"`) || !strings.Contains(ready, "behind") {
			t.Errorf("/readyz of process %d returned %s, want it to report that the replica is behind", i, ready)
		}
		if log := node.Log.String(); !strings.Contains(log[strings.LastIndex(log, "the database replica"):], "behind") {
			t.Errorf("the last log line of process %d about the replica does not report that it is behind", i)
		}
	}
	before := answered()
	writeAndList()
	figure(t, "it is late: lists that it served", int(answered()-before), "0")
	if now := answered(); now != before {
		t.Errorf("a late replica served %v reads", now-before)
	}
	printed, _, err := nodes[0].Try(nodes[0].Database(), "doctor", "--json")
	if !strings.Contains(string(printed), "it has not caught up yet") && !strings.Contains(string(printed), "behind") {
		t.Errorf("postrider doctor does not report that the replica is late (%v): %s", err, printed)
	}
}

// replicaFigure reads a metric of the replica. It fails the test if the metric does not exist.
func replicaFigure(t *testing.T, s *faults.Server, name string) float64 {
	t.Helper()
	text := s.Do(t.Context(), http.MethodGet, "/metrics", "").Body
	found := regexp.MustCompile(`(?m)^postrider_replica_` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("the metric postrider_replica_%s does not exist", name)
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// checkStatistics runs every query that a replica may serve, and checks the number of emails.
func checkStatistics(t *testing.T, s *faults.Server, accepted int) {
	t.Helper()
	now := time.Now().UTC()
	within := fmt.Sprintf(`range: {gte: %q, lt: %q}`, now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Hour).
		Format(time.RFC3339))
	query := `{
		emailStatistics(` + within + `, interval: HOUR, groupBy: TAG) { totals { accepted } }
		topBounceReasons(` + within + `) { count }
		receivedStatistics(` + within + `, groupBy: DOMAIN) { totals { received } }
		webhookStatistics(` + within + `) { totals { deliveries } }
		emails(first: 5, filter: {query: "example"}) { nodes { id snippet } count { value } }
		receivedEmails(first: 5, filter: {query: "nothing"}) { nodes { id } count { value } }
	}`
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Errors []any
		Data   struct {
			EmailStatistics struct{ Totals struct{ Accepted int } }
			Emails          struct {
				Nodes []struct{ ID, Snippet string }
				Count struct{ Value int }
			}
		}
	}
	expect.Eventually(t, "the statistics count every accepted email", func() bool { // they are counted in batches
		a := s.Do(t.Context(), http.MethodPost, "/graphql", string(body))
		var got answer
		if err := json.Unmarshal(a.Body, &got); err != nil || len(got.Errors) > 0 {
			t.Fatalf("the query returned %d %s (%v)", a.Status, a.Body, err)
		}
		d := got.Data
		if d.Emails.Count.Value != accepted || len(d.Emails.Nodes) != 5 || d.Emails.Nodes[0].Snippet == "" ||
			d.EmailStatistics.Totals.Accepted > accepted {
			t.Fatalf("after %d accepted emails the response is %s", accepted, a.Body)
		}
		return d.EmailStatistics.Totals.Accepted == accepted
	})
}
