package exports

import (
	"errors"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

const ours, theirs = "acc_01kf0m4w7he6x8q2v5b3n9c1ta", "acc_01kf0m4w7he6x8q2v5b3n9c1tb"

func TestAccountHasOneExportAcrossProcesses(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	here, there := New(d), New(d)
	turn, err := here.Begin(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	_, err = there.Begin(t.Context(), ours)
	if got := fault.Classify(err); got.Kind != fault.Limit || got.Code != fault.CodeExportInProgress ||
		got.RetryAfter < time.Second {
		t.Errorf("a second export of the account got %#v, want Limit with its code and a delay", err)
	}
	if _, err := there.Begin(t.Context(), theirs); err != nil {
		t.Errorf("an export of another account got %v", err)
	}
	if err := here.Extend(t.Context(), ours, turn); err != nil {
		t.Errorf("the turn cannot be extended: %v", err)
	}
	if err := here.End(t.Context(), ours, turn); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Begin(t.Context(), ours); err != nil {
		t.Errorf("after the first export ended, another got %v", err)
	}
}

func TestExpiredTurnGoesToTheNextExport(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	here, there := New(d), New(d)
	first, err := here.Begin(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	overdue := func() {
		t.Helper()
		if _, err := d.SQL.ExecContext(t.Context(), `UPDATE exports SET until = now() - interval '1 second'`); err != nil {
			t.Fatal(err)
		}
	}
	overdue()
	if err := here.Extend(t.Context(), ours, first); err != nil {
		t.Errorf("extending an expired turn that no other export has taken: %v", err)
	}
	overdue()
	second, err := there.Begin(t.Context(), ours)
	if err != nil {
		t.Fatalf("beginning an export after the turn of a dead process expired: %v", err)
	}
	if err := here.Extend(t.Context(), ours, first); !errors.Is(err, ErrLost) {
		t.Errorf("extending a turn that another export took over returned %v, want ErrLost", err)
	}
	if err := here.End(t.Context(), ours, first); err != nil {
		t.Error(err)
	}
	if err := there.Extend(t.Context(), ours, second); err != nil {
		t.Errorf("extending the second turn after the first export ended: %v", err)
	}
}
