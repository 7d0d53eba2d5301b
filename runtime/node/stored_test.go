package node

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/db/dbtest"
)

// A database that answers and stores nothing is not one that works: the last write grows
// old, nothing is claimed, and both come back by themselves.
func TestAStoredBeatIsOneThatEveryWriteNeeds(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(t *testing.T, s *dbtest.Server) (undo func()){
		"a read-only database":          readOnly,
		"a standby that never confirms": hangingCommits,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored(t, dbtest.NewServer(t), fault)
		})
	}
	t.Run("a disk without room", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=200m,mode=755"); err != nil {
			t.Skipf("a small disk of its own cannot be made here, which takes root: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		stored(t, dbtest.NewServerIn(t, folder), func(t *testing.T, _ *dbtest.Server) func() { return fill(t, folder) })
	})
}

func stored(t *testing.T, server *dbtest.Server, fault func(*testing.T, *dbtest.Server) func()) {
	t.Helper()
	m := join(t, server.Open(), "one")
	within(t, "beats are stored", func() bool { return m.mayRun() && m.Stored() < quick.silent })
	undo := fault(t, server)
	within(t, "the last write grows old", func() bool { return m.Stored() > 3*quick.every+quick.silent })
	if m.mayClaim() {
		t.Error("a process whose writes are not stored may claim")
	}
	undo()
	within(t, "beats are stored again", func() bool { return m.Stored() < quick.silent })
	within(t, "it may claim again", m.mayClaim)
}

func readOnly(t *testing.T, server *dbtest.Server) func() {
	t.Helper()
	d := server.Open()
	set := func(value string) {
		exec(t, d, `SET default_transaction_read_only = off; ALTER DATABASE postrider SET default_transaction_read_only = `+value)
		exec(t, d, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	}
	set("on")
	return func() { set("off") }
}

func hangingCommits(t *testing.T, server *dbtest.Server) func() {
	t.Helper()
	d := server.Open()
	set := func(value string) {
		exec(t, d, `ALTER SYSTEM SET synchronous_standby_names = `+value)
		exec(t, d, `SELECT pg_reload_conf()`)
	}
	set("'nobody'")
	return func() { set("''") }
}

// fill leaves no octet of a disk.
func fill(t *testing.T, folder string) func() {
	t.Helper()
	ballast := filepath.Join(folder, "ballast")
	file, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for chunk := bytes.Repeat([]byte("x"), 1<<20); len(chunk) > 0; {
		if _, err := file.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	}
}
