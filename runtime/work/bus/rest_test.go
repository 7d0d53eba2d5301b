package bus_test

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/work/bus"
)

// A group with nothing to look at is asked about in one statement: its mark stays where it is
// for a while, and moves on at once when a fact has no message or is given back.
func TestAGroupAtRestIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on := b.bus(often, consumer("g", effect("g")))
	b.publish(on, factsOf(1)...)
	b.reached("g")
	mark := func() (n int) {
		return b.count(`SELECT (extract(epoch FROM looked_at) * 1000)::bigint % 1000000000 FROM bus_marks WHERE consumer = 'g'`)
	}
	begin, moved := time.Now(), map[int]bool{}
	b.until("two seconds have passed", func() bool {
		moved[mark()] = true
		return time.Since(begin) > 2*time.Second
	})
	// restMost, which a machine that stood still has seen the end of
	const rest = 20 * time.Second
	if most := 2 + int(time.Since(begin)/rest); len(moved) > most { // the look that was under way
		t.Errorf("the mark was looked at %d times in two seconds of rest, want none", len(moved)-1)
	}
	lost := factsOf(3)
	b.publish(bus.New(b.DB, discard(), bus.Options{}), lost...) // without messages
	b.reached("g")
	if n := b.count("SELECT count(*) FROM effects"); n != 4 {
		t.Errorf("%d facts of 4 were handled that happened before and after the rest", n)
	}
}
