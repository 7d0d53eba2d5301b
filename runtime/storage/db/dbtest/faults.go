package dbtest

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SetReadOnly makes the database reject every write, or accept writes again. Open connections are closed, so
// that the change affects all of them.
func (s *Server) SetReadOnly(on bool) {
	s.t.Helper()
	value := "off"
	if on {
		value = "on"
	}
	s.runStatements(`SET default_transaction_read_only = off`, `ALTER DATABASE `+templateName+
		` SET default_transaction_read_only = `+value,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
}

// SetHangingCommits makes every commit wait for a standby that does not exist, or reverts that.
func (s *Server) SetHangingCommits(on bool) {
	s.t.Helper()
	names := ""
	if on {
		names = "nobody"
	}
	s.WaitFor(names)
}

// BecomeForeign changes the system identifier of a server, because copies of the same data otherwise belong
// to one cluster.
func (s *Server) BecomeForeign() {
	s.t.Helper()
	s.runStatements(`CREATE FUNCTION public.pg_control_system(OUT system_identifier bigint) LANGUAGE sql AS 'SELECT 42::bigint'`,
		`ALTER ROLE CURRENT_USER SET search_path = public, pg_catalog`)
}

// Empty drops the tables of the database.
func (s *Server) Empty() {
	s.t.Helper()
	s.runStatements(`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`)
}

// runStatements runs statements on a separate connection.
func (s *Server) runStatements(statements ...string) {
	s.t.Helper()
	handle, err := sql.Open("postgres", s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	handle.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := handle.ExecContext(s.t.Context(), statement); err != nil {
			s.t.Fatalf("the statement %s failed: %v", statement, err)
		}
	}
	if err := handle.Close(); err != nil {
		s.t.Error(err)
	}
}

// SmallDisk returns a folder on a separate disk of a given size, for example "200m". It requires root on
// Linux; elsewhere the test is skipped.
func SmallDisk(t testing.TB, size string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size+",mode=755"); err != nil {
		t.Skipf("cannot create a small disk without root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// Fill fills a disk completely, until the returned function is called.
func Fill(t testing.TB, folder string) (undo func()) {
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
		t.Helper()
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	}
}
