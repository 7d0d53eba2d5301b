package checks

import (
	"slices"
	"testing"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/source"
	"github.com/postrider/postrider/runtime/ops/doctor"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// A source address that no running, delivering process has is reported; it is an error if an account sends
// from that address only.
func TestReportsSourcesWithoutProcess(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	row := func(name, roles, addresses, silent string) {
		if _, err := d.SQL.ExecContext(t.Context(), `INSERT INTO nodes (name, version, roles, addresses, started_at, seen_at, claims_from)
			VALUES ($1, '1.0', $2, $3, now(), now() - $4::interval, now())`, name, roles, addresses, silent); err != nil {
			t.Fatal(err)
		}
	}
	here, other := "here", "other"
	sources := []*ent.Source{{Address: "198.51.100.7", Pool: source.PoolShared},
		{Address: "198.51.100.8", Pool: source.PoolShared, Node: &here}}
	look := func() []doctor.Finding { return checkSources(d, sources)(t.Context()) }
	if got := look(); len(got) != 1 || got[0].Level != doctor.Skipped {
		t.Errorf("without a process: %+v, want it skipped", got)
	}
	row("here", `["accepts", "delivers"]`, `["198.51.100.7", "198.51.100.8"]`, "-1 hour")
	row("api", `["accepts"]`, `["198.51.100.9"]`, "-1 hour")
	row("dead", `["delivers"]`, `["198.51.100.10"]`, "1 minute")
	if got := look(); len(got) != 1 || got[0].Level != doctor.OK || got[0].Found != "all 2" {
		t.Errorf("with a process that has both: %+v, want ok", got)
	}
	sources = append(sources, &ent.Source{Address: "198.51.100.9", Pool: source.PoolShared},
		&ent.Source{Address: "198.51.100.10", Pool: source.PoolDedicated},
		&ent.Source{Address: "198.51.100.7", Pool: source.PoolPool, Node: &other})
	var levels []doctor.Level
	var found []string
	for _, f := range look() {
		levels, found = append(levels, f.Level), append(found, f.Found)
	}
	if !slices.Equal(levels, []doctor.Level{doctor.Warning, doctor.Error, doctor.Warning}) ||
		found[0] != "198.51.100.9 (shared): no running process has it" ||
		found[1] != "198.51.100.10 (dedicated): no running process has it; mail of its account is waiting" ||
		found[2] != "198.51.100.7 (pool): the process other is not running, or does not have it" {
		t.Errorf("the doctor reports %v %q", levels, found)
	}
}
