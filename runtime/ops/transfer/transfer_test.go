package transfer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/months"
)

// stays are the tables that are not exported, with the reason.
var stays = map[string]string{
	"webhook_claims": "deliveries in progress",
	"begun_attempts": "attempts in progress", "body_moves": "work of the installation", "body_walks": "work of the installation",
	"billing_customers": "of the payment provider's account", "billing_events": "of the payment provider's account",
	"billing_notices": "of the payment provider's account", "billing_subscriptions": "of the payment provider's account",
	"usage_reports": "of the payment provider's account", "usage_marks": "position in the events of the installation",
	"usage_recounts": "work of the installation", "statistics_marks": "position in the events of the installation",
	"bus_handled": "events of the installation", "bus_marks": "events of the installation", "bus_messages": "events of the installation",
	"bus_poison": "events of the installation", "event_exports": "events of the installation",
	"captured_mails": "development mode", "captured_parts": "development mode", "captured_sms": "development mode",
	"certificate_files": "issued for the hosts of the installation", "database_clocks": "of the database", "delivery_holds": "of the installation",
	"domain_claims": "between accounts of one installation", "exceeded_rates": "found again by the next check", "exports": "lock of a running export",
	"blocklist_lookups": "lookups by the installation", "deliverability_turns": "of the installation",
	"flagged_links": "of the installation", "invitations": "their links name the installation", "mail_sources": "lookups by the installation",
	"nodes": "of the installation", "operator_keys": "of the installation", "plans": "of the installation", "rate_limits": "of a moment", "retention_marks": "progress of the installation",
	"security_alerts": "mail in progress", "sessions": "cookies of the installation's host", "sign_in_challenges": "of a moment", "sign_in_failures": "of a moment",
	"sign_in_links": "their links name the installation", "source_days": "addresses of the installation", "sources": "addresses of the installation",
	"storage_allowances": "of a moment", "tls_report_counts": "reports of the installation about others",
	"schema_migrations": "of the database",
}

