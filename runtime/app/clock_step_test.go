package app_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/app"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/ops/config"
	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// unlimited lists the columns that may stay ahead of the clock, with the reason. Every other column whose
// name says that something is due, locked or valid until then must be repaired.
var unlimited = map[string]string{
	"accounts.payment_due_at":               billed,
	"billing_customers.checkout_expires_at": billed,
	"billing_subscriptions.past_due_since":  billed,
	"api_keys.expires_at":                   chosen,
	"operator_keys.expires_at":              chosen,
	"automation_runs.goal_until":            chosen,
	"emails.expires_at":                     chosen,
	"emails.release_at":                     chosen,
	"body_moves.due_at":                     "a move that was never tried waits for the time of a scheduled email",
	"billing_customers.claimed_until":       bounded,
	"billing_customers.writing_until":       bounded,
	"certificate_files.locked_until":        bounded,
	"exports.until":                         bounded,
	"rate_limits.full_at":                   bounded,
	"webhooks.rate_full_at":                 bounded,
	"webhook_deliveries.due_at":             "display only; webhook_works.due_at decides",
	"database_clocks.seen_at":               "the watch corrects it when it records the step",
}

const (
	billed  = "the payment provider sets it"
	chosen  = "a user chose it"
	bounded = "every statement that reads it ignores a time that is further ahead than possible"
)

// scheduling matches the names of columns that decide when something happens.
var scheduling = regexp.MustCompile(`due|until|expires|release_at|ready|looked|claims_from|full_at|seen_at|sweep|retry`)

// sampleOf returns an SQL sample value of a type, for columns that need one.
func sampleOf(t *testing.T, table, column, typ string) string {
	t.Helper()
	switch {
	case strings.HasPrefix(typ, "timestamp"):
		return fmt.Sprintf(`now() + interval '%d seconds'`, int(ahead.Seconds()))
	case typ == "boolean":
		return "false"
	case typ == "jsonb", typ == "json":
		return `'[]'`
	case typ == "bytea":
		return `''`
	case typ == "ARRAY":
		return `'{}'`
	case typ == "date":
		return `now()::date`
	case typ == "integer", typ == "bigint", typ == "smallint", typ == "double precision", typ == "real",
		typ == "numeric":
		return "1"
	case typ == "text", typ == "character varying", typ == "character":
		return `'x'`
	case typ == "tsvector":
		return `''`
	}
	t.Fatalf("%s.%s has the type %s: add a sample of it", table, column, typ)
	return ""
}

// ahead is longer than most lifetimes and pauses.
const ahead = 400 * 24 * time.Hour

// column describes a column of a table.
type column struct {
	table, name, typ string
	needed           bool // it has no default and is not null
}

func columnsOf(t *testing.T, d *db.DB) map[string][]column {
	t.Helper()
	all, err := db.All(t.Context(), d.SQL, func(c *column) []any { return []any{&c.table, &c.name, &c.typ, &c.needed} },
		`SELECT table_name, column_name, data_type, is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AND is_generated = 'NEVER'
			FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
			WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_updatable = 'YES' ORDER BY 1, ordinal_position`)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][]column{}
	for _, c := range all {
		tables[c.table] = append(tables[c.table], c)
	}
	return tables
}

// After a clock step, no row of any table is due, locked or valid for longer than possible. A new column
// that schedules something needs a clockstep.Column in its module, or a reason above.
func TestEveryScheduledTimeIsRepairedAfterClockStep(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(setting.Dev, "",
		setting.RawValues{"DATABASE_URL": dbtest.URL(t), "POSTRIDER_DATA_DIR": t.TempDir(),
			"POSTRIDER_HTTP_ADDR": "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	opened, watch, err := app.NewClockWatch(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close(log, time.Minute)
	tables := columnsOf(t, opened.DB)
	for table, columns := range tables {
		insertAhead(t, opened.DB, table, columns)
	}
	now, err := db.Now(t.Context(), opened.DB.SQL)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range watch.Apply(t.Context(), clockstep.Step{At: now, By: ahead}) {
		t.Error(err)
	}
	for table, columns := range tables {
		for _, c := range columns {
			name := table + "." + c.name
			if !strings.HasPrefix(c.typ, "timestamp") || !scheduling.MatchString(c.name) {
				continue
			}
			isAhead, err := db.One(t.Context(), opened.DB.SQL, db.Value[bool],
				fmt.Sprintf(`SELECT coalesce(bool_or(%q > now() + interval '%d seconds'), false) FROM %s`, c.name, int((ahead-time.Hour).Seconds()), table))
			if err != nil {
				t.Fatal(err)
			}
			if reason := unlimited[name]; isAhead && reason == "" {
				t.Errorf("%s stays ahead of the clock after a step: repair it, or add it to the exceptions with a reason", name)
			} else if !isAhead && reason != "" {
				t.Errorf("%s is repaired: remove it from the exceptions", name)
			}
		}
	}
}

// insertAhead inserts a row whose times are ahead of the clock, without the rows it refers to.
func insertAhead(t *testing.T, d *db.DB, table string, columns []column) {
	t.Helper()
	var names, values []string
	for _, c := range columns {
		if c.needed || strings.HasPrefix(c.typ, "timestamp") {
			names, values = append(names, `"`+c.name+`"`), append(values, sampleOf(t, table, c.name, c.typ))
		}
	}
	dbtest.Exec(t, d, fmt.Sprintf(`DO $$ BEGIN SET LOCAL session_replication_role = replica; INSERT INTO %s (%s) VALUES (%s); END $$`,
		table, strings.Join(names, ", "), strings.Join(values, ", ")))
}
