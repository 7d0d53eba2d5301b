package postgres

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// lockFile keeps a second Postrider out of a data directory. The kernel releases the lock with the process,
// so that a killed process leaves nothing to clean up. The file contains the process ids of its holder and
// of the postmaster that it started.
type lockFile struct {
	file        *os.File
	predecessor int // the postmaster of an earlier holder, 0 if unknown
	closing     sync.Once
	closeError  error
}

func acquireLock(path string) (*lockFile, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data directory is not writable: %w: run as its owner, or set another one", err)
	}
	content, err := io.ReadAll(io.LimitReader(file, 128))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	holder, postmaster := parseLock(string(content))
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(&InUseError{DataDir: filepath.Dir(path), Holder: holder}, file.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	lock := &lockFile{file: file, predecessor: postmaster}
	if err := lock.recordPostmaster(postmaster); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return lock, nil
}

// InUseError means that another process holds the data directory.
type InUseError struct {
	DataDir string
	Holder  int // its process id
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("data directory %s is in use by process %d (another Postrider); stop it, or set another data directory", e.DataDir, e.Holder)
}

func parseLock(content string) (holder, postmaster int) {
	for index, word := range strings.Fields(content) {
		number, err := strconv.Atoi(word)
		if err != nil {
			break
		}
		switch index {
		case 0:
			holder = number
		case 1:
			postmaster = number
		}
	}
	return holder, postmaster
}

// recordPostmaster records the running postmaster, so that a later holder recognizes it.
func (l *lockFile) recordPostmaster(postmaster int) error {
	content := fmt.Sprintf("%-10d %-10d\n", os.Getpid(), postmaster)
	if _, err := l.file.WriteAt([]byte(content), 0); err != nil {
		return fmt.Errorf("write %s: %w", l.file.Name(), err)
	}
	return nil
}

func (l *lockFile) release() error {
	l.closing.Do(func() { l.closeError = errors.Join(unlockFile(l.file), l.file.Close()) })
	return l.closeError
}

// unlockFile releases the lock immediately. Closing the file is not enough: a program that this process is just
// starting may briefly have a copy of it, which keeps the lock.
func unlockFile(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_UN); err != nil {
		return fmt.Errorf("unlock %s: %w", file.Name(), err)
	}
	return nil
}
