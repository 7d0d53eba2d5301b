package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// copiesFolder holds binaries for the server's user when their own folder is
// closed to it.
const copiesFolder = "/var/lib/postrider"

// copyBinaries puts an installation (bin, lib, share) where the account can
// run it. Only root comes here: everybody else runs the server as themselves.
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
	log.Info("postgres binaries are closed to the server's user, copying them", "from", filepath.Dir(folder), "to", target, "account", a.name)
	if err := os.MkdirAll(copiesFolder, 0o755); err != nil {
		return "", fmt.Errorf("copy of the binaries in %s, which user %s cannot enter: %w", folder, a.name, err)
	}
	staging, err := os.MkdirTemp(copiesFolder, "copying-")
	if err != nil {
		return "", fmt.Errorf("copy of the binaries in %s: %w", folder, err)
	}
	err = errors.Join(os.CopyFS(staging, os.DirFS(filepath.Dir(folder))), os.Chmod(staging, 0o755))
	if err == nil {
		err = os.Rename(staging, target)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy of the binaries in %s: %w", folder, err), os.RemoveAll(staging))
	}
	return filepath.Join(target, "bin"), enterable(target, a)
}
