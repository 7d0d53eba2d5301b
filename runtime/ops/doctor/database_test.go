package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db/dbtest"
	"github.com/postrider/postrider/runtime/storage/db/failover"
	"github.com/postrider/postrider/runtime/storage/db/replica"
)

func TestChecksLiveDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	look := func(c DatabaseConfig) map[string]Finding {
		all := map[string]Finding{}
		for _, f := range Database(d, c)(t.Context()) {
			all[f.Check] = f
		}
		return all
	}
	if got := look(DatabaseConfig{Connections: 2}); got["database.version"].Level != OK || got["nodes"].Level != OK ||
		got["database.connections"].Level != OK {
		t.Errorf("the findings for a test database are %+v, want version, nodes and connections ok", got)
	}
	if got := look(DatabaseConfig{Connections: 100_000})["database.connections"]; got.Level != Warning {
		t.Errorf("with more connections than available, got %+v, want a warning", got)
	}
	node := func(name, version string) {
		if _, err := d.SQL.ExecContext(t.Context(),
			`INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from) VALUES ($1, $2, '[]', now(), now() + interval '1 hour', now())`, name, version); err != nil {
			t.Fatal(err)
		}
	}
	// During an upgrade, the old and the new service may both run on the same data directory.
	node("a", "1.0")
	node("b", "1.1")
	if got := look(DatabaseConfig{Embedded: true})["nodes"]; got.Level != Error ||
		!strings.Contains(got.Found, "1.0, 1.1") || !strings.Contains(got.Do, "Stop all of them but one") {
		t.Errorf("for two services on one data directory, got %+v, want an error with the advice to stop one", got)
	}
	if got := look(DatabaseConfig{})["nodes"]; got.Level != OK {
		t.Errorf("for two processes that share a server, got %+v, want ok", got)
	}
	node("b", "1.1")
	if got := look(DatabaseConfig{})["nodes"]; got.Level != Error ||
		!strings.Contains(got.Found, "several are called b") {
		t.Errorf("for two processes with one name, got %+v, want an error with the name", got)
	}
}

func TestReportsProcessesOfAnotherCell(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	look := func(cell int) (got Finding) {
		for _, f := range Database(d, DatabaseConfig{Cell: cell})(t.Context()) {
			if f.Check == "nodes.cell" {
				got = f
			}
		}
		return got
	}
	dbtest.Exec(t, d, `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from, cell) VALUES
		('app1', '1', '[]', now(), now() + interval '1 hour', now(), 7), ('older', '1', '[]', now(), now() + interval '1 hour', now(), NULL),
		('dead', '1', '[]', now(), now() - interval '10 minutes', now(), 9)`)
	if got := look(7); got.Level != OK {
		t.Errorf("with the cell of the live process, got %+v, want ok", got)
	}
	if got := look(0); got.Level != Warning || got.Found != "app1 belongs to cell 7" ||
		!strings.Contains(got.Do, "POSTRIDER_CELL") {
		t.Errorf("with another cell than the live process, got %+v, want a warning with its name", got)
	}
}

// Dead processes and those with wrong clocks are reported, but not a restarted process.
func TestReportsSilentProcessesAndWrongClocks(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	look := func() map[string][]Finding {
		all := map[string][]Finding{}
		for _, f := range Database(d, DatabaseConfig{})(t.Context()) {
			all[f.Check] = append(all[f.Check], f)
		}
		return all
	}
	row := func(name, silent string, ahead any) {
		if _, err := d.SQL.ExecContext(t.Context(), `INSERT INTO nodes (name, version, roles, started_at, seen_at, claims_from, clock_ahead_ms)
			VALUES ($1, '1.0', '["delivers"]', now() - interval '2 hours', now() - $2::interval, now(), $3)`, name, silent, ahead); err != nil {
			t.Fatal(err)
		}
	}
	if got := look(); got["nodes.silent"][0].Level != OK || got["nodes.clock"][0].Level != OK {
		t.Errorf("without processes, got %+v, want no problems", got)
	}
	row("again", "10 minutes", nil)
	row("again", "-1 minute", -3_600_000)
	row("dead", "20 minutes", 99_000)
	row("dead", "12 minutes", nil)
	got := look()
	if f := got["nodes.silent"]; len(f) != 1 || f[0].Level != Warning ||
		!strings.HasPrefix(f[0].Found, "dead (1.0, delivers) for 12m") {
		t.Errorf("for dead processes, the doctor reports %+v, want the latest one with the name dead", f)
	}
	if f := got["nodes.clock"][0]; f.Level != Warning || f.Found != "again is -1h0m0s ahead" {
		t.Errorf("for clocks, the doctor reports %+v, want the process named again an hour behind", f)
	}
}

