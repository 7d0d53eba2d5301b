package bus

import (
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// A process is blocked in the middle of its scan while another one scans. Facts that the other process found
// handled, and whose records it deleted, are not delivered again.
func TestScanContinuesFromNewerMark(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	const facts = aheadMost + 100
	fill(t, d.SQL, facts)
	process := func() *group {
		return newGroup(New(d, slog.New(slog.DiscardHandler), Options{HandlerTimeout: time.Minute}),
			Consumer{Group: "g", Types: []event.Type{event.EmailSent, event.EmailDelivered, event.EmailBounced}})
	}
	horizon := id.Since(id.Fact, time.Now().Add(-HoldBack))
	handle := func() {
		t.Helper()
		execute(t, d.SQL, `WITH handled AS (DELETE FROM bus_messages RETURNING fact_id)
			INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids) SELECT 'g', min(fact_id), max(fact_id), array_agg(fact_id) FROM handled HAVING count(*) > 0`)
	}
	step := func(l *factScan, want int) {
		t.Helper()
		before := l.handed
		if _, err := l.scanStretch(t.Context()); err != nil || l.handed-before != want {
			t.Fatalf("a step of the scan delivered %d facts, want %d: %v", l.handed-before, want, err)
		}
	}
	execute(t, d.SQL, `INSERT INTO bus_marks (consumer, until_id, types) VALUES ('g', '', '{}')`)

	silent := &factScan{group: process(), horizon: horizon}
	step(silent, aheadMost)
	handle()
	other := process()
	step(&factScan{group: other, horizon: horizon}, facts-aheadMost)
	handle()
	step(&factScan{group: other, horizon: horizon}, 0)
	var recorded int
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM bus_handled`).Scan(&recorded); err != nil || recorded != 0 {
		t.Fatalf("%d records of handled facts remain below the mark, want none: %v", recorded, err)
	}
	step(silent, 0)
}
