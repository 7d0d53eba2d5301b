package audit

import (
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/db/dbtest"
	"github.com/postrider/postrider/runtime/id"
)

// Entries are kept for 400 days, and no longer.
func TestOldEntriesAreSwept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := &Service{db: d}
	for _, days := range []int{0, 399, 401, 500} {
		entry := id.Since(id.AuditEntry, time.Now().AddDate(0, 0, -days))
		if err := d.Ent.AuditEntry.Create().SetID(entry).SetActorKind("system").SetAction("a").Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.sweep(t.Context()); err != nil || n != 2 {
		t.Errorf("of entries of 0, 399, 401 and 500 days the sweep deletes %d with the error %v, want 2", n, err)
	}
	if left := d.Ent.AuditEntry.Query().CountX(t.Context()); left != 2 {
		t.Errorf("%d entries are left, want 2", left)
	}
}
