package moves

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/expect"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/ops/transfer/transfertest"
	"github.com/postrider/postrider/runtime/storage/blob"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

// copyOf returns a statement that copies rows of acc_1 n times with other values.
func copyOf(table, condition, n, values string) string {
	return `INSERT INTO ` + table + ` OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(t, jsonb_build_object(` + values + `))).* FROM ` + table +
		` t, generate_series(1, ` + n + `) n WHERE ` + condition
}

// sent is finished work of acc_1.
var sent = []string{
	copyOf("emails", `id = 'sent_acc_1'`, "40", `'id', 'old_' || n`),
	copyOf("recipients", `email_id = 'sent_acc_1'`, "40", `'id', 1000 + n, 'email_id', 'old_' || n`),
	copyOf("attempts", `email_id = 'sent_acc_1'`, "40", `'id', 1000 + n, 'email_id', 'old_' || n, 'recipient_id', 1000 + n`),
	copyOf("facts", `subject_id = 'sent_acc_1'`, "40", `'id', 'evt_00' || n, 'subject_id', 'old_' || n`),
	`UPDATE emails SET body_key = id, text = NULL WHERE id IN ('old_4', 'old_8', 'old_9')`,
	`INSERT INTO suppressions (id, account_id, address_hash, email, reason, created_at) SELECT 'sup_' || n, 'acc_1', n::text::bytea, n || '@example.net', 'manual', now() FROM generate_series(1, 9) n`,
	`INSERT INTO audit_entries (id, account_id, actor_kind, actor_id, action, target, created_at) SELECT 'aud_' || n, 'acc_1', 'user', 'usr_acc_1', 'template.updated', '', now() FROM generate_series(1, 9) n`,
	`INSERT INTO webhook_deliveries (id, account_id, webhook_id, event_id, event_type, event_created_at, state, attempts, replays, error, created_at, settled_at)
		SELECT 'whd_' || n, 'acc_1', 'wh_acc_1', 'evt_00' || n, 'email.sent', now(), 'delivered', 1, 0, '', now(), now() FROM generate_series(1, 9) n`,
	`INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, error, response, remote_addr, outcome)
		SELECT 'whd_' || n, 'acc_1', 1, 1, now(), '', '', '', 'delivered' FROM generate_series(1, 9) n`,
}

// sentChanges are what happens to an account between the base and the freeze.
var sentChanges = []string{
	// An accepted email, which is queued.
	copyOf("emails", `id = 'queued_acc_1'`, "3", `'id', 'fresh_' || n`),
	copyOf("recipients", `email_id = 'queued_acc_1'`, "3", `'id', 2000 + n, 'email_id', 'fresh_' || n`),
	copyOf("facts", `subject_id = 'sent_acc_1' AND id LIKE 'evt_s%'`, "3", `'id', 'evt_01' || n, 'subject_id', 'fresh_' || n`),
	// The queued email of the base has been sent, and an old one has bounced later.
	`UPDATE emails SET status = 'delivered', release_at = NULL WHERE id = 'queued_acc_1'`,
	`UPDATE recipients SET state = 'delivered', due_at = NULL, lane = NULL WHERE email_id = 'queued_acc_1'`,
	`UPDATE recipients SET state = 'bounced' WHERE email_id = 'old_2'`,
	copyOf("attempts", `email_id = 'old_3'`, "1", `'id', 5000, 'number', 2, 'fence', 2`),
	// Retention deletes one, only the attempt of another, and a fact.
	`DELETE FROM emails WHERE id = 'old_4'`, `DELETE FROM attempts WHERE email_id IN ('old_4', 'old_5')`, `DELETE FROM facts WHERE id IN ('evt_004', 'evt_006')`,
	// A person is erased.
	`UPDATE recipients SET address = '' WHERE email_id = 'old_7'`, `UPDATE emails SET text = NULL, "to" = '[]' WHERE id = 'old_7'`,
	`UPDATE emails SET uncommon = 'bounced' WHERE id = 'old_8'`, `UPDATE emails SET body_key = NULL, body_purged_at = now() WHERE id = 'old_9'`,
	`DELETE FROM suppressions WHERE id = 'sup_1'`, `UPDATE suppressions SET email = NULL WHERE id = 'sup_2'`,
	`DELETE FROM webhook_deliveries WHERE id = 'whd_1'`, `DELETE FROM webhook_attempts WHERE delivery_id IN ('whd_1', 'whd_2')`,
	`UPDATE automations SET name = 'Farewell'`, `UPDATE domains SET tls_mode = 'required' WHERE account_id = 'acc_1'`,
	`UPDATE accounts SET name = 'Ada & Co' WHERE id = 'acc_1'`,
}

