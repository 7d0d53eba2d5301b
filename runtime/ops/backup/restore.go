package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/runtime/storage/postgres"
	"github.com/postrider/postrider/runtime/work/node"
)

// IntoDatabase restores into an empty database, all or nothing, and holds the installation with the given
// reason.
func (b *Backup) IntoDatabase(ctx context.Context, url string, clients postgres.Config, reason string) error {
	found, err := inspectDatabase(ctx, url)
	if err == nil {
		err = b.checkTarget(found)
	}
	if err == nil {
		err = b.load(ctx, url, clients, found.PostgreSQL, reason)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// load pipes the statements from pg_restore into psql, in one transaction whose last statement is the hold.
// psql commits at the end of its input, so it is killed first if pg_restore fails.
func (b *Backup) load(ctx context.Context, url string, clients postgres.Config, server int, reason string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	restore, err := newClient(ctx, clients, max(server, b.Manifest.PostgreSQL), "pg_restore", "")
	if err != nil {
		return err
	}
	psql, err := newClient(ctx, clients, server, "psql", url)
	if err != nil {
		return err
	}
	run, err := psql.begin("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--file=-")
	if err != nil {
		return err
	}
	err = restore.runInto(run.input, "--no-owner", "--no-privileges", "--file=-", filepath.Join(b.Folder, dumpName))
	if err == nil {
		_, err = fmt.Fprintf(run.input, "\n%s;\n", node.HoldStatement(reason))
	}
	if err != nil {
		cancel() // psql must not reach the end of its input
		return errors.Join(run.wait(), err)
	}
	return run.end()
}

// IntoDataDir restores into a new database of an embedded server, and holds the installation with the given
// reason. An existing database is rejected, or moved aside; the result is its new folder. The new database
// is created next to it and takes its place when it is complete.
func (b *Backup) IntoDataDir(ctx context.Context, at postgres.Config, reason string,
	replace bool) (aside string, err error) {
	if err := os.MkdirAll(at.DataDir, 0o700); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	release, err := postgres.LockDataDir(ctx, at)
	if err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	files := filepath.Join(at.DataDir, "postgres")
	_, missing := os.Stat(files)
	if missing == nil && !replace {
		return "",
			fmt.Errorf("restore: %s already has a database: use --replace to move it aside and keep it; nothing was changed", at.DataDir)
	}
	staging := filepath.Join(at.DataDir, "restoring")
	if err := os.RemoveAll(staging); err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	if err := b.createDatabase(ctx, at, staging, reason); err != nil {
		return "", errors.Join(err, os.RemoveAll(staging))
	}
	if missing == nil {
		aside = files + ".before-" + time.Now().UTC().Format("20060102T150405Z")
		if err := os.Rename(files, aside); err != nil {
			return "", fmt.Errorf("restore: %w", err)
		}
	}
	if err := os.Rename(filepath.Join(staging, "postgres"), files); err != nil {
		return aside, fmt.Errorf("restore: %w", err)
	}
	return aside, os.RemoveAll(staging)
}

// createDatabase runs a server on a folder until the backup is restored.
func (b *Backup) createDatabase(ctx context.Context, at postgres.Config, folder, reason string) error {
	clients := at
	at.DataDir = folder
	server, err := postgres.Start(ctx, at)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	err = b.IntoDatabase(ctx, server.URL(), clients, reason)
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}
