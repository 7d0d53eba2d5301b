package faults_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/test/faults"
	"github.com/postrider/postrider/runtime/test/faults/patroni"
)

// Three database machines under Patroni, configured as in deploy/patroni, and two processes with the list of
// hosts. Machines fail in every known way. Accepted mail is never lost, and mail is accepted again in time.
func TestDrillPatroni(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	if !long {
		t.Skip("takes minutes: make drill ONLY=Patroni")
	}
	if what := patroni.Absent(); what != "" {
		t.Skip("cannot run here: " + what)
	}
	cluster := patroni.Start(t, "../../../deploy/patroni")
	sink := faults.NewSink(t)
	nodes := faults.StartCluster(t, cluster.URL(), 2, outbound(sink.Listen("127.0.0.1:0")),
		"POSTRIDER_DATABASE_STANDBYS=1")
	awaitReady(t, nodes)
	type fault struct {
		name  string
		limit time.Duration
		fault func(t *testing.T, leader *patroni.Machine)
		undo  func(leader *patroni.Machine)
	}
	try := func(c fault) {
		t.Run(c.name, func(t *testing.T) {
			cluster.AwaitWhole(2 * time.Minute)
			awaitReady(t, nodes)
			leader := cluster.Leader()
			load := faults.BeginOn(nodes, 1)
			expect.Eventually(t, "the load is running", func() bool { return load.Count() > 50 })
			began := time.Now()
			c.fault(t, leader)
			longest := longestGap(load, began.Add(c.limit+15*time.Second))
			fixed := time.Now()
			if c.undo != nil {
				c.undo(leader)
			}
			load.End()
			atMost(t, "longest time without an accepted email", longest, c.limit)
			if n := load.Contradictions(); n > 0 {
				t.Errorf("%d replays of a key had a different response", n)
			}
			cluster.AwaitWhole(2 * time.Minute)
			expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
			awaitIdle(t, nodes[0])
			awaitRequestLog(t, nodes[0])
			result := load.Audit(sink, nodes[0].OpenBetween(began, fixed), nil)
			figure(t, "doubled", result.Duplicates, "0")
			audit(t, result)
		})
	}
	for _, c := range []fault{
		{"switchover", 5 * time.Second, // Patroni takes most of this time, see docs/clusters.md
			func(t *testing.T, _ *patroni.Machine) { t.Helper(); cluster.Switchover() }, nil},
		{"PostgreSQL killed", 15 * time.Second, func(_ *testing.T, leader *patroni.Machine) { leader.KillPostgres() }, nil},
		{"machine killed", 35 * time.Second, func(_ *testing.T, leader *patroni.Machine) { leader.Kill() }, (*patroni.Machine).Start},
		{"machine silent", 45 * time.Second, func(_ *testing.T, leader *patroni.Machine) { leader.Freeze() }, (*patroni.Machine).Thaw},
	} {
		try(c)
	}
	t.Run("etcd without a majority", func(t *testing.T) {
		cluster.AwaitWhole(2 * time.Minute)
		awaitReady(t, nodes)
		load := faults.BeginOn(nodes, 1)
		expect.Eventually(t, "the load is running", func() bool { return load.Count() > 50 })
		began := time.Now()
		cluster.Machines[0].StopEtcd()
		cluster.Machines[1].StopEtcd()
		expect.Eventually(t, "no process is ready", func() bool {
			for _, n := range nodes {
				if n.Do(t.Context(), http.MethodGet, "/readyz", "").Status == http.StatusOK {
					return false
				}
			}
			return true
		})
		expect.Eventually(t, "nothing is accepted",
			func() bool { return time.Since(load.LastAccepted()) > 3*time.Second })
		figure(t, "nothing accepted after", load.LastAccepted().Sub(began), "-")
		before := load.Count()
		a := nodes[0].Do(t.Context(), http.MethodPost, "/api/emails",
			`{"from":"ada@dev.test","to":"late@example.net","subject":"s","text":"t"}`)
		if a.Status != http.StatusServiceUnavailable {
			t.Errorf("without a primary a send returned %d", a.Status)
		}
		figure(t, "accepted without a primary", load.Count()-before, "0")
		cluster.Machines[0].ResumeEtcd()
		cluster.Machines[1].ResumeEtcd()
		back := time.Now()
		expect.Eventually(t, "mail is accepted again", func() bool { return load.LastAccepted().After(back) })
		atMost(t, "accepted again after", time.Since(back), 45*time.Second)
		fixed := time.Now()
		load.End()
		cluster.AwaitWhole(2 * time.Minute)
		expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
		awaitIdle(t, nodes[0])
		result := load.Audit(sink, nodes[0].OpenBetween(began, fixed), nil)
		figure(t, "doubled", result.Duplicates, "0")
		audit(t, result)
	})
	// This case is last: in one run the leader that had been cut off needed `patronictl reinit` to follow
	// again.
	try(fault{"network cut", 45 * time.Second, func(t *testing.T, leader *patroni.Machine) {
		t.Helper()
		if !cluster.Cables() {
			t.Skip("requires root and network namespaces")
		}
		leader.Cut()
	}, (*patroni.Machine).Mend})
}

// awaitReady waits until every process is ready.
func awaitReady(t *testing.T, nodes faults.Cluster) {
	t.Helper()
	expect.Eventually(t, "all are ready", func() bool {
		for _, n := range nodes {
			if n.Do(t.Context(), http.MethodGet, "/readyz", "").Status != http.StatusOK {
				return false
			}
		}
		return true
	})
}

// awaitRequestLog waits until the request log, whose table is empty after a failover, has entries again.
func awaitRequestLog(t *testing.T, node *faults.Server) {
	t.Helper()
	expect.Eventually(t, "requests are logged", func() bool {
		return node.Do(t.Context(), http.MethodGet, "/api/emails", "").Status == http.StatusOK && node.Query(`SELECT count(*) FROM api_requests`)[0][0] != "0"
	})
}

// longestGap returns the longest period up to a time in which no email was accepted.
func longestGap(load *faults.Load, until time.Time) (longest time.Duration) {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for now := range look.C {
		longest = max(longest, now.Sub(load.LastAccepted()))
		if now.After(until) {
			return longest
		}
	}
	return longest
}
