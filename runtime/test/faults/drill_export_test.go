package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postrider/postrider/modules/eventexport/jetstream/jetstreamtest"
	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

const factsStream = "postrider-facts"

// Processes export to three nats-servers, with the files of deploy/nats, under load. The leader of the stream
// is killed, and so is the process that holds the cursor; the long form also stops all servers. Every fact is
// in the stream once, and the facts of each account are in order.
func TestDrillEventExport(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	broker := faults.StartBroker(t)
	sink := faults.NewSink(t)
	nodes := faults.StartCluster(t, dbtest.URL(t), lengthOf(2, 3), outbound(sink.Listen("127.0.0.1:0")),
		"POSTRIDER_EVENTS_TO="+broker.URL())
	d := exportDrill{t: t, nodes: nodes, broker: broker, reader: broker.Reader()}
	stop := d.startLoad()
	d.awaitMove("the export begins", 40*time.Second, time.Now())
	for range lengthOf(1, 5) {
		leader := ""
		expect.Eventually(t, "the stream has a leader",
			func() bool { leader = faults.Leader(t.Context(), d.reader, factsStream); return leader != "" })
		broker.Kill(leader)
		killed := time.Now()
		atMost(t, "leader of the stream killed: gap", d.awaitMove("events are exported again", 40*time.Second, killed),
			20*time.Second)
		broker.StartAll()
	}
	if long {
		broker.Stop()
		back := time.Now().Add(time.Minute)
		expect.Eventually(t, "the servers have been down for a minute", func() bool { return time.Now().After(back) })
		broker.StartAll()
		atMost(t, "all servers stopped for a minute: resumed after their start",
			d.awaitMove("events are exported again", 90*time.Second, time.Now()), 45*time.Second)
	}
	for range lengthOf(1, 5) {
		holder := d.cursorHolder()
		holder.KillNow()
		killed := time.Now()
		atMost(t, "process with the cursor killed: taken over",
			d.awaitMove("another process exports", 40*time.Second, killed), 15*time.Second)
		if long {
			holder.Launch()
		}
	}
	stop()
	d.everyFactOnce()
}

// The disks of the nats-servers become full under load: first the leader's, then all. Mail continues, and the
// facts wait. After space is freed, every fact is in the stream once, and the facts of each account are in
// order.
func TestDrillEventExportToFullDisks(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	if !long {
		t.Skip("takes minutes: make drill ONLY=FullDisks")
	}
	stores := []string{dbtest.SmallDisk(t, "48m"), dbtest.SmallDisk(t, "48m"), dbtest.SmallDisk(t, "48m")}
	broker := faults.StartBrokerIn(t, stores...)
	sink := faults.NewSink(t)
	nodes := faults.StartCluster(t, dbtest.URL(t), 2, outbound(sink.Listen("127.0.0.1:0")), "POSTRIDER_EVENTS_TO="+
		broker.URL())
	d := exportDrill{t: t, nodes: nodes, broker: broker, reader: broker.Reader()}
	stop := d.startLoad()
	d.awaitMove("the export begins", 40*time.Second, time.Now())
	leader := ""
	expect.Eventually(t, "the stream has a leader",
		func() bool { leader = faults.Leader(t.Context(), d.reader, factsStream); return leader != "" })
	names := []string{"nats-1", "nats-2", "nats-3"}
	var undo []func()
	fill := func(which func(name string) bool) {
		for i, store := range stores {
			if which(names[i]) {
				undo = append(undo, dbtest.Fill(t, store))
			}
		}
	}
	fill(func(name string) bool { return name == leader })
	expect.Eventually(t, "another server leads", func() bool {
		now := faults.Leader(t.Context(), d.reader, factsStream)
		return now != "" && now != leader
	})
	atMost(t, "disk of the leader full: events are exported again",
		d.awaitMove("events are exported again", 40*time.Second, time.Now()), 20*time.Second)
	fill(func(name string) bool { return name != leader })
	d.awaitStop("full")
	stop()
	for _, free := range undo {
		free()
	}
	for _, name := range names { // a server whose disk was full does not resume its stream automatically
		broker.Restart(name)
	}
	atMost(t, "space freed, all restarted: resumed after",
		d.awaitMove("events are exported again", 90*time.Second, time.Now()), 45*time.Second)
	d.everyFactOnce()
}