// A new table must be exported, or stay for a reason.
func TestEveryTableIsExportedOrStays(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	all, err := db.All(t.Context(), d.SQL, db.Value[string], `SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	known := make([]string, 0, len(tables)+len(stays))
	for _, table := range tables {
		known = append(known, table.name)
	}
	for name := range stays {
		known = append(known, name)
	}
	slices.Sort(known)
	if diff := cmp.Diff(known, all); diff != "" {
		t.Errorf("the tables of the database are neither in tables nor in stays (-known +database):\n%s", diff)
	}
	for _, table := range tables {
		columns, err := db.All(t.Context(), d.SQL, db.Value[string], columnsSQL, table.name)
		if err != nil {
			t.Fatal(err)
		}
		named := []string{table.parent.column, table.user, table.objects}
		for column := range table.set {
			named = append(named, column)
		}
		for column := range table.renumber {
			named = append(named, column)
		}
		for _, column := range named {
			if column != "" && !slices.Contains(columns, column) {
				t.Errorf("%s has no column %s", table.name, column)
			}
		}
	}
}

var options = Options{Box: transfertest.NewBox(), Secret: secret.NewKey(), Program: "test", Credentials: true,
	Progress: func(string) {}}

func export(t *testing.T, d *db.DB, account string, o Options) ([]byte, *Result) {
	t.Helper()
	var file bytes.Buffer
	made, err := Export(t.Context(), d, account, &file, o)
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), made
}

// asText returns the rows of an account in a table, without the numbers that the database assigns.
func asText(t *testing.T, d *db.DB, table, account string) string {
	t.Helper()
	text, err := db.One(t.Context(), d.SQL, db.Value[string], `SELECT coalesce(string_agg((to_jsonb(t) - 'recipient_id' - 'due_at' - 'address_hash' - CASE WHEN jsonb_typeof(to_jsonb(t) -> 'id') = 'number' THEN 'id' ELSE '' END)::text, E'\n' ORDER BY to_jsonb(t)::text), '')
FROM `+table+` t WHERE account_id = $1`, account)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The rows arrive unchanged, in plain and partitioned tables, under numbers that do not collide. Unfinished emails
// stay.
func TestImportRestoresRows(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	for _, name := range []string{"recipients", "attempts"} {
		found, err := months.FindTables(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := months.Move(t.Context(), to, found[0], slog.New(slog.DiscardHandler), func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	transfertest.Fill(t, from, "acc_1")
	transfertest.Fill(t, to, "acc_2") // uses the same numbers
	dbtest.Exec(t, from, `INSERT INTO statistics_marks (id, fact_id) VALUES (1, 'fact_5')`)
	file, made := export(t, from, "acc_1", options)
	if made.End.Unfinished.Emails != 1 || made.End.Rows["emails"] != 1 {
		t.Errorf("exported %v, unfinished %+v; want one email of each", made.End.Rows, made.End.Unfinished)
	}
	o := options
	o.AdjustStatistics = func(_ context.Context, _ db.Execer, accountID string, mark *string) error {
		if accountID != "acc_1" || mark == nil || *mark != "fact_5" {
			t.Errorf("the statistics of %s contain the events before %v, want fact_5", accountID, mark)
		}
		return nil
	}
	if _, err := Import(t.Context(), to, bytes.NewReader(file), o); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, from, `DELETE FROM emails WHERE status = 'scheduled'`)
	dbtest.Exec(t, from, `DELETE FROM facts WHERE subject_id LIKE 'later%'`)
	dbtest.Exec(t, from, `UPDATE attempts SET node = NULL`)
	for _, table := range []string{"emails", "recipients", "attempts", "facts", "domains", "memberships"} {
		want, got := asText(t, from, table, "acc_1"), asText(t, to, table, "acc_1")
		if diff := cmp.Diff(want, got); diff != "" || want == "" {
			t.Errorf("%s (-exported +imported):\n%s", table, diff)
		}
	}
	joined, err := db.One(t.Context(), to.SQL, db.Value[int], `SELECT count(*) FROM attempts a JOIN recipients r ON r.id = a.recipient_id AND r.email_id = a.email_id AND r.account_id = a.account_id`)
	if err != nil || joined != 2 {
		t.Errorf("%d attempts have their recipients, want 2 (%v)", joined, err)
	}
	operators, err := db.One(t.Context(), to.SQL, db.Value[int], `SELECT count(*) FROM users WHERE operator AND id = 'usr_acc_1'`)
	if err != nil || operators != 0 {
		t.Errorf("the import created an operator (%v)", err)
	}
}

// A slow file or object store does not end the transaction, as it would in a request.
func TestTransferMayWait(t *testing.T) {
	t.Parallel()
	brief := func(c *db.Config) { c.IdleInTxTimeout = 50 * time.Millisecond }
	from, to := dbtest.New(t, brief), dbtest.New(t, brief)
	transfertest.Fill(t, from, "acc_1")
	waiting := func(d *db.DB) Options {
		o := options
		var once sync.Once
		o.Progress = func(string) {
			once.Do(func() {
				expect.Eventually(t, "the transaction has waited", func() bool {
					return dbtest.Count(t, d, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
						AND (state = 'idle in transaction' AND state_change < now() - interval '200 ms')`) > 0
				})
			})
		}
		return o
	}
	file, _ := export(t, from, "acc_1", waiting(from))
	if _, err := Import(t.Context(), to, bytes.NewReader(file), waiting(to)); err != nil {
		t.Fatal(err)
	}
}

// brokenFile is a writer that fails.
type brokenFile struct{ err error }

func (f brokenFile) Write([]byte) (int, error) { return 0, f.err }

// An error of the file is returned once, although the compression fails with it again.
func TestExportReturnsTheErrorOfTheFile(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	transfertest.Fill(t, d, "acc_1")
	dbtest.Exec(t, d, `UPDATE emails SET text = (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 100000) i) WHERE account_id = 'acc_1'`)
	full := errors.New("no space left on device")
	_, err := Export(t.Context(), d, "acc_1", brokenFile{full}, options)
	if !errors.Is(err, full) || strings.Count(err.Error(), full.Error()) != 1 {
		t.Errorf("the export returned %v, want %q once", err, full)
	}
}

