package faulttest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/expect"
	"github.com/postrider/postrider/runtime/faulttest"
)

// Two versions work side by side on one database, forwards and back: three of the older one
// become newer one after the other, an older one starts again beside them, and all go back on
// the newer schema. Nobody who sends meanwhile has to send again.
func TestDrillVersionsSideBySide(t *testing.T) {
	t.Parallel()
	older, newer := faulttest.Versions(t, long)
	sink := faulttest.NewSink(t)
	nodes := faulttest.StartClusterAs(t, older, dbtest.EmptyURL(t), 3, outbound(sink.Listen("127.0.0.1:0")), "POSTRIDER_DRAIN_DELAY=2s")
	front := faulttest.Balance(t, nodes)
	ready := func() bool { return front.Ready() == len(nodes) }
	expect.Within(t, 30*time.Second, "all are ready", ready)
	schema := func() string { return nodes[0].Query(`SELECT max(version) FROM schema_migrations`)[0][0] }
	before := schema()
	load := faulttest.Begin(front.Behind(nodes[0]), lengthOf(1, 2))
	expect.Within(t, 30*time.Second, "the load runs", func() bool { return sink.Count() > 50 })
	for _, step := range []struct {
		node    int
		program string
	}{{0, newer}, {1, older}, {1, newer}, {2, newer}, {0, older}, {1, older}, {2, older}} {
		if err := nodes[step.node].Stop(); err != nil {
			t.Errorf("a node ended with %v", err)
		}
		nodes[step.node].Become(step.program)
		nodes[step.node].Launch()
		expect.Within(t, 30*time.Second, "it is ready again", ready)
	}
	load.End()
	expect.Within(t, time.Minute, "all that was accepted has arrived", func() bool { return load.Missing(sink) == 0 })
	settled(t, nodes[0])
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
		t.Errorf("%d requests failed, %d messages were doubled: %v", failed, result.Duplicates, counts)
	}
}