func execAll(t *testing.T, d *db.DB, statements []string) {
	t.Helper()
	for _, statement := range statements {
		dbtest.Exec(t, d, statement)
	}
}

// rowsOf returns the rows of acc_1 by table, without what a move changes.
func rowsOf(t *testing.T, d *db.DB) map[string]string {
	t.Helper()
	names, err := db.All(t.Context(), d.SQL, db.Value[string], `SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		all[name], err = db.One(t.Context(), d.SQL, db.Value[string], `SELECT coalesce(string_agg(v::text, E'\n' ORDER BY v::text), '') FROM (SELECT to_jsonb(t) - 'recipient_id' - 'content_id' - 'n' - 'node' - 'due_at' - 'address_hash' - 'number_hash'
	- CASE WHEN jsonb_typeof(to_jsonb(t) -> 'id') = 'number' THEN 'id' ELSE '' END AS v FROM `+name+` t WHERE account_id = 'acc_1') r`)
		if err != nil {
			t.Fatal(err)
		}
	}
	addDomainRows(t, d, all)
	return all
}

// memory is an object store.
type memory struct{ sync.Map }

func (m *memory) Put(_ context.Context, key string, data io.ReaderAt, size int64) error {
	content, err := io.ReadAll(io.NewSectionReader(data, 0, size))
	m.Store(key, content)
	return err
}

func (m *memory) Get(_ context.Context, key string) (io.ReadCloser, error) {
	content, found := m.Load(key)
	if !found {
		return nil, blob.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(content.([]byte))), nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.Map.Delete(key)
	return nil
}

func (m *memory) Check(context.Context) error { return nil }

// withObjects returns options with an object store that contains the objects of history.
func withObjects() Options {
	o, store := options, &memory{}
	for _, key := range []string{"old_4", "old_8", "old_9", "raw_105", "raw_106", "raw_107", "raw_108"} {
		store.Store(key, []byte(key))
	}
	o.Objects = store
	return o
}

func largeAccounts(t *testing.T) (from *db.DB, to *directTarget) {
	t.Helper()
	from, to = dbtest.New(t), &directTarget{db: dbtest.New(t), objects: &memory{}}
	for _, account := range []string{"acc_1", "acc_2"} {
		transfertest.Fill(t, from, account)
		transfertest.FillWork(t, from, account)
	}
	execAll(t, from, slices.Concat(sent, received, reports, others))
	return from, to
}

// Whatever changes while the base is copied, the copy at the target is exact.
func TestDifferenceMakesBaseExact(t *testing.T) {
	t.Parallel()
	for what, statements := range map[string][]string{"all changes": changes, "no change": nil} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			from, to := largeAccounts(t)
			// The person has an account at the target.
			dbtest.Exec(t, to.db, `INSERT INTO users (id, email, name, created_at, updated_at, operator, language) VALUES ('usr_here', 'acc_1@example.org', 'Here', now(), now(), false, '')`)
			var due string
			to.after = func() error {
				if to.imports == 1 {
					wantState(t, from, "acc_1", transfer.Settled)
					wantState(t, to.db, "acc_1", transfer.Waiting)
					wantNoWork(t, to.db)
					wantSleepingDomains(t, to.db)
					execAll(t, from, statements)
					due = dueTimes(t, from, "acc_1")
					if statements == nil {
						return nil
					}
					// The target has begun to move a body to its object store.
					dbtest.Exec(t, to.db, `INSERT INTO body_moves (account_id, email_id, object_key, due_at, attempts) VALUES ('acc_1', 'old_7', 'moving', now(), 1)`)
					return nil
				}
				want, got := rowsOf(t, from), rowsOf(t, to.db)
				delete(got, "body_moves")
				delete(want, "body_moves")
				if statements != nil {
					wantReceivedObjects(t, to)
				}
				for _, table := range []string{"memberships", "audit_entries"} {
					want[table] = strings.ReplaceAll(want[table], "usr_acc_1", "usr_here")
				}
				if diff := cmp.Diff(want, got); diff != "" || strings.Count(got["emails"], "\n") < 40 {
					t.Errorf("the copy differs (-source +target):\n%s", diff)
				}
				return nil
			}
			if err := Move(t.Context(), from, "acc_1", to, withObjects()); err != nil {
				t.Fatal(err)
			}
			if to.imports != 2 {
				t.Errorf("%d files were imported, want a base and a difference", to.imports)
			}
			if diff := cmp.Diff(due, dueTimes(t, to.db, "acc_1")); diff != "" {
				t.Errorf("the work has changed (-source +target):\n%s", diff)
			}
			removed, err := db.One(t.Context(), to.db.SQL, db.Value[string], `SELECT coalesce(string_agg(object_key, ' ' ORDER BY object_key), '') FROM body_moves WHERE remove`)
			if want := map[bool]string{true: "moving old_4 old_9"}[statements != nil]; err != nil || removed != want {
				t.Errorf("the objects %q will be removed, want %q (%v)", removed, want, err)
			}
			attempts := dbtest.Count(t, to.db, `SELECT count(*) FROM attempts a WHERE NOT EXISTS (SELECT FROM recipients r WHERE r.id = a.recipient_id AND r.email_id = a.email_id)`)
			if attempts != 0 {
				t.Errorf("%d attempts have lost their recipients", attempts)
			}
		})
	}
}

func wantNoWork(t *testing.T, d *db.DB) {
	t.Helper()
	if strings.Contains(dueTimes(t, d, "acc_1"), "acc_1") {
		t.Errorf("the base contains unfinished work:\n%s", dueTimes(t, d, "acc_1"))
	}
}

// A difference completes only the base that it was made for, and a base never starts.
func TestDifferenceNeedsItsBase(t *testing.T) {
	t.Parallel()
	from, to := largeAccounts(t)
	baseFile := func() (*transfer.Base, []byte) {
		var file bytes.Buffer
		base, err := transfer.ExportBase(t.Context(), from, "acc_1", &file, withObjects().Options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := base.Close(); err != nil {
				t.Error(err)
			}
		})
		return base, file.Bytes()
	}
	load := func(file []byte) error {
		_, err := transfer.Import(t.Context(), to.db, bytes.NewReader(file), withObjects().Options)
		return err
	}
	wantLoaded := func(file []byte) {
		t.Helper()
		if err := load(file); err != nil {
			t.Fatal(err)
		}
	}
	_, other := baseFile()
	base, file := baseFile()
	o := withObjects()
	o.base = base
	var difference bytes.Buffer
	if _, err := ExportMove(t.Context(), from, "acc_1", &difference, o); err != nil {
		t.Fatal(err)
	}
	code, err := Finish(t.Context(), from, "acc_1", "https://new.example", false)
	if err != nil {
		t.Fatal(err)
	}
	wantRefused := func(what string) {
		t.Helper()
		if err := load(difference.Bytes()); err == nil || !strings.Contains(err.Error(), "completes a copy") {
			t.Errorf("%s, the difference was imported: %v", what, err)
		}
	}
	wantRefused("without a base")
	wantLoaded(other)
	wantRefused("after another base")
	wantLoaded(file)
	if err := load(file[:len(file)/2]); err == nil {
		t.Error("half a base was imported")
	}
	for _, guess := range []string{code, base.ID} {
		if err := Start(t.Context(), to.db, "acc_1", guess); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("a base was started: %v", err)
		}
	}
	if err := load(difference.Bytes()[:difference.Len()/2]); err == nil {
		t.Error("half a difference was imported")
	}
	wantLoaded(difference.Bytes())
	wantRefused("twice")
	if err := Start(t.Context(), to.db, "acc_1", code); err != nil {
		t.Error(err)
	}
}

// A move whose base is lost at either side goes back to the source, and the next one succeeds.
func TestLostBaseGoesBackToSource(t *testing.T) {
	t.Parallel()
	for what, lose := range map[string]func(from *db.DB, to *directTarget){
		"another base at the target": func(_ *db.DB, to *directTarget) {
			dbtest.Exec(t, to.db, `UPDATE accounts SET move_id = 'base_other' WHERE id = 'acc_1'`)
		},
		"an empty target": func(_ *db.DB, to *directTarget) { to.db = dbtest.New(t) },
		"the tables of the source": func(from *db.DB, _ *directTarget) {
			expect.Eventually(t, "the base is complete", func() bool {
				return dbtest.Count(t, from, `SELECT count(*) FROM pg_class WHERE relname = 'transfer_open'`) == 1
			})
			dbtest.Exec(t, from, `DO $$ BEGIN EXECUTE (SELECT 'DROP TABLE ' || oid::regclass FROM pg_class WHERE relname = 'transfer_changed'); END $$`)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			from, to := largeAccounts(t)
			before := dueTimes(t, from, "acc_1")
			to.after = func() error {
				to.after = nil
				lose(from, to)
				return nil
			}
			if err := Move(t.Context(), from, "acc_1", to, withObjects()); err == nil || errors.As(err, new(StartError)) {
				t.Errorf("the move returned %v, want an error", err)
			}
			wantState(t, from, "acc_1", transfer.Settled)
			if diff := cmp.Diff(before, dueTimes(t, from, "acc_1")); diff != "" {
				t.Errorf("the work has changed (-before +after):\n%s", diff)
			}
			if err := Move(t.Context(), from, "acc_1", to, withObjects()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, dueTimes(t, to.db, "acc_1")); diff != "" {
				t.Errorf("the work has changed (-source +target):\n%s", diff)
			}
		})
	}
}

// An account that returns to an installation is redirected there, by its keys, until the difference has arrived.
func TestReturningAccountIsRedirectedMeanwhile(t *testing.T) {
	t.Parallel()
	here, away := largeAccounts(t)
	dbtest.Exec(t, here, `INSERT INTO api_keys (id, account_id, name, prefix, hash, scope) VALUES ('key_1', 'acc_1', 'App', 'svc_1', '\x01', 'full')`)
	if err := Move(t.Context(), here, "acc_1", away, withObjects()); err != nil {
		t.Fatal(err)
	}
	back := &directTarget{db: here, objects: away.objects}
	back.after = func() error {
		if back.imports > 1 {
			wantState(t, here, "acc_1", transfer.Waiting)
			return nil
		}
		wantState(t, here, "acc_1", transfer.Moved)
		if dbtest.Count(t, here, `SELECT count(*) FROM api_keys k JOIN accounts a ON a.id = k.account_id
			WHERE a.id = 'acc_1' AND a.moved_to = 'https://new.example'`) == 0 {
			t.Error("the account has no keys by which clients are redirected")
		}
		execAll(t, away.db, changes)
		return errors.New("connection reset") // the source asks for the state
	}
	if err := Move(t.Context(), away.db, "acc_1", back, withObjects()); err != nil {
		t.Fatal(err)
	}
	wantState(t, here, "acc_1", transfer.Settled)
	name, err := db.One(t.Context(), here.SQL, db.Value[string], `SELECT name FROM accounts WHERE id = 'acc_1' AND moved_to IS NULL`)
	if err != nil || name != "Ada & Co" {
		t.Errorf("the account that returned has the name %q (%v)", name, err)
	}
}

// The target counts no events while an import replaces a copy: it could otherwise keep statistics of deleted events.
func TestImportsThatReplaceRowsHoldStatistics(t *testing.T) {
	t.Parallel()
	from, to := dbtest.New(t), &directTarget{db: dbtest.New(t)}
	transfertest.Fill(t, from, "acc_1")
	dbtest.Exec(t, to.db, `INSERT INTO statistics_marks (id, fact_id) VALUES (1, '')`)
	held := map[int]map[bool]int{} // by the number of the import: how often events could (not) be counted
	to.progress = func(string) {
		_, err := db.Exec(t.Context(), to.db.SQL, `SELECT FROM statistics_marks WHERE id = 1 FOR UPDATE NOWAIT`)
		if held[to.imports] == nil {
			held[to.imports] = map[bool]int{}
		}
		held[to.imports][err != nil]++
	}
	to.after = func() error {
		if to.imports == 2 {
			dbtest.Exec(t, to.db, `UPDATE accounts SET move_id = 'other' WHERE id = 'acc_1'`)
			return errors.New("connection reset")
		}
		return nil
	}
	if err := Move(t.Context(), from, "acc_1", to, options); err == nil {
		t.Fatal("the first move has not failed")
	}
	if err := Move(t.Context(), from, "acc_1", to, options); err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]bool{1: false, 2: true, 3: true, 4: true} { // base, difference, base of the copy, difference
		if got := held[number]; got[want] == 0 || got[!want] > 0 {
			t.Errorf("import %d held the statistics %d times of %d, want all or none: %v", number, got[true], got[true]+got[false], want)
		}
	}
}