func TestReportsUnusableHosts(t *testing.T) {
	t.Parallel()
	host := func(name, system, timeline, started string, standby bool) failover.Sighting {
		return failover.Sighting{Host: name, Identity: failover.Identity{System: system, Timeline: timeline,
			Started: started, Standby: standby}}
	}
	primary, standby := host("db1:5432", "7", "00000002", "100", false), host("db2:5432", "7", "00000002", "200", true)
	old := host("db3:5432", "7", "00000001", "300", false)
	for name, c := range map[string]struct {
		all   []failover.Sighting
		level Level
		want  string
	}{
		"well":                       {[]failover.Sighting{primary, standby}, OK, "all 2"},
		"one server under two names": {[]failover.Sighting{primary, primary, standby}, OK, "all 3"},
		"a server of another cluster": {[]failover.Sighting{primary, standby,
			host("db9:5432", "8", "00000009", "900", false)}, Error, "db9:5432 is the server of another cluster"},
		"two primaries": {[]failover.Sighting{old, primary, standby}, Error,
			"2 hosts of DATABASE_URL accept writes for the same cluster: db3:5432 (timeline 1) and db1:5432 (timeline 2)"},
		"an obsolete primary": {[]failover.Sighting{old, standby}, Error, "db3:5432 accepts writes and is from before a failover"},
		"a stopped host": {[]failover.Sighting{primary,
			{Host: "db2:5432", Err: errors.New("connection refused")}}, Warning, "db2:5432: connection refused"},
		"no information": {[]failover.Sighting{{Host: "db1:5432", Err: failover.ErrHidden},
			{Host: "db2:5432", Err: failover.ErrHidden}}, OK, "all 2"},
	} {
		got := judgeHosts(c.all, "7")
		if len(got) != 1 || got[0].Level != c.level || !strings.HasPrefix(got[0].Found, c.want) {
			t.Errorf("%s: the doctor reports %+v, want the level %s and %s", name, got, c.level, c.want)
		}
	}
	if got := judgeHosts([]failover.Sighting{primary}, "7"); len(got) != 0 {
		t.Errorf("for a single host, the doctor reports %+v, want no findings", got)
	}
	split := failover.Judge("7", []failover.Sighting{old, primary})
	if got := UnusableFindings(fmt.Errorf("open database: %w", split)); len(got) != 1 ||
		got[0].Check != "database.hosts" ||
		got[0].Level != Error {
		t.Errorf("for a database that was rejected because of two primaries, the doctor reports %+v, want "+
			"database.hosts", got)
	}
}

func TestReportsInvalidReplica(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{dbtest.URL(t): "accepts writes", "host=" + t.TempDir() +
		" dbname=postrider": "no such file"} {
		got := Replica(dbtest.New(t), replica.Config{URL: url})(t.Context())
		if len(got) != 1 || got[0].Check != "database.replica" || got[0].Level != Warning ||
			!strings.Contains(got[0].Found, want) {
			t.Errorf("for the replica %s, the doctor reports %+v, want a warning with %q", url, got, want)
		}
	}
}

func TestUnopenableKeysAreAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		open, closed int
		err          error
		want         Level
	}{{3, 0, nil, OK}, {3, 1, nil, Error}, {0, 0, errors.New("away"), Skipped}} {
		got := MasterKey(func(context.Context) (int, int, error) { return c.open, c.closed, c.err })(t.Context())
		if len(got) != 1 || got[0].Level != c.want {
			t.Errorf("with %d keys that open, %d that do not and the error %v, got %+v, want the level %s",
				c.open, c.closed,
				c.err, got, c.want)
		}
	}
}

func TestReportsHolderOfDataDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	level := func() Level { return DataDir(dir)(t.Context())[0].Level }
	if got := level(); got != Skipped {
		t.Errorf("for an empty folder, the level is %s, want skipped", got)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the check left %v, %v in an empty folder, want nothing", entries, err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "postgres.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := lock.WriteString("4711 0\n"); err != nil {
		t.Fatal(err)
	}
	if got := level(); got != Skipped {
		t.Errorf("for a lock file without a holder, the level is %s, want skipped", got)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if got := DataDir(dir)(t.Context())[0]; got.Level != OK || got.Found != "process 4711" {
		t.Errorf("for a lock file with a holder, got %+v, want ok and its process", got)
	}
}
