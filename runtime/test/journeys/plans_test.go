package journeys_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/setting"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/test/harness"
)

// PostgreSQL plans a statement of the hot pool once for each connection, usually while the tables are empty,
// and keeps the plan while they grow. Here all statements that a process keeps are planned on a connection
// while the tables are nearly empty. Then the tables grow. None of the kept plans may read a whole table or
// index, and each must use the indexes that a new connection uses, which plans with fresh statistics of full
// tables, or find single rows with a unique index.
func TestPlansStayRightWhileTheTablesGrow(t *testing.T) {
	t.Parallel()
	rows := 20_000
	if text := os.Getenv("POSTRIDER_PLAN_ROWS"); text != "" {
		var err error
		if rows, err = strconv.Atoi(text); err != nil {
			t.Fatalf("POSTRIDER_PLAN_ROWS is %q, want a number", text)
		}
	}
	server := dbtest.NewServer(t)
	server.RecordStatements()
	exerciseEverything(t, server.URL())
	texts := server.Prepared()
	if len(texts) < 20 {
		t.Fatalf("the process kept %d statements, want its hot ones:\n%s", len(texts), strings.Join(texts, "\n"))
	}
	handle := server.Open()
	keepAutovacuumAway(t, handle)
	before := preparedOn(t, handle, texts)
	patient, err := sql.Open("postgres", server.URL()) // without our deadlines
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = patient.Close() }()
	grown := growTables(t, patient, rows)
	kept := before.plans(t)
	if _, err := patient.ExecContext(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	kinds, of := kindsOfIndexes(t, handle), partsOfTables(t, handle)
	kept = of.fold(kept)
	fresh := of.fold(preparedOn(t, handle, texts).plans(t))
	for i, text := range texts {
		for _, scan := range kept[i] {
			whole := scan.Index == "" || scan.Condition == "" && !kinds.partial[scan.Index] &&
				!slices.Contains(beginnings, scan.Index)
			if grown[scan.Table] && whole {
				t.Errorf("a plan made while %s was empty reads the whole table (%s %s):\n%s", scan.Table, scan.Kind,
					scan.Index, text)
			}
		}
		for table := range grown {
			was, is := indexes(slices.DeleteFunc(slices.Clone(kept[i]), kinds.single), table), indexes(fresh[i], table)
			if others := slices.DeleteFunc(slices.Clone(was),
				func(index string) bool { return slices.Contains(is, index) }); len(others) > 0 {
				t.Errorf("the kept plan reads %s with %v, one made with %d rows uses %v:\n%s", table, was,
					rows, is, text)
			}
		}
	}
	t.Logf("%d statements, %d rows in each of %d tables", len(texts), rows, len(grown))
}

// beginnings are indexes whose first entry a statement reads without a condition, because it skips from
// endpoint to endpoint.
var beginnings = []string{"webhookwork_due"}

// exerciseEverything makes a separate process do all frequent work at least once: accept, deliver, defer,
// bounce, schedule, send webhooks, receive mail, run an automation.
func exerciseEverything(t *testing.T, url string) {
	t.Helper()
	app := harness.Start(t, func(s setting.RawValues) { s["DATABASE_URL"] = url })
	app.MailDomain(t, "example.net")
	var told atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told.Add(1) }))
	t.Cleanup(endpoint.Close)
	app.Do(t, http.MethodPost, "/api/webhooks", map[string]any{"url": endpoint.URL})
	var made struct{ Automation struct{ ID string } }
	app.Do(t, http.MethodPost, "/api/automations", json.RawMessage(`{"name": "Verify", "trigger": {"event": "user.created", "re_entry": "once"}, "steps": [
		{"type": "send_email", "from": "Ada <ada@dev.test>", "subject": "Hi", "text": "Hello"},
		{"type": "wait_for_event", "event": "user.verified", "timeout": "P1D"}, {"type": "delay", "duration": "PT1S"}]}`)).JSON(t, &made)
	app.Do(t, http.MethodPost, "/api/automations/"+made.Automation.ID, map[string]any{"action": "activate"})
	for i := range 8 { // a statement is prepared at its first use, and reused from the second on
		id := send(t, app, fmt.Sprintf(`{"from":"ada@dev.test","to":["bob%d@example.net"],"subject":"Hello","html":"<p>Hi <a href=\"https://example.com\">you</a></p>","text":"Hi",
			"tags":{"kind":"plan"},"attachments":[{"filename":"a.txt","content":"aGVsbG8="}]}`, i))
		waitForStatus(t, app, id, "delivered")
		key := fmt.Sprintf("plan-%d", i)
		if a := app.Do(t, http.MethodPost, "/api/emails",
			json.RawMessage(`{"from":"ada@dev.test","to":"bounce@simulator.test","subject":"x","text":"x"}`),
			"Idempotency-Key", key); a.Status != http.StatusOK {
			t.Fatalf("a send with a key returned %d %s", a.Status, a.Body)
		}
		at := time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)
		app.Do(t, http.MethodPost, "/api/emails",
			json.RawMessage(`{"from":"ada@dev.test","to":"later@example.net","subject":"x","text":"x","scheduled_at":"`+
				at+`"}`))
		receive(t, app, "support@dev.test", questionMessage)
		person := fmt.Sprintf("u%d", i)
		postEvent(t, app, `{"name": "user.created", "user_id": "`+person+`", "email": "`+person+`@example.net"}`)
		postEvent(t, app, `{"name": "user.verified", "user_id": "`+person+`"}`)
	}
	expect.Eventually(t, "the runs have completed and the endpoint has received the events", func() bool {
		a := app.Do(t, http.MethodGet, "/api/automations/"+made.Automation.ID+"/runs?status=completed", nil)
		return strings.Count(string(a.Body), `"completed"`) >= 8 && told.Load() > 20
	})
	if err := app.Stop(); err != nil {
		t.Fatal(err)
	}
}

