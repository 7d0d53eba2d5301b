package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotReady means that no process serves the data directory yet.
var ErrNotReady = errors.New("its PostgreSQL server is not ready")

// Find returns the address of the server that another process runs on the data directory, for commands that
// need the database of a running service. That process owns the server and may stop it at any time.
//
// The server publishes its socket in postmaster.pid: the fifth line is the folder, the eighth the state
// (PostgreSQL's src/include/utils/pidfile.h).
func Find(dataDir string) (string, error) {
	files := filepath.Join(dataDir, "postgres")
	path := filepath.Join(files, "postmaster.pid")
	pid, err := postmasterPID(path)
	if err != nil {
		return "", fmt.Errorf("embedded postgres: %w", err)
	}
	if pid == 0 || !runsOn(pid, files) {
		return "", ErrNotReady
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("embedded postgres: data directory: %w", err)
	}
	lines := strings.Split(string(content), "\n")
	if len(lines) < 8 || strings.TrimSpace(lines[7]) != "ready" {
		return "", ErrNotReady
	}
	return addressOf(lines[4], role), nil
}