// A person who exists at the target keeps the password there.
func TestImportKeepsExistingPeople(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	transfertest.Fill(t, from, "acc_1")
	dbtest.Exec(t, to, `INSERT INTO users (id, email, name, created_at, updated_at, operator, language) VALUES ('usr_here', 'acc_1@example.org', 'Here', now(), now(), false, '')`)
	dbtest.Exec(t, to, `INSERT INTO passwords (id, hash, changed_at) VALUES ('usr_here', 'own', now())`)
	file, _ := export(t, from, "acc_1", options)
	if _, err := Import(t.Context(), to, bytes.NewReader(file), options); err != nil {
		t.Fatal(err)
	}
	got, err := db.One(t.Context(), to.SQL, db.Value[string], `SELECT string_agg(u.id || ' ' || p.hash || ' ' || m.account_id, ', ') FROM users u JOIN passwords p ON p.id = u.id JOIN memberships m ON m.user_id = u.id`)
	if err != nil || got != "usr_here own acc_1" {
		t.Errorf("people are %q, want the existing one as a member (%v)", got, err)
	}
	without, _ := export(t, from, "acc_1", Options{Box: options.Box, Secret: options.Secret, Progress: options.Progress})
	for name := range entriesOf(t, without) {
		if strings.Contains(name, "passwords") {
			t.Errorf("an export without passwords contains %s", name)
		}
	}
}

func entriesOf(t *testing.T, file []byte) map[string][]byte {
	t.Helper()
	in, err := newBundleReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	all := map[string][]byte{}
	for {
		name, content, err := in.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[name] = content
	}
}

// rewritten returns the file with one entry replaced, and valid sums.
func rewritten(t *testing.T, file []byte, entry string, change func([]byte) []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := newBundleWriter(&out, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	in, err := newBundleReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	for {
		name, content, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if name == endName {
			continue
		}
		if name == entry {
			content = change(content)
		}
		if table, is := strings.CutPrefix(name, tablesFolder); is {
			w.end.Rows[strings.Split(table, "/")[0]] += int64(bytes.Count(content, []byte("\n")))
		}
		if err := w.add(name, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Damaged and forged files change nothing, and touch no other account.
func TestImportRejectsDamagedAndForgedFiles(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), dbtest.New(t)
	transfertest.Fill(t, from, "acc_1")
	transfertest.Fill(t, to, "acc_2")
	file, _ := export(t, from, "acc_1", options)
	replace := func(entry, old, by string) []byte {
		return rewritten(t, file, entry, func(content []byte) []byte {
			changed := bytes.ReplaceAll(content, []byte(old), []byte(by))
			if bytes.Equal(changed, content) {
				t.Errorf("%s does not contain %s", entry, old)
			}
			return changed
		})
	}
	flipped := bytes.Clone(file)
	flipped[len(flipped)/2] ^= 1
	for what, c := range map[string]struct {
		file []byte
		want string
	}{
		"half a file":                    {file[:len(file)/2], "damaged"},
		"a changed byte":                 {flipped, ""},
		"another file":                   {[]byte("PK\x03\x04"), "not a file of"},
		"a recipient of another account": {replace("tables/recipients/1.jsonl", "sent_acc_1", "sent_acc_2"), "belong to another account"},
		"a domain key for another":       {replace("tables/emails/1.jsonl", "dom_acc_1", "dom_acc_2"), "belong to another account"},
		"an unknown plan":                {replace("tables/accounts/1.jsonl", `"free"`, `"gold"`), "--plan"},
		"an unknown column":              {replace("manifest.json", `"subject"`, `"subjects"`), "no column subjects"},
		"a newer schema":                 {replace("manifest.json", `"schema": "`, `"schema": "9`), "newer version"},
		"a row that is not JSON":         {replace("tables/facts/1.jsonl", `{`, `[`), "facts"},
	} {
		_, err := Import(t.Context(), to, bytes.NewReader(c.file), options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the import returned %v, want an error with %q", what, err, c.want)
		}
		for _, table := range []string{"domains", "emails", "recipients", "memberships"} {
			if rows := asText(t, to, table, "acc_1"); rows != "" {
				t.Errorf("%s: the import left rows in %s: %s", what, table, rows)
			}
		}
	}
}
