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

	"github.com/postrider/postrider/runtime/postgres"
)

// NewStandby starts a standby that streams from the server, under a name that the server's
// synchronous_standby_names may have. The test is skipped where there is no pg_basebackup.
func (s *Server) NewStandby(name string) *Server {
	s.t.Helper()
	program, err := postgres.Client(s.t.Context(), postgres.Config{BinDir: os.Getenv("POSTRIDER_POSTGRES_BIN")}, "pg_basebackup", 1)
	if err != nil {
		s.t.Skipf("no standby can be made here: %v", err)
	}
	settings := maps.Clone(s.settings)
	settings["cluster_name"], settings["hot_standby_feedback"], settings["wal_receiver_status_interval"] = name, "on", "1s"
	server, err := startStandby(s, program, settings)
	if err != nil {
		s.t.Fatalf("standby: %v", err)
	}
	return keep(s.t, server, settings)
}

// keep ends a server with the test.
func keep(t testing.TB, server *postgres.Server, settings map[string]string) *Server {
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

func startStandby(of *Server, program string, settings map[string]string) (*postgres.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	run, err := os.MkdirTemp(filepath.Dir(filepath.Dir(of.data)), "run-")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(watch(run), os.Mkdir(filepath.Join(run, "data"), 0o700)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(run))
	}
	address, err := url.Parse(of.url)
	if err != nil {
		return nil, err
	}
	files := filepath.Join(run, "data", "postgres")
	copied := exec.CommandContext(ctx, program, "--pgdata", files, "--host", address.Query().Get("host"), "--username", address.User.Username(),
		"--checkpoint=fast", "--wal-method=stream", "--no-sync", "--write-recovery-conf")
	if output, err := copied.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w: %s", err, output)
	}
	if err := belongAs(files, filepath.Join(of.data, "postgres")); err != nil {
		return nil, err
	}
	server, err := startIn(ctx, filepath.Join(run, "data"), settings)
	if err != nil {
		return nil, err
	}
	return server, os.WriteFile(filepath.Join(run, "socket"), []byte(server.SocketDir()), 0o600) // for the watcher
}

// belongAs gives files to the owner of others, which takes root where that is another user.
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

// Promote makes a standby the primary.
func (s *Server) Promote() {
	s.t.Helper()
	s.run(`SELECT pg_promote()`)
}

// WaitFor has each commit wait for standbys, as synchronous_standby_names says; the empty
// text: for none.
func (s *Server) WaitFor(names string) {
	s.t.Helper()
	s.run(`ALTER SYSTEM SET synchronous_standby_names = '`+names+`'`, `SELECT pg_reload_conf()`)
}
