package db_test

import (
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/dbtest"
)

func TestConfigReportsAllErrors(t *testing.T) {
	t.Parallel()
	err := db.Config{URL: "postgres://user:hunter2@host:port/x", Connections: 2, OpTimeout: time.Second,
		StatementTimeout: 2 * time.Second, LockTimeout: -1}.Validate()
	var wrong *fault.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("got the error %v", err)
	}
	got := slices.Sorted(maps.Keys(wrong.Fields))
	if diff := cmp.Diff([]string{"Connections", "LockTimeout", "StatementTimeout", "URL"}, got); diff != "" {
		t.Errorf("the fields differ (-want +got):\n%s", diff)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error contains the password: %v", err)
	}
	if err := (db.Config{URL: "postgres://localhost/x"}).Validate(); err != nil {
		t.Errorf("the defaults returned %v", err)
	}
}

func TestRequiredStandbysOfServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		commit, names string
		want          int
	}{
		{"on", "", 0}, {"on", "  ", 0}, {"on", "b", 1}, {"remote_apply", "b, c", 1}, {"on", "*", 1},
		{"on", "FIRST 2 (b, c, d)", 2}, {"on", "any 3(b,c,d)", 3}, {"on", "2 (b, c)", 2}, {"on", `"ANY 2 (b)"`, 1},
		{"local", "ANY 2 (b, c)", 0}, {"remote_write", "*", 0}, {"off", "*", 0},
	} {
		if got := db.WaitsFor(c.commit, c.names); got != c.want {
			t.Errorf("synchronous_commit=%s, synchronous_standby_names=%q: a commit waits for %d, want %d", c.commit,
				c.names, got, c.want)
		}
	}
	found := db.NewDurability(150000, "on", "on", "ANY 1 (b, c)", "")
	if err := db.Judge(found, true, 2); err == nil ||
		!strings.Contains(err.Error(), "POSTRIDER_DATABASE_STANDBYS requires 2") {
		t.Errorf("a server that waits for one of two returned %v, want an error with the reason", err)
	}
	if err := db.Judge(found, false, 1); err != nil {
		t.Errorf("a server that waits for one, as required, returned %v", err)
	}
}

func TestChecksServerSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		found db.Durability
		risk  bool
		want  []string
	}{
		"sound":             {db.NewDurability(150000, "on", "on", "", ""), false, nil},
		"replicated":        {db.NewDurability(140000, "on", "remote_apply", "", ""), false, nil},
		"everything wrong":  {db.NewDurability(130011, "off", "off", "", ""), false, []string{"14 or newer", "fsync=off", "synchronous_commit=off"}},
		"local, alone":      {db.NewDurability(150000, "on", "local", "", ""), false, nil},
		"local":             {db.NewDurability(150000, "on", "local", "ANY 1 (b, c)", ""), false, []string{"synchronous_commit=local", "failover"}},
		"not on its disk":   {db.NewDurability(150000, "on", "remote_write", "*", ""), false, []string{"synchronous_commit=remote_write"}},
		"risk accepted":     {db.NewDurability(150000, "on", "off", "", ""), true, nil},
		"risk is not fsync": {db.NewDurability(150000, "off", "off", "", ""), true, []string{"fsync=off"}},
		"test server":       {db.NewDurability(150000, "off", "on", "", "yes"), false, nil},
	} {
		err := db.Judge(test.found, test.risk, 0)
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: got the error %v, want problems with %v", name, err, test.want)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
	}
}

func TestOpenRejectsAsynchronousCommit(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t) + "&synchronous_commit=off"
	d, err := db.Open(t.Context(), db.Config{URL: address}, discard)
	if err == nil {
		t.Fatal("opened", d.Close())
	}
	if !strings.Contains(err.Error(), "synchronous_commit=off") {
		t.Errorf("got the error %v", err)
	}
	openURL(t, db.Config{URL: address, RiskLosingAcceptedMail: true})
}

func TestServerSideLimitsAreSet(t *testing.T) {
	t.Parallel()
	d := openURL(t, db.Config{URL: dbtest.URL(t) + "&lock_timeout=1234"})
	for name, want := range map[string]string{"statement_timeout": "3s", "lock_timeout": "1234ms",
		"idle_in_transaction_session_timeout": "10s", "application_name": "postrider"} {
		var got string
		if err := d.SQL.QueryRowContext(t.Context(), `SELECT current_setting($1)`, name).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q (%v), want %q", name, got, err, want)
		}
	}
}

// By default PostgreSQL compiles statements (jit) that it considers expensive, which includes all of the hot
// pool.
func TestStatementsAreNotCompiled(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t)
	before := openURL(t, db.Config{URL: address})
	if _, err := before.SQL.ExecContext(t.Context(),
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET jit = on', current_database()); END $$`); err != nil {
		t.Fatal(err)
	}
	d := openURL(t, db.Config{URL: address})
	for name, pool := range map[string]*sql.DB{"": d.SQL, "hot": d.Hot} {
		var got string
		if err := pool.QueryRowContext(t.Context(), `SELECT current_setting('jit')`).Scan(&got); err != nil || got != "off" {
			t.Errorf("the %s pool has jit = %q (%v), want off", name, got, err)
		}
	}
}

// Pin: the reason why Ent does not use Hot. With binary_parameters, JSON passed as bytes is rejected. If it
// no longer is, one handle is enough.
func TestPinHotHandleRefusesJSONBytes(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	const insert = `INSERT INTO captured_mails (mail_from, rcpt_to, size, raw) VALUES ('', $1, 0, '')`
	if _, err := d.Hot.ExecContext(t.Context(), insert, []byte(`["a@b"]`)); err == nil {
		t.Error("the hot handle accepted JSON as bytes")
	}
	if _, err := d.Hot.ExecContext(t.Context(), insert, `["a@b"]`); err != nil {
		t.Errorf("JSON as a string returned %v", err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), insert, []byte(`["a@b"]`)); err != nil {
		t.Errorf("the ordinary handle returned %v", err)
	}
}