// keepAutovacuumAway ensures that only the test analyzes tables.
func keepAutovacuumAway(t *testing.T, d *db.DB) {
	t.Helper()
	names, err := db.All(t.Context(), d.SQL, db.Value[string],
		`SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := d.SQL.ExecContext(t.Context(), `ALTER TABLE `+name+` SET (autovacuum_enabled = off)`); err != nil {
			t.Fatal(err)
		}
	}
}

// session is a connection with prepared statements.
type session struct {
	conn  *sql.Conn
	texts []string
}

// preparedOn prepares and plans statements on a separate connection.
func preparedOn(t *testing.T, d *db.DB, texts []string) session {
	t.Helper()
	conn, err := d.Hot.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for i, text := range texts {
		if _, err := conn.ExecContext(t.Context(), fmt.Sprintf(`PREPARE p%d AS %s`, i, text)); err != nil {
			t.Fatalf("prepare %s: %v", text, err)
		}
	}
	s := session{conn, texts}
	s.plans(t)
	return s
}

// scan is a node of a plan that reads a table.
type scan struct {
	Kind      string `json:"Node Type"`
	Table     string `json:"Relation Name"`
	Index     string `json:"Index Name"`
	Condition string `json:"Index Cond"`
	Filter    string `json:"Filter"`
	Below     []scan `json:"Plans"`
}

// plans returns the nodes that read tables, for each statement.
func (s session) plans(t *testing.T) [][]scan {
	t.Helper()
	all := make([][]scan, len(s.texts))
	for i, text := range s.texts {
		var parameters int
		if err := s.conn.QueryRowContext(t.Context(),
			fmt.Sprintf(`SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'p%d'`, i)).Scan(&parameters); err != nil {
			t.Fatal(err)
		}
		arguments := strings.TrimSuffix(strings.Repeat("NULL,", parameters), ",")
		if arguments != "" {
			arguments = "(" + arguments + ")"
		}
		var plan string
		if err := s.conn.QueryRowContext(t.Context(), fmt.Sprintf(`EXPLAIN (FORMAT JSON) EXECUTE p%d%s`, i, arguments)).
			Scan(&plan); err != nil {
			t.Fatalf("explain %s: %v", text, err)
		}
		var nodes []struct{ Plan scan }
		if err := json.Unmarshal([]byte(plan), &nodes); err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			all[i] = n.Plan.reads(all[i])
		}
	}
	return all
}

// reads adds the nodes that read a table. A bitmap scan names its table above its indexes.
func (n scan) reads(to []scan) []scan {
	switch n.Kind {
	case "Bitmap Heap Scan":
		for _, below := range n.Below {
			if !strings.HasPrefix(below.Kind, "Bitmap") {
				to = below.reads(to)
			}
		}
		return n.bitmaps(n.Table, to)
	case "Seq Scan", "Index Scan", "Index Only Scan":
		to = append(to, n)
	}
	for _, below := range n.Below {
		to = below.reads(to)
	}
	return to
}

func (n scan) bitmaps(table string, to []scan) []scan {
	for _, below := range n.Below {
		if below.Kind == "Bitmap Index Scan" {
			below.Table = table
			to = append(to, below)
		}
		if strings.HasPrefix(below.Kind, "Bitmap") {
			to = below.bitmaps(table, to)
		}
	}
	return to
}

// indexes returns the indexes with which a plan reads a table.
func indexes(scans []scan, table string) []string {
	var all []string
	for _, s := range scans {
		if s.Table == table {
			all = append(all, s.Index)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// indexKinds are the partial indexes, the unique indexes, and the columns of each table that are unique on
// their own.
type indexKinds struct {
	partial, unique map[string]bool
	identities      map[string][]string
}

func kindsOfIndexes(t *testing.T, d *db.DB) indexKinds {
	t.Helper()
	kinds := indexKinds{map[string]bool{}, map[string]bool{}, map[string][]string{}}
	err := db.Each(t.Context(), d.SQL, func(row db.Row) error {
		var table, name string
		var partial, unique bool
		var column sql.NullString
		err := row.Scan(&table, &name, &partial, &unique, &column)
		kinds.partial[name], kinds.unique[name] = partial, unique
		if unique && !partial && column.Valid {
			kinds.identities[table] = append(kinds.identities[table], column.String)
		}
		return err
	}, `SELECT indrelid::regclass::text, indexrelid::regclass::text, indpred IS NOT NULL, indisunique,
		(SELECT attname FROM pg_attribute WHERE attrelid = indrelid AND attnum = indkey[0] AND indnkeyatts = 1) FROM pg_index`)
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// single reports whether a scan finds single rows: with a unique index, or with one in which the condition
// fixes a unique column.
func (k indexKinds) single(s scan) bool {
	return k.unique[s.Index] || slices.ContainsFunc(k.identities[s.Table], func(column string) bool {
		return strings.Contains(s.Condition, "("+column+" = ") ||
			strings.Contains(s.Condition, "(("+column+")::text = ")
	})
}

// parts maps partitions and their indexes to the tables and indexes they belong to. Empty partitions are
// ignored.
type parts struct {
	whole map[string]string
	empty map[string]bool
}

func partsOfTables(t *testing.T, d *db.DB) parts {
	t.Helper()
	p := parts{map[string]string{}, map[string]bool{}}
	err := db.Each(t.Context(), d.SQL, func(row db.Row) error {
		var part, whole string
		var empty bool
		err := row.Scan(&part, &whole, &empty)
		p.whole[part], p.empty[part] = whole, empty
		return err
	},
		`SELECT i.inhrelid::regclass::text, i.inhparent::regclass::text, c.relkind = 'r' AND c.reltuples <= 0 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid`)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fold makes plans of partitioned tables look like those of plain ones.
func (p parts) fold(plans [][]scan) [][]scan {
	for i, plan := range plans {
		plans[i] = slices.DeleteFunc(plan, func(s scan) bool { return p.empty[s.Table] })
		for j, s := range plans[i] {
			plans[i][j].Table, plans[i][j].Index = cmp.Or(p.whole[s.Table], s.Table), cmp.Or(p.whole[s.Index], s.Index)
		}
	}
	return plans
}

// growTables stores copies of one row of each table that mail fills, each with new ids. References to other
// tables change in the same way, so that the copies belong together. They are spread over a thousand
// accounts.
func growTables(t *testing.T, handle *sql.DB, rows int) map[string]bool {
	t.Helper()
	grown := map[string]bool{}
	const columnsSQL = `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum), string_agg(CASE
		WHEN attname = 'account_id' THEN 'left(r.account_id, -8) || lpad((n % 1000)::text, 8, ''0'')'
		WHEN attname ~ '(^|_)id$' AND atttypid IN ('text'::regtype, 'varchar'::regtype) THEN format('left(r.%1$I, -8) || lpad(n::text, 8, ''0'')', attname)
		WHEN attname ~ '(^|_)id$' AND atttypid = 'bigint'::regtype THEN format('r.%I + 1000000 + n', attname)
		WHEN attname IN ('key', 'address', 'token', 'email_key', 'user_id') AND atttypid IN ('text'::regtype, 'varchar'::regtype) THEN format('n::text || r.%I', attname)
		WHEN attname IN ('hash', 'key_hash', 'address_hash') AND atttypid = 'bytea'::regtype THEN 'sha256(n::text::bytea)'
		ELSE 'r.' || quote_ident(attname) END, ', ' ORDER BY attnum)
	FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`
	conn, err := handle.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), `SET session_replication_role = replica`); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"emails", "recipients", "attempts", "facts", "webhook_deliveries", "webhook_works",
		"webhook_attempts", "idempotency_keys", "suppressions",
		"received_emails", "custom_events", "automation_runs", "automation_steps", "automation_entries"} {
		var exists bool
		if err := conn.QueryRowContext(t.Context(), `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&exists); err != nil {
			t.Fatal(err)
		}
		if !exists {
			t.Errorf("the table %s does not exist", table)
			continue
		}
		var columns, values string
		if err := conn.QueryRowContext(t.Context(), columnsSQL, table).Scan(&columns, &values); err != nil {
			t.Fatal(err)
		}
		statement := fmt.Sprintf(`INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM (SELECT * FROM %[1]s LIMIT 1) r, generate_series(1, $1) n`, table, columns, values)
		if table == "webhook_works" { // all deliveries are finished by now
			statement = `INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, now() + interval '1 hour', 0, 0, 0 FROM webhook_deliveries ORDER BY id DESC LIMIT $1 ON CONFLICT DO NOTHING`
		}
		result, err := conn.ExecContext(t.Context(), statement, rows)
		if err != nil {
			t.Errorf("grow %s: %v", table, err)
			continue
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			t.Errorf("the table %s has no row to copy: %v", table, err)
		}
		grown[table] = true
	}
	return grown
}
