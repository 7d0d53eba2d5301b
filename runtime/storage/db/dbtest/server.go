package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/postgres"
)

// Server is a server for one test, which may freeze, stop and kill it. It flushes to disk like a real one.
type Server struct {
	t      testing.TB
	data   string
	server *postgres.Server
	url    string

	settings map[string]string // in addition to the settings of every disposable server
}

// NewServer starts a server with the migrated database `postrider`. It ignores POSTRIDER_TEST_DATABASE_URL.
func NewServer(t testing.TB) *Server {
	t.Helper()
	return NewServerIn(t, "")
}

// NewServerIn is NewServer with its data in a given folder, for example on a disk that the test fills up.
// If folder is empty, the usual one is used.
func NewServerIn(t testing.TB, folder string) *Server {
	t.Helper()
	settings := map[string]string{"shared_buffers": "32MB"}
	server, err := startBelow(folder, settings)
	if err != nil {
		t.Fatalf("test server: %v", err)
	}
	return stopAfterTest(t, server, settings)
}

// Open connects to the server with the timeouts of the product. The connection is closed when the test
// ends.
func (s *Server) Open() *db.DB {
	s.t.Helper()
	return openDatabase(s.t, db.Config{URL: s.url})
}

// OpenPatiently is Open for tests that are not about an unresponsive server, see New.
func (s *Server) OpenPatiently() *db.DB {
	s.t.Helper()
	return openDatabase(s.t, patientConfig(s.url))
}

// URL returns the connection string of the migrated database. It stays the same when the server is stopped
// and started.
func (s *Server) URL() string { return s.url }

// Folder returns the folder with the server's data: for NewServerIn, inside the given folder.
func (s *Server) Folder() string { return filepath.Dir(s.data) }

// PID returns the process id of the postmaster.
func (s *Server) PID() int { return s.server.PID() }

// Freeze suspends every process of the server (SIGSTOP).
func (s *Server) Freeze() { s.signalAll(syscall.SIGSTOP) }

// Thaw resumes a frozen server (SIGCONT).
func (s *Server) Thaw() { s.signalAll(syscall.SIGCONT) }

// Crash kills every process immediately (SIGKILL). The supervisor restarts the server about a second later.
func (s *Server) Crash() { s.signalAll(syscall.SIGKILL) }

// Stop stops the server; Start starts it again with its data. Stopping a stopped server has no effect.
func (s *Server) Stop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.server.Stop(ctx); err != nil {
		s.t.Errorf("stop the test server: %v", err)
	}
}

// Start starts the server again after Stop.
func (s *Server) Start() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	server, err := startIn(ctx, s.data, s.settings)
	if err != nil {
		s.t.Fatalf("restart the test server: %v", err)
	}
	s.server = server
}

// signalAll signals the postmaster and all its children, which have sessions of their own.
func (s *Server) signalAll(what syscall.Signal) {
	s.t.Helper()
	postmaster := s.PID()
	if postmaster == 0 {
		return
	}
	for _, pid := range append([]int{postmaster}, childrenOf(s.t, postmaster)...) {
		if err := syscall.Kill(pid, what); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.t.Fatalf("signal process %d: %v", pid, err)
		}
	}
}

// childrenOf reads /proc, so tests that need it require Linux.
func childrenOf(t testing.TB, parent int) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatalf("list processes: %v", err)
	}
	var children []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // ended in the meantime
		}
		_, after, _ := strings.Cut(string(stat), ") ") // pid (name) state ppid …
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}

// FreezePostmaster suspends only the process that accepts new connections.
func (s *Server) FreezePostmaster() {
	s.t.Helper()
	if err := syscall.Kill(s.PID(), syscall.SIGSTOP); err != nil {
		s.t.Fatalf("freeze the postmaster: %v", err)
	}
}
