package faults_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/faults"
)

// foundWithin is the promised limit for work whose wake-up was lost.
const foundWithin = time.Minute

// A dump restored into another cluster continues where the first one stopped, even with an empty bus.
func TestDumpIsRestoredIntoNewCluster(t *testing.T) {
	expect.SkipWhenQuick(t, "make drill-short")
	t.Parallel()
	sink := faults.NewSink(t)
	host := sink.Listen("127.0.0.1:0")
	old := dbtest.NewServer(t)
	first := faults.Start(t, old.URL(), outbound(host), "POSTRIDER_DELIVERY_CONCURRENCY=0")
	endpoint := subscribe(t, first)
	stop := keepBusEmpty(t, old.URL())
	defer stop()
	load := faults.Begin(first, 1) // with scheduled emails
	expect.Eventually(t, "the load is running", func() bool { return load.Count() >= lengthOf(100, 5000) })
	load.End()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	stop()
	fresh := copyDatabase(t, old.URL())
	old.Stop()
	second := first.Moved(fresh, outbound(host))
	begin := time.Now()
	expect.Eventually(t, "everything has arrived", func() bool { return load.Missing(sink) == 0 })
	atMost(t, "all work was found after", time.Since(begin), foundWithin)
	awaitIdle(t, second)
	awaitProcessed(t, second)
	endpoint.checkReceivedOnce(t, second)
	audit(t, load.Audit(sink, nil, nil))
}
