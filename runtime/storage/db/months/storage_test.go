package months_test

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/migrate/migrations"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

const vacuumOptions = "autovacuum_vacuum_scale_factor=0.02,autovacuum_vacuum_threshold=1000"

// The tables of mail and webhooks keep their storage parameters when they are split and as months are added, and the
// migrations that set the parameters reach every month of a split table.
func TestMonthsHaveTheStorageOfTheirTable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"emails": "fillfactor=50," + vacuumOptions, "recipients": vacuumOptions,
		"attempts":           vacuumOptions + ",fillfactor=40",
		"webhook_deliveries": "fillfactor=60," + vacuumOptions} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, table := newPlainDatabase(t), findTable(t, name)
			if got := queryOne[string](t, d, `SELECT array_to_string(reloptions, ',') FROM pg_class WHERE oid = $1::regclass`,
				name); got != want {
				t.Errorf("%s has the storage parameters %s, want %s", name, got, want)
			}
			move(t, d, table)
			if _, err := months.KeepAt(t.Context(), d, table, time.Now().AddDate(0, 2, 0)); err != nil {
				t.Fatal(err)
			}
			expectStorage(t, d, name, want)
			for _, part := range partsOf(t, d, name) {
				dbtest.Exec(t, d, `ALTER TABLE `+part+
					` RESET (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)`)
			}
			for _, migration := range []string{"storage_of_mail_tables", "attempts_in_doubt", "storage_of_webhook_tables"} {
				dbtest.Exec(t, d, migrationNamed(t, migration))
			}
			expectStorage(t, d, name, want)
		})
	}
}

func partsOf(t *testing.T, d *db.DB, table string) []string {
	t.Helper()
	parts, err := db.All(t.Context(), d.SQL, db.Value[string],
		`SELECT relid::text FROM pg_partition_tree($1::regclass) WHERE isleaf ORDER BY 1`, table)
	if err != nil || len(parts) < 4 {
		t.Fatalf("%s has the parts %v, %v; want at least two months, the past and the rest", table, parts, err)
	}
	return parts
}

func expectStorage(t *testing.T, d *db.DB, table, want string) {
	t.Helper()
	got, expected := map[string]string{}, map[string]string{}
	for _, part := range partsOf(t, d, table) {
		got[part] = queryOne[string](t, d,
			`SELECT coalesce(array_to_string(reloptions, ','), '') FROM pg_class WHERE oid = $1::regclass`, part)
		expected[part] = want
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("storage parameters of the parts differ (-want +got):\n%s", diff)
	}
}

func migrationNamed(t *testing.T, name string) string {
	t.Helper()
	names, err := fs.Glob(migrations.Files, "*_"+name+".sql")
	if err != nil || len(names) != 1 {
		t.Fatalf("migrations named %s: %v, %v; want one", name, names, err)
	}
	content, err := fs.ReadFile(migrations.Files, names[0])
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}
