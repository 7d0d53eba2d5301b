package postgres

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Holder returns the process that holds the data directory, and the running postmaster that serves it, or 0. It
// changes nothing.
func Holder(dataDir string) (holder, running int, err error) {
	files := filepath.Join(dataDir, "postgres")
	pid, err := postmasterPID(filepath.Join(files, "postmaster.pid"))
	if err != nil {
		return 0, 0, fmt.Errorf("embedded postgres: %w", err)
	}
	if pid != 0 && runsOn(pid, files) {
		running = pid
	}
	file, err := os.Open(filepath.Join(dataDir, "postgres.lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, running, nil
	}
	if err != nil {
		return 0, running, fmt.Errorf("embedded postgres: %w", err)
	}
	defer file.Close() // opened for reading only
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return 0, running, unlockFile(file)
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return 0, running, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	content, err := io.ReadAll(io.LimitReader(file, 128))
	if err != nil {
		return 0, running, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	holder, _ = parseLock(string(content))
	return holder, running, nil
}
