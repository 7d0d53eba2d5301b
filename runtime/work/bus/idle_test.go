package bus_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/work/bus"
)

// An idle group costs one statement: its mark stays unchanged for a while, and moves on immediately when a
// fact has no message or is requeued.
func TestIdleGroupIsNotExamined(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(often, consumer("g", effect("g")))
	b.publish(on, factsOf(1)...)
	b.awaitMarks("g")
	mark := func() (n int) {
		return b.count(`SELECT (extract(epoch FROM looked_at) * 1000)::bigint % 1000000000 FROM bus_marks WHERE consumer = 'g'`)
	}
	begin, moved := time.Now(), map[int]bool{}
	b.awaitCondition("the group has been idle for two seconds", func() bool {
		moved[mark()] = true
		return time.Since(begin) > 2*time.Second
	})
	// restMost has ended, because the machine was paused
	const rest = 20 * time.Second
	if most := 2 + int(time.Since(begin)/rest); len(moved) > most { // the scan that was already running
		t.Errorf("the mark was examined %d times in two idle seconds, want none", len(moved)-1)
	}
	lost := factsOf(3)
	b.publish(bus.New(b.DB, discard(), bus.Options{}), lost...) // without messages
	b.awaitMarks("g")
	if n := b.count("SELECT count(*) FROM effects"); n != 4 {
		t.Errorf("%d of the 4 facts before and after the idle time were handled", n)
	}
}
