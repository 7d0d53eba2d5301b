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

// Server is a server of one test alone, to be frozen, stopped and killed.
// It flushes to disk as a real one does.
type Server struct {
	t      testing.TB
	data   string
	server *postgres.Server
	url    string

	settings map[string]string // of the server, beside those of every throw-away one
}

// NewServer starts a server with the migrated database `postrider`. It does not
// look at POSTRIDER_TEST_DATABASE_URL.
func NewServer(t testing.TB) *Server {
	t.Helper()
	return NewServerIn(t, "")
}

// NewServerIn is NewServer with its data below a folder of the test's own: a disk that
// is to become full, say. An empty folder is the usual one.
func NewServerIn(t testing.TB, folder string) *Server {
	t.Helper()
	settings := map[string]string{"shared_buffers": "32MB"}
	server, err := startBelow(folder, settings)
	if err != nil {
		t.Fatalf("test server: %v", err)
	}
	return keep(t, server, settings)
}

// Open connects to the server, with the product's impatience; closed when the test ends.
func (s *Server) Open() *db.DB {
	s.t.Helper()
	return open(s.t, db.Config{URL: s.url})
}

// OpenPatiently is Open for tests of something else than this server's silence, as New is.
func (s *Server) OpenPatiently() *db.DB {
	s.t.Helper()
	return open(s.t, patient(s.url))
}

// URL is the connection string of the migrated database. It stays the same
// when the server is stopped and started.
func (s *Server) URL() string { return s.url }

// Folder is where its data is: for NewServerIn, below the folder of the test's own.
func (s *Server) Folder() string { return filepath.Dir(s.data) }

// PID is the process id of the postmaster.
func (s *Server) PID() int { return s.server.PID() }

// Freeze stops every process of the server in its tracks (SIGSTOP).
func (s *Server) Freeze() { s.signalAll(syscall.SIGSTOP) }

// Thaw lets a frozen server go on (SIGCONT).
func (s *Server) Thaw() { s.signalAll(syscall.SIGCONT) }

// Crash ends every process at once (SIGKILL). The supervisor starts the server
// again about a second later.
func (s *Server) Crash() { s.signalAll(syscall.SIGKILL) }

// Stop ends the server, Start brings it back with its data. Stopping a stopped
// server is fine.
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
		s.t.Fatalf("start the test server again: %v", err)
	}
	s.server = server
}

// signalAll reaches the postmaster and all its children, which are sessions of
// their own.
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

// childrenOf reads /proc: tests that need it run on Linux.
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
			continue // ended meanwhile
		}
		_, after, _ := strings.Cut(string(stat), ") ") // pid (name) state ppid …
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}

// FreezePostmaster stops only the process that makes new connections.
func (s *Server) FreezePostmaster() {
	s.t.Helper()
	if err := syscall.Kill(s.PID(), syscall.SIGSTOP); err != nil {
		s.t.Fatalf("freeze the postmaster: %v", err)
	}
}
