package faults_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// One of three processes is killed in the middle of a burst. The others take over its claims; after a
// restart under its name, it does so immediately. Interrupted attempts are recorded: those that may have
// been delivered as unknown, the rest as not started.
func TestDrillKillOfOneProcessInBurst(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	nodes := faults.StartCluster(t, dbtest.URL(t), 3, outbound(host))
	ledger := faults.NewLedger()
	victim, witness := nodes[0], nodes[1]
	var byOthers, bySameName time.Duration
	kills, held, past := lengthOf(2, 20), 0, 0
	for kill := range kills {
		host.Set(faults.Reply, faults.Hold) // no attempt ends before the kill
		id := witness.Query(`SELECT max(id) FROM nodes WHERE name = 'node-1'`)[0][0]
		burst(t, nodes, ledger, fmt.Sprintf("k%d-", kill), lengthOf(600, 1200))
		open := func() int {
			return number(t, witness.Query(`SELECT count(*) FROM attempts WHERE outcome IS NULL AND node = $1`, id)[0][0])
		}
		expect.Eventually(t, "the victim is busy", func() bool { return open() > 20 && host.Hits() > 60 })
		victim.KillNow()
		killed := time.Now()
		held += open()
		restarted := kill%2 == 1
		if restarted {
			victim.Launch()
			killed = time.Now() // deliveries continue from here
		}
		expect.Eventually(t, "its claims are taken over", func() bool { return open() == 0 })
		taken := time.Since(killed)
		if restarted {
			bySameName = max(bySameName, taken)
		} else {
			byOthers = max(byOthers, taken)
			victim.Launch()
		}
		if err := host.Clear(); err != nil {
			t.Fatal(err)
		}
		expect.Eventually(t, "everything has arrived", func() bool { return ledger.Missing(sink) == 0 })
		awaitIdle(t, witness)
	}
	unknown := witness.Unknown()
	for _, n := range unknown {
		past += n
	}
	notStarted := witness.Query(`SELECT count(*) FROM attempts WHERE outcome = 'not_started'`)[0][0]
	result := ledger.Audit(sink, unknown, nil)
	figure(t, "kills in a burst", kills, "2 short, 20 long")
	figure(t, "interrupted attempts", held, "> 0")
	figure(t, "of them unknown, not started", strconv.Itoa(past)+", "+notStarted, "both")
	figure(t, "duplicates", result.Duplicates, "at most those unknown")
	audit(t, result)
	atMost(t, "taken over by others", byOthers, 13*time.Second)
	atMost(t, "taken over after a restart under the same name", bySameName, 2*time.Second)
	if held == 0 || past+number(t, notStarted) < held/2 {
		t.Errorf("%d attempts were interrupted, %d are unknown and %s not started", held, past, notStarted)
	}
}
