package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// folder is a data folder under a path that the server's user can reach.
type folder struct {
	path    string   // for the server's command line
	handle  *os.File // passed on as descriptor 3; nil if path is the real path
	closing sync.Once
	err     error
}

// openFolder makes a folder reachable for the account. The package comment explains why root on Linux uses
// a descriptor.
func openFolder(files string, a *account) (*folder, error) {
	if a == nil {
		return &folder{path: files}, nil
	}
	if runtime.GOOS != "linux" {
		return &folder{path: files}, checkEnterable(files, a)
	}
	handle, err := os.Open(files)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return &folder{path: "/proc/self/fd/3", handle: handle}, nil
}

func (f *folder) inheritedFiles() []*os.File {
	if f.handle == nil {
		return nil
	}
	return []*os.File{f.handle}
}

func (f *folder) close() error {
	f.closing.Do(func() {
		if f.handle != nil {
			f.err = f.handle.Close()
		}
	})
	return f.err
}

// checkEnterable returns an error that names the first parent folder of the files that the account cannot enter.
func checkEnterable(files string, a *account) error {
	for parent := filepath.Dir(files); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
		if !mayEnter(info, a) {
			return fmt.Errorf("user %s, who runs PostgreSQL for root, cannot enter %s: allow it (chmod o+x %s), set another data directory, or do not run as root",
				a.name, parent, parent)
		}
		if parent == filepath.Dir(parent) {
			return nil
		}
	}
}

func mayEnter(info os.FileInfo, a *account) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known:
		return true
	case stat.Uid == a.uid:
		return info.Mode().Perm()&0o100 != 0
	case stat.Gid == a.gid:
		return info.Mode().Perm()&0o010 != 0
	}
	return info.Mode().Perm()&0o001 != 0
}

// socketFolder creates the folder of the server's socket. The path of a socket has at most 107 bytes
// (unix(7)), so it cannot be in the data directory, whose path may be long. The name is derived from the
// data directory, so that it is the same at every start.
func socketFolder(dataDir string, a *account) (string, error) {
	sum := sha256.Sum256([]byte(dataDir))
	name := "postrider-" + hex.EncodeToString(sum[:6])
	var errs []error
	for _, parent := range []string{"/tmp", os.TempDir(), "/var/run"} {
		path := filepath.Join(parent, name)
		if len(path) > 80 {
			continue
		}
		err := ownFolder(path, a)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no folder for the server's socket: %w", errors.Join(errs...))
}

// ownFolder creates or reuses a folder in a world-writable place. It trusts an existing folder only if no
// other user can have created it.
func ownFolder(path string, a *account) error {
	err := os.Mkdir(path, 0o700)
	if err == nil {
		return a.giveFolder(path)
	}
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	owned := known && (int(stat.Uid) == os.Geteuid() || a != nil && stat.Uid == a.uid)
	if !info.IsDir() || !owned {
		return fmt.Errorf("%s exists and belongs to another user", path)
	}
	return a.giveFolder(path)
}
