package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// Entries are kept for 400 days.
func TestOldEntriesAreSwept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := &Service{db: d}
	for _, days := range []int{0, 399, 401, 500} {
		entry := id.Since(id.AuditEntry, time.Now().AddDate(0, 0, -days))
		if err := d.Ent.AuditEntry.Create().SetID(entry).SetActorKind("system").SetAction("a").
			Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.sweepEntries(t.Context()); err != nil || n != 2 {
		t.Errorf("of entries that are 0, 399, 401 and 500 days old, the sweep deleted %d with the error %v, want 2", n,
			err)
	}
	if left := d.Ent.AuditEntry.Query().CountX(t.Context()); left != 2 {
		t.Errorf("%d entries remain, want 2", left)
	}
}

func TestLastBy(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := &Service{db: d}
	d.Ent.Account.Create().SetID("acc_1").SetName("One").SetEmail("one@example.com").ExecX(t.Context())
	d.Ent.Account.Create().SetID("acc_2").SetName("Two").SetEmail("two@example.com").ExecX(t.Context())
	now := time.Now()
	for i, e := range []struct{ account, action, target, name string }{
		{"acc_1", "updateAutomation", "aut_1", "old@example.com"},
		{"acc_1", "updateAutomation", "aut_1", "ada@example.com"}, {"acc_1", "updateAutomation", "aut_2", "bob@example.com"},
		{"acc_1", "deleteAutomation", "aut_1", "eve@example.com"}, {"acc_2", "updateAutomation", "aut_1", "else@example.com"},
	} {
		d.Ent.AuditEntry.Create().SetID(id.Since(id.AuditEntry, now.Add(time.Duration(i)*time.Second))).
			SetAccountID(e.account).SetActorKind("user").SetActorName(e.name).SetAction(e.action).SetTarget(e.target).
			ExecX(t.Context())
	}
	if by, err := s.LastBy(t.Context(), "acc_1", "updateAutomation", "aut_1", now); err != nil ||
		by.Name != "ada@example.com" || by.Kind != ByUser {
		t.Errorf("LastBy returned %+v, %v, want Ada", by, err)
	}
	if by, err := s.LastBy(t.Context(), "acc_1", "updateAutomation", "aut_1", now.Add(2*time.Second)); err != nil ||
		by != (Actor{}) {
		t.Errorf("LastBy since a time after the last change returned %+v, %v, want the zero Actor", by, err)
	}
}

// An erasure removes the changes that mention an address, in any case and escaped as in JSON, and keeps the entries.
func TestEraseRemovesChangesWithAddress(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	s := &Service{db: d}
	d.Ent.Account.Create().SetID("acc_1").SetName("One").SetEmail("one@example.com").ExecX(t.Context())
	d.Ent.Account.Create().SetID("acc_2").SetName("Two").SetEmail("two@example.com").ExecX(t.Context())
	const address = `"bob\&"@example.net`
	for _, e := range []struct{ account, email string }{
		{"acc_1", strings.ToUpper(address)}, {"acc_1", "carol@example.net"}, {"acc_2", address},
	} {
		d.Ent.AuditEntry.Create().SetID(id.New(id.AuditEntry)).SetAccountID(e.account).SetActorKind("system").
			SetAction("addSuppression").SetChanges(map[string]any{"email": e.email}).ExecX(t.Context())
	}
	if n, err := s.Erase(t.Context(), "acc_1", address); n != 1 || err != nil {
		t.Errorf("erased from %d entries with the error %v, want 1", n, err)
	}
	left := map[string]int{}
	for _, e := range d.Ent.AuditEntry.Query().AllX(t.Context()) {
		left[fmt.Sprint(*e.AccountID, e.Changes)]++
	}
	want := map[string]int{"acc_1map[]": 1, "acc_1map[email:carol@example.net]": 1, "acc_2map[email:" + address + "]": 1}
	for _, entry := range slices.Sorted(maps.Keys(want)) {
		if left[entry] != 1 {
			t.Errorf("the entries are %v, want %s among them", left, entry)
		}
	}
}
