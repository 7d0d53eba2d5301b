package faulttest_test

import (
	"os/exec"
	"path/filepath"
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
	dump, restore := tool(t, "pg_dump"), tool(t, "psql")
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
	file := filepath.Join(t.TempDir(), "dump.sql")
	run(t, dump, "--no-owner", "--file", file, old.URL())
	old.Stop()
	fresh := dbtest.EmptyURL(t)
	run(t, restore, "--quiet", "--set", "ON_ERROR_STOP=1", "--file", file, fresh)

	second := first.Moved(fresh, outbound(host))
	begin := time.Now()
	expect.Within(t, foundWithin, "everything has arrived", func() bool { return load.Missing(sink) == 0 })
	atMost(t, "all work was found after", time.Since(begin), foundWithin)
	settled(t, second)
	audit(t, load.Audit(sink, nil, nil))
}

// tool finds a client program of PostgreSQL. The servers that are fetched through
// npm come without them.
func tool(t *testing.T, name string) string {
	t.Helper()
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s is needed (Debian: apt-get install postgresql-client)", name)
	}
	return found[len(found)-1]
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, output)
	}
}
