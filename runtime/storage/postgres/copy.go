package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// copiesFolder contains copies of binaries whose own folder is not accessible to the server's user. It may be
// removed while no server runs.
var copiesFolder = "/var/cache/postrider"

// copyBinaries copies an installation (bin, lib, share) to where the account can run it. Only root needs
// this: all other users run the server as themselves.
func copyBinaries(folder string, a *account, log *slog.Logger) (string, error) {
	info, err := os.Stat(filepath.Join(folder, "postgres"))
	if err != nil {
		return "", err
	}
	identity := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", folder, info.Size(), info.ModTime().UnixNano()))
	target := filepath.Join(copiesFolder, "postgres-"+hex.EncodeToString(identity[:6]))
	if _, err := os.Stat(target); err == nil {
		return filepath.Join(target, "bin"), nil
	}
	log.Info("the user that runs the server cannot access the postgres binaries, copying them", "from", folder, "to",
		target, "account", a.name)
	if err := copyInstallation(folder, target); err != nil {
		return "",
			fmt.Errorf("user %s, who runs PostgreSQL for root, cannot access the binaries in %s, and copying them failed: %w",
				a.name, folder, err)
	}
	return filepath.Join(target, "bin"), checkEnterable(target, a)
}

func copyInstallation(folder, target string) error {
	if err := os.MkdirAll(copiesFolder, 0o755); err != nil {
		return err
	}
	staging, err := os.MkdirTemp(copiesFolder, "copying-")
	if err != nil {
		return err
	}
	err = os.CopyFS(filepath.Join(staging, "bin"), os.DirFS(folder))
	for _, part := range []string{"lib", "share"} {
		source := filepath.Join(filepath.Dir(folder), part)
		if _, missing := os.Stat(source); err == nil && missing == nil && filepath.Base(folder) == "bin" {
			err = os.CopyFS(filepath.Join(staging, part), os.DirFS(source))
		}
	}
	if err == nil {
		err = errors.Join(openToAll(staging), os.Chmod(copiesFolder, 0o755))
	}
	if err == nil {
		err = os.Rename(staging, target)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	return nil
}

// openToAll makes files readable for all users, regardless of the umask.
func openToAll(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode)
	})
}