// awaitStop waits until the export is stopped for the reason in the status, and checks that mail continues.
func (d exportDrill) awaitStop(because string) {
	d.t.Helper()
	expect.Eventually(d.t, "the export is stopped and reports why", func() bool {
		rows := d.nodes[0].Query(`SELECT error FROM event_exports WHERE failures > 2 AND moved_at < now() - interval '5 seconds'`)
		return len(rows) == 1 && strings.Contains(rows[0][0], because)
	})
	if printed := string(d.nodes[0].Command(d.nodes[0].Database(), "export", "status")); !strings.Contains(printed,
		because) {
		d.t.Errorf("postrider admin export status printed %s, want why the export is stopped", printed)
	}
	for i, node := range d.nodes {
		if a := node.Do(d.t.Context(), http.MethodPost, "/api/emails",
			`{"from":"ada@dev.test","to":"more@example.net","subject":"s","text":"t"}`); a.Status != http.StatusOK {
			d.t.Errorf("while the export is stopped, process %d returned %d %s for an email", i, a.Status, a.Body)
		}
		if a := node.Do(d.t.Context(), http.MethodGet, "/readyz", ""); a.Status != http.StatusOK ||
			!strings.Contains(string(a.Body), because) {
			d.t.Errorf("while the export is stopped, /readyz of process %d returned %d %s, want 200 with the reason", i,
				a.Status, a.Body)
		}
	}
}

type exportDrill struct {
	t      *testing.T
	nodes  faults.Cluster
	broker *faults.Broker
	reader nats.JetStreamContext
}

// startLoad sends to all processes until the returned function is called.
func (d exportDrill) startLoad() (stop func()) {
	ctx, cancel := context.WithCancel(d.t.Context())
	ledger := faults.NewLedger()
	var senders sync.WaitGroup
	for _, node := range d.nodes {
		senders.Go(func() {
			tick := time.NewTicker(lengthOf(40*time.Millisecond, 20*time.Millisecond))
			defer tick.Stop()
			for i := 0; ctx.Err() == nil; i++ {
				ledger.Send(ctx, node, fmt.Sprintf("e%d@example.net", i))
				<-tick.C
			}
		})
	}
	return func() {
		cancel()
		senders.Wait()
		figure(d.t, "messages accepted meanwhile", ledger.Count(), "> 0")
	}
}

// awaitMove waits until the position has moved after a time, and returns how long that took.
func (d exportDrill) awaitMove(what string, limit time.Duration, since time.Time) time.Duration {
	d.t.Helper()
	after := d.nodes[0].Query(`SELECT now()`)[0]
	expect.EventuallyWithin(d.t, limit, what, func() bool {
		return len(d.nodes[0].Query(`SELECT FROM event_exports WHERE moved_at > $1 AND failures = 0`, after[0])) > 0
	})
	return time.Since(since)
}

// cursorHolder returns the process that is currently publishing pages.
func (d exportDrill) cursorHolder() (found *faults.Server) {
	d.t.Helper()
	expect.Eventually(d.t, "a process has the cursor", func() bool {
		rows := d.nodes[0].Query(`SELECT n.name FROM event_exports e JOIN nodes n ON n.id = e.node`)
		if len(rows) == 0 {
			return false
		}
		var number int
		if _, err := fmt.Sscanf(rows[0][0], "node-%d", &number); err != nil {
			d.t.Fatalf("unexpected process name %s: %v", rows[0][0], err)
		}
		found = d.nodes[number-1]
		return true
	})
	return found
}

// everyFactOnce waits until the export has caught up, and compares the stream with the facts. others are processes of
// other installations that export to it.
func (d exportDrill) everyFactOnce(others ...*faults.Server) {
	d.t.Helper()
	const public = `type NOT IN ('email.rescheduled', 'automation.cancelled', 'automation.converted')`
	want, got := map[string][]string{}, map[string][]string{}
	total := 0
	for _, node := range append(others, d.nodes[0]) {
		expect.Eventually(d.t, "mail and export are idle", func() bool {
			return node.Query(`SELECT (SELECT count(*) FROM recipients WHERE state IN ('queued', 'deferred')) + (SELECT count(*) FROM facts f, event_exports e WHERE f.id > e.position)`)[0][0] == "0"
		})
		for _, row := range node.Query(`SELECT account_id, id FROM facts WHERE ` + public + ` ORDER BY id`) {
			want[row[0]] = append(want[row[0]], row[1])
			total++
		}
	}
	messages := jetstreamtest.Messages(d.t, d.reader, factsStream)
	seen := map[string]int{}
	for _, m := range messages {
		if seen[m.ID]++; seen[m.ID] == 1 {
			got[m.Account] = append(got[m.Account], m.ID)
		}
	}
	figure(d.t, "facts", total, "> 0")
	figure(d.t, "missing in the stream", total-len(seen), "0")
	figure(d.t, "duplicated in the stream", len(messages)-len(seen), "0")
	turned := 0
	for account, ids := range got {
		if !slices.IsSorted(ids) {
			turned++
		}
		if missing := slices.DeleteFunc(slices.Clone(want[account]),
			func(id string) bool { return seen[id] > 0 }); len(missing) > 0 {
			d.t.Errorf("the stream lacks facts of %s: %s", account, strings.Join(missing, " "))
		}
	}
	figure(d.t, "accounts out of order", turned, "0")
	if total == 0 || len(seen) != total || len(messages) != total || turned > 0 {
		d.t.Errorf("%d facts, %d messages with %d ids, %d accounts out of order", total, len(messages),
			len(seen), turned)
	}
}
