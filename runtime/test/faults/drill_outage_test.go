package faults_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// burst sends a number of messages, in batches, to each node in turn.
func burst(t *testing.T, nodes faults.Cluster, ledger *faults.Ledger, name string, messages int) {
	t.Helper()
	const size = 50
	var all sync.WaitGroup
	for at := 0; at < messages; at += size {
		all.Go(func() {
			to := make([]string, size)
			for i := range to {
				to[i] = fmt.Sprintf("%s%d@example.net", name, at+i)
			}
			ledger.SendBatch(t.Context(), nodes[at/size%len(nodes)], to)
		})
	}
	all.Wait()
}

// The database of three processes becomes unavailable in the middle of a burst, for longer than their
// leases. The first process that reconnects must not take over work that another has done and not stored
// yet: nothing arrives twice.
func TestDrillOutagesDuplicateNothing(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	type outage struct {
		name   string
		length time.Duration
		begin  func(t *testing.T, database *dbtest.Server)
		end    func(database *dbtest.Server)
	}
	stopped := func(length time.Duration) outage {
		return outage{"stopped for " + length.String(), length, func(t *testing.T, database *dbtest.Server) {
			t.Helper()
			if err := syscall.Kill(database.PID(), syscall.SIGQUIT); err != nil { // pg_ctl stop -m immediate
				t.Fatal(err)
			}
			database.Stop()
		}, (*dbtest.Server).Start}
	}
	frozen := func(length time.Duration) outage {
		return outage{"frozen for " + length.String(), length,
			func(_ *testing.T, database *dbtest.Server) { database.Freeze() }, (*dbtest.Server).Thaw}
	}
	for _, out := range lengthOf([]outage{stopped(15 * time.Second)},
		[]outage{stopped(5 * time.Second), stopped(15 * time.Second), stopped(30 * time.Second),
			stopped(time.Minute), stopped(2 * time.Minute), frozen(15 * time.Second), frozen(time.Minute)}) {
		t.Run(out.name, func(t *testing.T) {
			t.Parallel()
			sink := faults.NewSink(t)
			host := sink.Listen("127.0.0.1:0")
			database := dbtest.NewServer(t)
			nodes := faults.StartCluster(t, database.URL(), 3, outbound(host))
			load := faults.BeginOn(nodes, 1)
			expect.Eventually(t, "the load is running", func() bool { return sink.Count() > 50 })
			host.Set(faults.Reply, faults.Hold) // long enough for many deliveries to be in progress
			burst(t, nodes, load.Ledger, "burst", lengthOf(600, 1200))
			expect.Eventually(t, "deliveries are in progress", func() bool { return host.Hits() >= 50 })
			open := len(nodes[0].OpenAttempts())
			gone := time.Now()
			out.begin(t, database)
			if err := host.Clear(); err != nil { // they are delivered, and the outcomes cannot be stored
				t.Fatal(err)
			}
			<-time.After(out.length)
			awaitOutage(t, load)
			out.end(database)
			back, arrived := time.Now(), sink.Count()
			expect.Eventually(t, "mail is accepted again", func() bool { return load.LastAccepted().After(back) })
			accepts := time.Since(back)
			expect.Eventually(t, "mail is delivered again", func() bool { return sink.Count() > arrived })
			delivers := time.Since(back)
			load.End()
			expect.Eventually(t, "all accepted mail has arrived", func() bool { return load.Missing(sink) == 0 })
			awaitIdle(t, nodes[0])
			figure(t, "attempts open at the outage", open, "> 0")
			atMost(t, "accepts again after it is back", accepts, 10*time.Second)
			atMost(t, "delivers again after it is back", delivers, 10*time.Second)
			checkOutageResponses(t, load)
			result := load.Audit(sink, nodes[0].OpenBetween(gone, back), nil)
			audit(t, result)
			figure(t, "doubled", result.Duplicates, "0")
			if result.Duplicates > 0 || open == 0 {
				t.Errorf("%d duplicates of %d open attempts", result.Duplicates, open)
			}
		})
	}
}
