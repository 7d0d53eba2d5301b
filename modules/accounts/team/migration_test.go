package team_test

import (
	"io/fs"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/ent/migrate/migrations"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

const peopleMigration = "20261123110902_people.sql"

// migrate runs the migrations from one name up to another, exclusive; "" means through the last.
func migrate(t *testing.T, on db.Execer, from, before string) {
	t.Helper()
	names, err := fs.Glob(migrations.Files, "*.sql") // in order
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name < from || before != "" && name >= before {
			continue
		}
		content, err := migrations.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := on.ExecContext(t.Context(), string(content)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// The migration merges users of one mailbox into the oldest of them, who stays a member of each account.
// Accounts, keys and all other rows remain unchanged.
func TestMigrationMergesUsersOfOneMailbox(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.EmptyURL(t), Connections: 8}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	migrate(t, d.SQL, "", peopleMigration)
	for _, statement := range []string{
		`INSERT INTO accounts (id, name, email, plan_id) VALUES ('acc_1', 'One', 'ada@example.com', 'scale'), ('acc_2', 'Two', 'bob@example.com', 'free'), ('acc_3', 'Three', 'cy@example.com', 'free')`,
		`INSERT INTO users (id, account_id, email, name, role, created_at) VALUES
			('usr_1', 'acc_1', 'ada@example.com', 'Ada', 'owner', '2026-01-01'),
			('usr_2', 'acc_2', 'Ada@Example.com', 'Ada B.', 'member', '2026-02-01'),
			('usr_3', 'acc_2', 'bob@example.com', 'Bob', 'owner', '2026-01-15'),
			('usr_4', 'acc_3', 'cy@example.com', 'Cy', 'owner', '2026-01-16'),
			('usr_5', 'acc_3', 'ADA@example.com', 'Ada C.', 'owner', '2025-12-01')`,
		`INSERT INTO api_keys (id, account_id, name, prefix, hash, scope) VALUES ('key_1', 'acc_2', 'Old', 'svc_old', '\x01', 'full')`,
	} {
		if _, err := d.SQL.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	migrate(t, d.SQL, peopleMigration, "")
	for what, c := range map[string]struct {
		query string
		want  []string
	}{
		"users": {`SELECT id || ' ' || email || ' ' || name FROM users ORDER BY id`,
			[]string{"usr_3 bob@example.com Bob", "usr_4 cy@example.com Cy", "usr_5 ada@example.com Ada C."}},
		"memberships": {`SELECT account_id || ' ' || user_id || ' ' || role FROM memberships ORDER BY 1`,
			[]string{"acc_1 usr_5 owner", "acc_2 usr_3 owner", "acc_2 usr_5 developer", "acc_3 usr_4 owner",
				"acc_3 usr_5 owner"}},
		"accounts": {`SELECT id || ' ' || email FROM accounts ORDER BY id`,
			[]string{"acc_1 ada@example.com", "acc_2 bob@example.com", "acc_3 cy@example.com"}},
		"keys": {`SELECT id || ' ' || account_id FROM api_keys`, []string{"key_1 acc_2"}},
	} {
		got, err := db.All(t.Context(), d.SQL, db.Value[string], c.query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s after the migration (-want +got):\n%s", what, diff)
		}
	}
}
