package bus

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A batch of a long queue reads only its own messages, although the statistics of the table are those of an almost
// empty one.
func TestLongQueueIsReadInOrderOfItsKey(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"no": `SELECT`, "other": `INSERT INTO bus_messages (consumer, fact_id) VALUES ('other', 'evt_1')`} {
		t.Run(name+" statistics", func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t)
			execute(t, d.SQL, before)
			execute(t, d.SQL, `ANALYZE bus_messages`)
			execute(t, d.SQL, `INSERT INTO bus_messages (consumer, fact_id) SELECT 'g', 'evt_' || n FROM generate_series(1, 20000) n`)
			checkQueuePlans(t, d)
		})
	}
}

func checkQueuePlans(t *testing.T, d *db.DB) {
	t.Helper()
	offsets := db.Array([]int64{2, 5, 9})
	for name, c := range map[string]struct {
		query string
		args  []any
		cond  string // that the index finds the rows by
	}{
		"reading a batch":   {selectMessages, []any{"g", 50}, "(consumer = "},
		"counting messages": {claimMark, []any{"g", db.Array([]string{}), 0, 0, aheadMost}, "(consumer = "},
		"handling a batch": {recordHandled, []any{"g", offsets, 2, 9, "evt_2", "evt_9", db.Array([]string{"evt_2"})},
			"(\"offset\" >= "},
	} {
		lines, err := db.All(t.Context(), d.SQL, db.Value[string], "EXPLAIN (COSTS OFF) "+c.query, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(lines, "\n")
		if !strings.Contains(plan, "Index Scan using bus_messages_pkey on bus_messages") || !strings.Contains(plan, c.cond) {
			t.Errorf("%s does not follow the key:\n%s", name, plan)
		}
	}
}
