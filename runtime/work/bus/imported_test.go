package bus

import (
	"log/slog"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/event"
)

// Groups that run do not get imported facts, even if these are later than their marks.
func TestImportedFactsAreNotDelivered(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	fill(t, d.SQL, 50_000)
	execute(t, d.SQL, `UPDATE facts SET account_id = CASE type WHEN 'email.sent' THEN 'acc_imported' ELSE 'acc_here' END`)
	c := Consumer{Group: "g", Types: []event.Type{event.EmailSent, event.EmailDelivered}}
	mark := id.Since(id.Fact, time.Now().Add(-30*time.Minute))
	execute(t, d.SQL, `INSERT INTO bus_marks (consumer, until_id, types) VALUES ('g', $1, $2), ('off', '', '{}')`, mark, typeNames(c))
	if err := RecordImported(t.Context(), d.SQL, "acc_imported"); err != nil {
		t.Fatal(err)
	}
	execute(t, d.SQL, `UPDATE bus_marks SET looked_at = now() - interval '1 day'`)
	g := newGroup(New(d, slog.New(slog.DiscardHandler), Options{CatchUp: time.Hour, HandlerTimeout: time.Minute}), c)
	if _, err := g.scanFacts(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string]int{
		"imported facts were delivered":  dbtest.Count(t, d, `SELECT count(*) FROM bus_messages m JOIN facts f ON f.id = m.fact_id WHERE f.account_id = 'acc_imported'`),
		"facts of others are missing":    dbtest.Count(t, d, `SELECT count(*) FROM facts WHERE account_id = 'acc_here' AND type = 'email.delivered' AND id >= $1 AND id NOT IN (SELECT fact_id FROM bus_messages)`, mark),
		"records are of a group off":     dbtest.Count(t, d, `SELECT count(*) FROM bus_handled WHERE consumer = 'off'`),
		"facts of others should be more": 1 - min(1, dbtest.Count(t, d, `SELECT count(*) FROM bus_messages`)),
	} {
		if n != 0 {
			t.Errorf("%s: %d, want 0", what, n)
		}
	}
}
