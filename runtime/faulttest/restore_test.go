package faulttest_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/expect"
	"github.com/postrider/postrider/runtime/faulttest"
)

// foundWithin is the promise for work whose wake-up is gone.
const foundWithin = time.Minute

// The bus holds nothing that is not in the tables: emptied under load, and while
// nobody runs, it costs no mail.
func TestEmptiedBusLosesNothing(t *testing.T) {
	t.Parallel()
	sink := faulttest.NewSink(t)
	server := faulttest.Start(t, dbtest.URL(t), outbound(sink.Listen("127.0.0.1:0")))
	load := faulttest.Begin(server, 1)
	for range lengthOf(5, 50) {
		before := sink.Count()
		expect.Within(t, 20*time.Second, "the load runs", func() bool { return sink.Count() > before })
		server.Query(`DELETE FROM bus_messages`)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	server.Query(`DELETE FROM bus_messages`)
	server.Launch()
	begin := time.Now()
	load.End()
	expect.Within(t, foundWithin, "everything has arrived", func() bool { return load.Missing(sink) == 0 })
	atMost(t, "all work was found after", time.Since(begin), foundWithin)
	settled(t, server)
	audit(t, load.Audit(sink, nil, nil))
}

// A dump restored into another cluster goes on where the first one was.
func TestDumpIsRestoredIntoANewCluster(t *testing.T) {
	t.Parallel()
	sink := faulttest.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	old := dbtest.NewServer(t)
	first := faulttest.Start(t, old.URL(), outbound(host), "POSTRIDER_DELIVERY_CONCURRENCY=0")
	load := faulttest.Begin(first, 1) // with emails that are scheduled
	expect.Within(t, 20*time.Second, "the load runs", func() bool { return load.Count() >= lengthOf(100, 5000) })
	load.End()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	fresh := moved(t, old.URL())
	old.Stop()
	second := first.Moved(fresh, outbound(host))
	begin := time.Now()
	expect.Within(t, foundWithin, "everything has arrived", func() bool { return load.Missing(sink) == 0 })
	atMost(t, "all work was found after", time.Since(begin), foundWithin)
	settled(t, second)
	audit(t, load.Audit(sink, nil, nil))
}
