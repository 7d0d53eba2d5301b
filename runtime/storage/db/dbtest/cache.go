package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/postrider/postrider/ent/migrate/migrations"
	"github.com/postrider/postrider/runtime/storage/postgres"
)

// templateName is the name of the migrated database of a disposable server.
const templateName = "postrider"

// throwAway contains the settings of a server whose data may be lost.
var throwAway = map[string]string{
	"postrider.throw_away_test_server": "yes", // makes db.Open accept fsync=off
	"fsync":                            "off",
	"full_page_writes":                 "off",
	"max_connections":                  "600", // the drills start three processes each, several drills run concurrently, and a process may hold 45 connections
	"shared_buffers":                   "64MB",
	"max_wal_size":                     "256MB",
	"wal_level":                        "minimal", // the WAL is not used: write as little as possible, uncompressed
	"max_wal_senders":                  "0",
	"wal_compression":                  "off",
	"autovacuum_naptime":               "5min", // each round starts a process per database
}

// startFromCache starts a server for this process from the cached data folder.
func startFromCache(settings map[string]string) (*postgres.Server, error) {
	return startBelow("", settings)
}

// startBelow starts a server with its data in a folder; empty means the folder of all test servers.
func startBelow(folder string, settings map[string]string) (*postgres.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	root, err := ownRoot()
	if err != nil {
		return nil, err
	}
	if err := removeStale(root); err != nil {
		return nil, err
	}
	if folder == "" {
		folder = root
	}
	run, err := os.MkdirTemp(folder, "run-")
	if err != nil {
		return nil, err
	}
	if err := startWatcher(run); err != nil {
		return nil, errors.Join(err, os.RemoveAll(run))
	}
	if err := copyCache(ctx, root, filepath.Join(run, "data")); err != nil {
		return nil, err
	}
	server, err := startIn(ctx, filepath.Join(run, "data"), settings)
	if err != nil {
		return nil, err
	}
	return server, os.WriteFile(filepath.Join(run, "socket"), []byte(server.SocketDir()), 0o600) // for the watcher
}

func startIn(ctx context.Context, data string, settings map[string]string) (*postgres.Server, error) {
	return postgres.Start(ctx, postgres.Config{DataDir: data, BinDir: os.Getenv("POSTRIDER_POSTGRES_BIN"),
		Fallback: os.Getenv("POSTRIDER_POSTGRES_FALLBACK"), Settings: settings, Logger: slog.New(slog.DiscardHandler)})
}

// ownRoot returns the folder of all test servers of this user.
func ownRoot() (string, error) {
	parent, err := serversFolder()
	if err != nil {
		return "", err
	}
	root := filepath.Join(parent, "postrider-test-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(root)
	if err != nil {
		return "", err
	}
	if stat, known := info.Sys().(*syscall.Stat_t); !info.IsDir() || !known || int(stat.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s belongs to another user", root)
	}
	return root, nil
}

// copyCache creates the cache if necessary, under a lock that all test binaries share, and copies it.
func copyCache(ctx context.Context, root, target string) error {
	lock, err := os.OpenFile(filepath.Join(root, "cache.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	if err == nil {
		err = copyLocked(ctx, root, target)
	}
	return errors.Join(err, lock.Close())
}

func copyLocked(ctx context.Context, root, target string) error {
	sum, err := migrationsSum()
	if err != nil {
		return err
	}
	cache := filepath.Join(root, "cache-"+sum)
	err = copyTree(ctx, cache, target)
	if err == nil && isUsable(target) {
		return os.Chtimes(cache, time.Now(), time.Now())
	}
	// The cache is missing, or was created with binaries that no longer exist.
	if err := errors.Join(os.RemoveAll(target), os.RemoveAll(cache)); err != nil {
		return err
	}
	if err := makeCache(ctx, cache); err != nil {
		return fmt.Errorf("create %s: %w", cache, err)
	}
	return copyTree(ctx, cache, target)
}

// isUsable reports whether the binaries that created the cache still exist, according to the note next to it.
// It starts no server.
func isUsable(data string) bool {
	note, err := os.ReadFile(filepath.Join(data, "made-with"))
	return err == nil && string(note) == binariesNote()
}

// binariesNote returns a text that changes when the choice of binaries may have changed.
func binariesNote() string {
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return ""
	}
	found, err := exec.LookPath("postgres")
	if err != nil {
		found = "none"
	}
	return strings.Join(append(installed, found, os.Getenv("POSTRIDER_POSTGRES_BIN"),
		os.Getenv("POSTRIDER_POSTGRES_FALLBACK")), "\n")
}

// makeCache creates the cache: initdb, migrate, stop.
func makeCache(ctx context.Context, cache string) error {
	staging := cache + ".new"
	if err := os.RemoveAll(staging); err != nil {
		return err
	}
	server, err := startIn(ctx, staging, throwAway)
	if err != nil {
		return err
	}
	if err := errors.Join(migrateTemplate(ctx, server.URL()), server.Stop(ctx)); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(staging, "made-with"), []byte(binariesNote()), 0o600),
		os.Rename(staging, cache))
}

// copyTree preserves owners and modes: as root, the files belong to another user.
func copyTree(ctx context.Context, from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	if output, err := exec.CommandContext(ctx, "cp", "-Rp", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, output)
	}
	return nil
}

// migrationsSum identifies the migrations, and whether tables are split after them.
func migrationsSum() (string, error) {
	sum := sha256.New()
	if os.Getenv(splitVariable) != "" {
		fmt.Fprintln(sum, splitVariable)
	}
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		content, err := migrations.Files.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(content), content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}
