package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/migrate/migrations"
	"github.com/postrider/postrider/modules/sending/sendingtest"
	"github.com/postrider/postrider/modules/sending/sendingtest/rooms"
)

// Before the column held_by existed, a special lane name marked held recipients.
func TestMigrationKeepsHolders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Send(t, rooms.SimpleMessage("queued@example.net", "parked@example.net", "operator@example.net",
		"account@example.net"))
	f.Exec(t, `DROP INDEX recipient_held, recipient_due; ALTER TABLE recipients DROP COLUMN held_by;
		CREATE INDEX recipient_due ON recipients (due_at) WHERE due_at IS NOT NULL AND lane IS NULL`)
	for address, lane := range map[string]string{"parked": " example.net", "operator": "held",
		"account": "held:account"} {
		f.Exec(t, `UPDATE recipients SET lane = $1 WHERE address = $2`, lane, address+"@example.net")
	}
	migration, err := migrations.Files.ReadFile("20261122184652_held_by.sql")
	if err != nil {
		t.Fatal(err)
	}
	f.Exec(t, string(migration))
	if diff := cmp.Diff([]string{"queued queued", "parked parked", "operator held", "account held"},
		f.listStates(t, Selection{All: true})); diff != "" {
		t.Errorf("after the migration the queue is (-want +got):\n%s", diff)
	}
	if got := mustChange(t)(f.ChangeQueueOf(t.Context(), sendingtest.Account,
		AccountChange{Operation: Release, Selection: Selection{All: true}})); got.Changed != 1 {
		t.Errorf("the account released %d recipients, want the 1 that it holds", got.Changed)
	}
	if n := f.Count(t, `recipients WHERE lane IS NOT NULL AND lane <> ' example.net'`); n != 0 {
		t.Errorf("%d recipients are still in a lane that marks a hold", n)
	}
}
