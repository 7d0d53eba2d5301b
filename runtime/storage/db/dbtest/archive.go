package dbtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
)

// Archive is the WAL archive of a server and a base backup, for point-in-time recovery. The settings are
// those of docs/backup.md.
type Archive struct {
	of  *Server
	wal string // folder
	run string // folder of the base backup
}

// Archive makes the server archive its WAL from now on, which requires a restart.
func (s *Server) Archive() *Archive {
	s.t.Helper()
	wal, err := os.MkdirTemp("", "postrider-wal-") // PostgreSQL runs as a user that cannot access a folder of root
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := os.RemoveAll(wal); err != nil {
			s.t.Error(err)
		}
	})
	if err := belongAs(wal, filepath.Join(s.data, "postgres")); err != nil {
		s.t.Fatal(err)
	}
	s.runStatements(`ALTER SYSTEM SET archive_mode = on`,
		fmt.Sprintf(`ALTER SYSTEM SET archive_command = 'test ! -f %[1]s/%%f && cp %%p %[1]s/%%f.part && sync %[1]s/%%f.part && mv %[1]s/%%f.part %[1]s/%%f'`, wal))
	s.Stop()
	s.Start()
	return &Archive{of: s, wal: wal}
}

// TakeBase takes the base backup. The test is skipped if pg_basebackup is not available.
func (a *Archive) TakeBase() {
	a.of.t.Helper()
	ctx, cancel := context.WithTimeout(a.of.t.Context(), patience)
	defer cancel()
	a.run = a.of.baseBackup(ctx)
}

// Finish waits until all WAL written so far is archived.
func (a *Archive) Finish(t testing.TB) {
	t.Helper()
	d := a.of.Open()
	var last string
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT pg_walfile_name(pg_switch_wal())`).Scan(&last); err != nil {
		t.Fatal(err)
	}
	expect.EventuallyWithin(t, patience, "the log is archived", func() bool {
		_, err := os.Stat(filepath.Join(a.wal, last))
		return err == nil
	})
}

// Restore starts a server from the base backup, which recovers to a point in time by the clock of the
// database and then accepts writes.
func (a *Archive) Restore(moment string) *Server {
	s := a.of
	s.t.Helper()
	files := filepath.Join(a.run, "data", "postgres")
	settings, err := os.OpenFile(filepath.Join(files, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(settings,
			"archive_mode = off\nrestore_command = 'cp %s/%%f %%p'\nrecovery_target_time = '%s'\nrecovery_target_action = 'promote'\n", a.wal, moment)
		err = errors.Join(err, settings.Close(), os.WriteFile(filepath.Join(files, "recovery.signal"), nil, 0o600),
			belongAs(files, filepath.Join(s.data, "postgres")))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	restored := s.startFrom(ctx, a.run, s.settings)
	d := restored.Open()
	expect.EventuallyWithin(s.t, patience, "the server has reached now", func() bool {
		var replays bool
		return d.SQL.QueryRowContext(s.t.Context(), `SELECT pg_is_in_recovery()`).Scan(&replays) == nil && !replays
	})
	return restored
}
