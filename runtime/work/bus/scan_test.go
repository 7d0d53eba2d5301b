package bus

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

func TestPlanDeliversMissingFactsAndMovesMark(t *testing.T) {
	t.Parallel()
	some := []missing{{"evt_3", "acc_a"}, {"evt_4", "acc_b"}, {"evt_5", "acc_a"}}
	onlyB := func(account string) bool { return account == "acc_b" }
	for name, test := range map[string]struct {
		stretch scanResult
		horizon string
		room    int
		wants   func(string) bool
		want    plan
	}{
		"no facts":               {scanResult{from: "evt_1"}, "evt_9", 10, nil, plan{next: "evt_9", mark: "evt_9"}},
		"the horizon moved back": {scanResult{from: "evt_9"}, "evt_1", 10, nil, plan{next: "evt_9", mark: "evt_9"}},
		"all handled":            {scanResult{from: "evt_1", seen: 3, last: "evt_5"}, "evt_9", 10, nil, plan{next: "evt_9", mark: "evt_9"}},
		"all handled, and there are more": {scanResult{from: "evt_1", seen: stretchSize, last: "evt_5"}, "evt_9",
			10, nil, plan{next: "evt_5", mark: "evt_5", more: true}},
		"one is queued": {scanResult{from: "evt_1", seen: 3, last: "evt_5", waits: "evt_4"},
			"evt_9", 10, nil, plan{next: "evt_9", mark: "evt_4"}},
		"some missing": {scanResult{from: "evt_1", seen: 3, last: "evt_5", missing: some},
			"evt_9", 3, nil, plan{hand: []string{"evt_3", "evt_4", "evt_5"}, next: "evt_9", mark: "evt_3"}},
		"some missing after a queued one": {scanResult{from: "evt_1", seen: 4, last: "evt_5", missing: some,
			waits: "evt_2"}, "evt_9", 3, nil, plan{hand: []string{"evt_3", "evt_4", "evt_5"}, next: "evt_9",
			mark: "evt_2"}},
		"more missing than there is room for": {scanResult{from: "evt_1", seen: 3, last: "evt_5", missing: some},
			"evt_9", 2, nil, plan{hand: []string{"evt_3", "evt_4"}, next: "evt_5", mark: "evt_3", more: true}},
		"facts of one account are wanted": {scanResult{from: "evt_1", seen: 3, last: "evt_5", missing: some},
			"evt_9", 2, onlyB, plan{hand: []string{"evt_4"}, next: "evt_9", mark: "evt_4"}},
	} {
		got := test.stretch.planDeliveries(test.horizon, test.room, test.wants)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(plan{})); diff != "" {
			t.Errorf("%s: the plan differs (-want +got):\n%s", name, diff)
		}
	}
}

// The mark stays at a queued fact, however many facts are handled in later stretches of the same scan. When the
// message of the queued fact is lost, the fact is found.
func TestMarkStaysAtQueuedFact(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	fill(t, d.SQL, 2*stretchSize+1000)
	c := Consumer{Group: "g", Types: []event.Type{event.EmailSent, event.EmailDelivered, event.EmailBounced}}
	g := newGroup(New(d, slog.New(slog.DiscardHandler), Options{CatchUp: time.Hour, HandlerTimeout: time.Minute}), c)
	execute(t, d.SQL, `INSERT INTO bus_marks (consumer, until_id, types) VALUES ('g', '', $1)`, typeNames(c))
	execute(t, d.SQL, `INSERT INTO bus_messages (consumer, fact_id) SELECT 'g', id FROM facts ORDER BY id OFFSET 10 LIMIT 1`)
	execute(t, d.SQL, `INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids)
		SELECT 'g', min(id), max(id), array_agg(id) FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM facts WHERE id NOT IN (SELECT fact_id FROM bus_messages)) f GROUP BY n / 50`)
	look := func() (mark int) {
		t.Helper()
		execute(t, d.SQL, `UPDATE bus_marks SET looked_at = now() - interval '1 day'`)
		if more, err := g.scanFacts(t.Context(), false); err != nil || more {
			t.Fatalf("the scan ended with more: %t, %v", more, err)
		}
		if err := d.SQL.QueryRowContext(t.Context(), `SELECT count(*) FROM facts WHERE id < (SELECT until_id FROM bus_marks)`).Scan(&mark); err != nil {
			t.Fatal(err)
		}
		return mark
	}
	if mark := look(); mark != 10 {
		t.Errorf("the mark passed %d facts, want the 10 before the queued one", mark)
	}
	execute(t, d.SQL, `DELETE FROM bus_messages`)
	if mark := look(); mark != 10 {
		t.Errorf("the mark passed %d facts, want the 10 before the one that is delivered again", mark)
	}
	var waiting, all int
	if err := d.SQL.QueryRowContext(t.Context(),
		`SELECT (SELECT count(*) FROM bus_messages), (SELECT count(*) FROM facts)`).Scan(&waiting, &all); err != nil || waiting != 1 {
		t.Errorf("%d facts were delivered again, want only the one whose message was lost: %v", waiting, err)
	}
	execute(t, d.SQL, `INSERT INTO bus_handled (consumer, first_id, last_id, fact_ids) SELECT 'g', fact_id, fact_id, ARRAY[fact_id] FROM bus_messages`)
	execute(t, d.SQL, `DELETE FROM bus_messages`)
	if mark := look(); mark != all {
		t.Errorf("the mark passed %d of %d handled facts", mark, all)
	}
}
