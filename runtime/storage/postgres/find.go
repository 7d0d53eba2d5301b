package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotReady says that nobody serves the data directory, or not yet.
var ErrNotReady = errors.New("its PostgreSQL server is not ready")

// Find gives the address of the server that another process runs on the data
// directory, for commands that have something to do in the database of a running
// service. The server is the other's: it may stop at any time.
//
// The server itself says where its socket is, in postmaster.pid: fifth line the
// folder, eighth line the state (PostgreSQL's src/include/utils/pidfile.h).
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
