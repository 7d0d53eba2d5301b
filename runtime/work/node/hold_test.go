package node_test

import (
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/work/node"
)

// A hold lasts until it is released, keeps its start time when it is set again, and contains its reason.
func TestHoldIsSetOnceAndReleasedOnce(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), dbtest.New(t)
	if found, err := node.ReadHold(ctx, d.SQL); err != nil || found != nil {
		t.Fatalf("a new installation has the hold %+v, %v; want none", found, err)
	}
	if err := node.SetHold(ctx, d.SQL, "restored"); err != nil {
		t.Fatal(err)
	}
	first, err := node.ReadHold(ctx, d.SQL)
	if err != nil || first == nil || first.Reason != "restored" {
		t.Fatalf("after SetHold, the hold is %+v, %v; want the reason", first, err)
	}
	// Executed like by psql.
	if _, err := d.SQL.ExecContext(ctx, node.HoldStatement(`it's "again"; \`)); err != nil {
		t.Fatal(err)
	}
	second, err := node.ReadHold(ctx, d.SQL)
	if err != nil || second == nil || second.Reason != `it's "again"; \` || !second.Since.Equal(first.Since) {
		t.Errorf("after setting it again, the hold is %+v, %v; want the new reason since %s", second, err, first.Since)
	}
	for i, want := range []bool{true, false} {
		if held, err := node.ReleaseHold(ctx, d.SQL); err != nil || held != want {
			t.Errorf("ReleaseHold %d returned %t, %v; want %t", i+1, held, err, want)
		}
	}
	for _, reason := range []string{"", strings.Repeat("x", 501)} {
		if err := node.SetHold(ctx, d.SQL, reason); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a reason of %d characters returned %v, want Invalid", len(reason), err)
		}
	}
}
