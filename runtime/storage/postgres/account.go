package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the operating system user that runs the server if Postrider runs as root.
type account struct {
	name string
	uid  uint32
	gid  uint32
}

func (a *account) String() string {
	if a == nil {
		return "own"
	}
	return a.name
}

// processCredential returns nil if the server runs as the user of this process.
func (a *account) processCredential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// giveFolder makes the account the owner of a folder, with access for it only.
func (a *account) giveFolder(folder string) error {
	if err := os.Chmod(folder, 0o700); err != nil {
		return err
	}
	if a == nil {
		return nil
	}
	return os.Chown(folder, int(a.uid), int(a.gid))
}

// chooseAccount decides which user runs the server on the given files, which need not exist yet.
func chooseAccount(files string) (*account, error) {
	info, err := os.Stat(files)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	self := os.Geteuid()
	if info == nil {
		if self != 0 {
			return nil, nil
		}
		return lookupAccount("postgres", "nobody")
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return nil, fmt.Errorf("owner of %s is unknown", files)
	}
	switch {
	case self != 0 && int(stat.Uid) != self:
		return nil,
			fmt.Errorf("%s belongs to user id %d and this process runs as %d: start Postrider as its owner or as root, or set another data directory",
				files, stat.Uid, self)
	case self != 0:
		return nil, nil
	case stat.Uid == 0:
		return nil,
			fmt.Errorf("%s belongs to root, and PostgreSQL refuses to run as root: change its owner (chown -R "+
				"postgres %s)", files, files)
	}
	owner := &account{name: strconv.Itoa(int(stat.Uid)), uid: stat.Uid, gid: stat.Gid}
	if found, err := user.LookupId(owner.name); err == nil {
		owner.name = found.Username
	}
	return owner, nil
}

func lookupAccount(names ...string) (*account, error) {
	for _, name := range names {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		if uid != 0 {
			return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil,
		fmt.Errorf("PostgreSQL refuses to run as root and there is no user to run it: create one named postgres, or set DATABASE_URL")
}
