package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/postrider/postrider/runtime/storage/postgres"
)

// NewStandby starts a standby that streams from the server, under a name for the server's
// synchronous_standby_names. The test is skipped if pg_basebackup is not available.
func (s *Server) NewStandby(name string) *Server {
	s.t.Helper()
	settings := maps.Clone(s.settings)
	settings["cluster_name"], settings["hot_standby_feedback"], settings["wal_receiver_status_interval"] = name, "on",
		"1s"
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	return s.startFrom(ctx, s.baseBackup(ctx, "--write-recovery-conf"), settings)
}

// startFrom starts a server on a folder created by baseBackup.
func (s *Server) startFrom(ctx context.Context, run string, settings map[string]string) *Server {
	s.t.Helper()
	server, err := startIn(ctx, filepath.Join(run, "data"), settings)
	if err != nil {
		s.t.Fatalf("start a copy of the test server: %v", err)
	}
	// for the watcher
	if err := os.WriteFile(filepath.Join(run, "socket"), []byte(server.SocketDir()), 0o600); err != nil {
		s.t.Error(err)
	}
	return stopAfterTest(s.t, server, settings)
}

// baseBackup copies the files of the running server and returns the folder. The test is skipped if
// pg_basebackup is not available.
func (s *Server) baseBackup(ctx context.Context, more ...string) (run string) {
	s.t.Helper()
	program, err := postgres.Client(ctx, postgres.Config{BinDir: os.Getenv("POSTRIDER_POSTGRES_BIN")}, "pg_basebackup",
		1)
	if err != nil {
		s.t.Skipf("cannot copy the test server here: %v", err)
	}
	if run, err = copyRunning(ctx, s, program, more); err != nil {
		s.t.Fatalf("copy the test server: %v", err)
	}
	return run
}

// stopAfterTest stops a server when the test ends.
func stopAfterTest(t testing.TB, server *postgres.Server, settings map[string]string) *Server {
	s := &Server{t: t, server: server, url: server.URL(), data: server.DataDir(), settings: settings}
	t.Cleanup(func() {
		s.Thaw()
		s.Stop()
		if err := os.RemoveAll(filepath.Dir(s.data)); err != nil {
			t.Errorf("remove the test server: %v", err)
		}
	})
	return s
}

func copyRunning(ctx context.Context, of *Server, program string, more []string) (run string, err error) {
	if run, err = os.MkdirTemp(filepath.Dir(filepath.Dir(of.data)), "run-"); err != nil {
		return "", err
	}
	if err := errors.Join(startWatcher(run), os.Mkdir(filepath.Join(run, "data"), 0o700)); err != nil {
		return "", errors.Join(err, os.RemoveAll(run))
	}
	address, err := url.Parse(of.url)
	if err != nil {
		return "", err
	}
	files := filepath.Join(run, "data", "postgres")
	copied := exec.CommandContext(ctx, program,
		append([]string{"--pgdata", files, "--host", address.Query().Get("host"), "--username", address.User.Username(),
			"--checkpoint=fast", "--wal-method=stream", "--no-sync"}, more...)...)
	if output, err := copied.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pg_basebackup: %w: %s", err, output)
	}
	return run, belongAs(files, filepath.Join(of.data, "postgres"))
}

// belongAs changes the owner of files to the owner of others, which requires root if it is another user.
func belongAs(files, others string) error {
	info, err := os.Stat(others)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return filepath.WalkDir(files, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
}

// Promote promotes a standby to primary.
func (s *Server) Promote() {
	s.t.Helper()
	s.runStatements(`SELECT pg_promote()`)
}

// PauseReplay pauses or resumes the replay of a standby.
func (s *Server) PauseReplay(on bool) {
	s.t.Helper()
	what := "resume"
	if on {
		what = "pause"
	}
	s.runStatements(`SELECT pg_wal_replay_` + what + `()`)
}

// ReplayLate makes a standby replay each commit with a delay; 0 means immediately.
func (s *Server) ReplayLate(by time.Duration) {
	s.t.Helper()
	s.runStatements(fmt.Sprintf(`ALTER SYSTEM SET recovery_min_apply_delay = '%dms'`, by.Milliseconds()), `SELECT pg_reload_conf()`)
}

// Follow makes a standby stream from another server.
func (s *Server) Follow(primary *Server) {
	s.t.Helper()
	address, err := url.Parse(primary.url)
	if err != nil {
		s.t.Fatal(err)
	}
	s.runStatements(`ALTER SYSTEM SET primary_conninfo = 'host=`+address.Query().Get("host")+` user=`+address.User.Username()+`'`, `SELECT pg_reload_conf()`)
}

// WaitFor sets synchronous_standby_names, so that commits wait for standbys; empty means none.
func (s *Server) WaitFor(names string) {
	s.t.Helper()
	s.runStatements(`ALTER SYSTEM SET synchronous_standby_names = '`+names+`'`, `SELECT pg_reload_conf()`)
}
