package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// awaitPredecessor waits for a server that still runs on the files: after a kill -9 of Postrider, the old
// postmaster needs a moment to shut down. A server that Postrider did not start is not stopped but
// reported.
func awaitPredecessor(ctx context.Context, files string, ours int, log *slog.Logger) error {
	const patience = 60 * time.Second
	path := filepath.Join(files, "postmaster.pid")
	deadline, report := time.Now().Add(patience), time.Now().Add(time.Second)
	for asked := false; ; {
		pid, err := postmasterPID(path)
		if err != nil || pid == 0 {
			return err
		}
		if !runsOn(pid, files) {
			return removePidFile(path, pid, log)
		}
		switch {
		case pid != ours:
			return fmt.Errorf("a PostgreSQL server that Postrider did not start (process %d) runs on %s: stop it first",
				pid, files)
		case !asked:
			asked = true
			if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop the server of an earlier run, process %d: %w", pid, err)
			}
		case time.Now().After(deadline):
			return fmt.Errorf("the server of an earlier run (process %d) still runs on %s after %s", pid,
				files, patience)
		case time.Now().After(report):
			log.InfoContext(ctx, "waiting for the server of an earlier run to shut down", "pid", pid)
			report = time.Now().Add(2 * time.Second)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the server of an earlier run, process %d: %w", pid, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func postmasterPID(path string) (int, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("data directory: %w", err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
		return pid, nil
	}
	return 0, nil // empty after a crash of the machine; PostgreSQL reports this itself
}

// removePidFile handles the pid file of a postmaster that is gone. PostgreSQL tolerates a pid that does not
// exist, and uses the rest of the file to determine whether any process of the old server is left, so the file
// is kept. But if the pid now belongs to another process, which is common after a container restart, PostgreSQL
// mistakes it for a running server, unless it is the pid of its own parent (miscinit.c, CreateLockFile).
func removePidFile(path string, pid int, log *slog.Logger) error {
	log.Info("the last server was not shut down and will recover", "pid", pid)
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("stale %s: %w", path, err)
	}
	_, rest, _ := strings.Cut(string(content), "\n")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n%s", os.Getpid(), rest), 0o600); err != nil {
		return fmt.Errorf("stale %s: %w", path, err)
	}
	return nil
}

// runsOn reports whether a process is alive and has the files as its working directory, as every postmaster
// does. If the directory cannot be determined, a live process is enough.
func runsOn(pid int, files string) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	if _, err := os.Stat("/proc/self/cwd"); err != nil {
		return true // no /proc on this system
	}
	process := "/proc/" + strconv.Itoa(pid)
	if stat, err := os.ReadFile(process + "/stat"); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		if strings.HasPrefix(after, "Z") { // a zombie
			return false
		}
	}
	theirs, err := os.Stat(process + "/cwd")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	own, err := os.Stat(files)
	return err != nil || os.SameFile(theirs, own)
}
