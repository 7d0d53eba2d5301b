package queue

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Most of the table is settled recipients, which no frequent statement may read.
func TestQueueUsesItsIndexes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("due@example.net"))
	f.Exec(t, `INSERT INTO recipients (email_id, account_id, kind, address, destination, state, settled_at)
		SELECT email_id, account_id, kind, n || address, destination, 'delivered', now() FROM recipients, generate_series(1, 20000) n`)
	f.Exec(t, `VACUUM ANALYZE recipients`)
	for name, c := range map[string]struct {
		statement string
		args      []any
		indexes   []string
	}{
		"unknown":    {unknownSQL, []any{MaxDepth}, []string{"attempt_in_doubt"}},
		"faults":     {faultsSQL, []any{MaxDepth, mostFaults}, []string{"attempt_in_doubt"}},
		"oldest due": {oldestDueSQL, nil, []string{"recipient_due"}},
		"list of queue": {`SELECT r.id FROM ` + Selection{All: true}.fromSQL(&db.Query{}, `r.id`), nil,
			[]string{"recipient_due", "recipient_lane", "recipient_held"}},
	} {
		lines, err := db.All(t.Context(), f.DB.SQL, db.Value[string], `EXPLAIN `+c.statement, c.args...)
		if err != nil {
			t.Fatalf("explain %s: %v", name, err)
		}
		plan := strings.Join(lines, "\n")
		for _, index := range c.indexes {
			if !strings.Contains(plan, index) {
				t.Errorf("%s does not use index %s:\n%s", name, index, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on recipients") {
			t.Errorf("%s reads the whole table:\n%s", name, plan)
		}
	}
}
