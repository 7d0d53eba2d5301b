package statistics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Statistics of test mode disappear with its other data, and those of live mode stay.
func TestSweepsTestMode(t *testing.T) {
	t.Parallel()
	tr := newTraffic(t, 31)
	now := time.Now().UTC()
	tr.account[1] = id.TestTenantOf(tr.account[0])
	for _, age := range []int{1, 6, 10, 200} {
		for range 30 {
			tr.sends(now.AddDate(0, 0, -age).Add(-time.Hour))
		}
	}
	tr.horizon.at = now
	if err := tr.Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tr.Pack(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := func(tenant, table, where string) int {
		t.Helper()
		n, err := db.One(t.Context(), tr.db.SQL, db.Value[int],
			`SELECT count(*) FROM `+table+` WHERE account_id = $1 AND `+where, tenant)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const old, recent = `start < now() - interval '8 days'`, `start >= now() - interval '8 days'`
	var before, after [3]int
	state := func() [3]int {
		return [3]int{count(tr.account[0], "statistics_days", "true"), count(tr.account[0], "statistics_months", "true"),
			count(tr.account[1], "statistics_days", recent)}
	}
	before = state()
	if count(tr.account[1], "statistics_months", "true") == 0 || count(tr.account[1], "statistics_days", old) == 0 ||
		before[0] == 0 || before[1] == 0 || before[2] == 0 {
		t.Fatalf("there are no old and recent statistics of both modes: %v", before)
	}
	if n, err := tr.sweep(t.Context()); err != nil || n == 0 {
		t.Fatalf("%d rows were deleted, %v", n, err)
	}
	after = state()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("rows of live mode, and recent ones of test mode (-before +after):\n%s", diff)
	}
	for table, where := range map[string]string{"statistics_days": old, "statistics_reasons": old, "statistics_months": "true"} {
		if n := count(tr.account[1], table, where); n != 0 {
			t.Errorf("%s has %d old rows of test mode", table, n)
		}
	}
}
