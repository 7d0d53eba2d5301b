package sending

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/migrate/migrations"
)

// Until its own column came, a lane of that name said that a recipient is held.
func TestMigrationKeepsWhoHolds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, simple("queued@example.net", "parked@example.net", "operator@example.net", "account@example.net"))
	f.exec(t, `DROP INDEX recipient_held, recipient_due; ALTER TABLE recipients DROP COLUMN held_by;
		CREATE INDEX recipient_due ON recipients (due_at) WHERE due_at IS NOT NULL AND lane IS NULL`)
	for address, lane := range map[string]string{"parked": " example.net", "operator": "held", "account": "held:account"} {
		f.exec(t, `UPDATE recipients SET lane = $1 WHERE address = $2`, lane, address+"@example.net")
	}
	migration, err := migrations.Files.ReadFile("20261122184652_held_by.sql")
	if err != nil {
		t.Fatal(err)
	}
	f.exec(t, string(migration))
	if diff := cmp.Diff([]string{"queued queued", "parked parked", "operator held", "account held"}, f.standing(t, Selection{All: true})); diff != "" {
		t.Errorf("after the migration the queue is (-want +got):\n%s", diff)
	}
	if got := changed(t)(f.ChangeQueueOf(t.Context(), testAccount, AccountQueueChange{Operation: Release, Selection: Selection{All: true}})); got.Changed != 1 {
		t.Errorf("the account releases %d, want the 1 that it holds", got.Changed)
	}
	if n := f.count(t, `recipients WHERE lane IS NOT NULL AND lane <> ' example.net'`); n != 0 {
		t.Errorf("%d recipients are still in a lane that means a hold", n)
	}
}

// Settled recipients are most of the table: no statement that runs all the time reads them.
func TestTheQueueIsReadByItsIndexes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.send(t, simple("due@example.net"))
	f.exec(t, `INSERT INTO recipients (email_id, account_id, kind, address, destination, state, settled_at)
		SELECT email_id, account_id, kind, n || address, destination, 'delivered', now() FROM recipients, generate_series(1, 20000) n`)
	f.exec(t, `VACUUM ANALYZE recipients`)
	list := `SELECT r.id FROM (SELECT r.id FROM recipients r WHERE r.due_at IS NOT NULL AND r.lane IS NULL AND r.held_by IS NULL
		UNION ALL SELECT r.id FROM recipients r WHERE r.due_at IS NOT NULL AND r.lane IS NOT NULL
		UNION ALL SELECT r.id FROM recipients r WHERE r.due_at IS NOT NULL AND r.held_by IS NOT NULL) r`
	for name, c := range map[string]struct {
		statement string
		args      []any
		indexes   []string
	}{
		"claim":         {pickSQL, []any{100, `{" example.net"}`, `{10}`, `{0}`, nil}, []string{"recipient_due", "recipient_lane"}},
		"find lanes":    {findLanesSQL, nil, []string{"recipient_lane"}},
		"oldest due":    {oldestDueSQL, nil, []string{"recipient_due"}},
		"hand back":     {handBackOfSQL, []any{7}, []string{"recipient_due"}},
		"list of queue": {list, nil, []string{"recipient_due", "recipient_lane", "recipient_held"}},
	} {
		rows, err := f.db.SQL.QueryContext(t.Context(), `EXPLAIN `+c.statement, c.args...)
		if err != nil {
			t.Fatalf("explain %s: %v", name, err)
		}
		lines, err := scanAll(rows, func(s *string) []any { return []any{s} })
		if err != nil {
			t.Fatalf("explain %s: %v", name, err)
		}
		plan := strings.Join(lines, "\n")
		for _, index := range c.indexes {
			if !strings.Contains(plan, index) {
				t.Errorf("%s does not read by %s:\n%s", name, index, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on recipients") {
			t.Errorf("%s reads the whole table:\n%s", name, plan)
		}
	}
}
