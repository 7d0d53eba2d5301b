package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Find returns a running server for any path of its data directory. It does not return a stopped server whose
// file remains.
func TestFindReturnsRunningServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if _, err := Find(data); !errors.Is(err, ErrNotReady) {
		t.Errorf("before the first start, got %v", err)
	}
	s := start(t, data)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{data, link} {
		if got, err := Find(path); err != nil || got != s.URL() {
			t.Errorf("Find returned %q (%v), want %q", got, err, s.URL())
		}
	}
	var busy *InUseError
	if _, err := Start(t.Context(), Config{DataDir: link, Logger: discard}); !errors.As(err, &busy) ||
		busy.Holder != os.Getpid() {
		t.Errorf("the second start returned %v", err)
	}
	left, err := os.ReadFile(filepath.Join(data, "postgres", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	if _, err := Find(data); !errors.Is(err, ErrNotReady) {
		t.Errorf("after the stop, got %v", err)
	}
	// The files after a crash, with the pid reused by a process that is not a server.
	stale := append([]byte(strconv.Itoa(os.Getpid())), left[len(strconv.Itoa(s.process.pid)):]...)
	if err := os.WriteFile(filepath.Join(data, "postgres", "postmaster.pid"), stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(data); !errors.Is(err, ErrNotReady) {
		t.Errorf("with a stale file, got %v", err)
	}
}
