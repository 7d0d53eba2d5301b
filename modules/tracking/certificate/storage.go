package certificate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/storage/db"
)

// storage stores certmagic's files in the database, each sealed under its name, so that all processes share
// accounts, certificates and challenges. A lock is also a row. If the process that holds it dies, it expires by
// the database clock.
type storage struct {
	db  *db.DB
	box *secret.Box
}

var (
	_ certmagic.Storage          = (*storage)(nil)
	_ certmagic.LockLeaseRenewer = (*storage)(nil)
)

const (
	lockPrefix = "lock:" // no path of certmagic begins with this
	lockTime   = 2 * time.Minute
	// longestLock exceeds the time by which locks are extended. A lock with more time left was acquired before
	// the database clock stepped back.
	longestLock = 61 * time.Minute
	lockPoll    = 500 * time.Millisecond
)

func sealedFor(name string) []byte { return []byte("certificates/" + name) }

// escapeLike escapes a name for LIKE.
var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (s *storage) Store(ctx context.Context, name string, value []byte) error {
	_, err := s.db.SQL.ExecContext(ctx, `INSERT INTO certificate_files (name, sealed, size) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET sealed = EXCLUDED.sealed, size = EXCLUDED.size, updated_at = now()`,
		name, s.box.Seal(value, sealedFor(name)), len(value))
	return wrapError("store", name, err)
}

func (s *storage) Load(ctx context.Context, name string) ([]byte, error) {
	var sealed []byte
	if err := s.db.SQL.QueryRowContext(ctx, `SELECT sealed FROM certificate_files WHERE name = $1`, name).Scan(&sealed); err != nil {
		return nil, wrapError("load", name, err)
	}
	value, err := s.box.Open(sealed, sealedFor(name))
	return value, wrapError("open", name, err)
}

// Delete deletes a file, or a folder with all of its contents.
func (s *storage) Delete(ctx context.Context, name string) error {
	_, err := s.db.SQL.ExecContext(ctx, `DELETE FROM certificate_files WHERE name = $1 OR name LIKE $2`, name, escapeLike.Replace(name)+"/%")
	return wrapError("delete", name, err)
}

func (s *storage) Exists(ctx context.Context, name string) bool {
	var exists bool
	err := s.db.SQL.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM certificate_files WHERE name = $1 OR name LIKE $2)`,
		name, escapeLike.Replace(name)+"/%").Scan(&exists)
	return err == nil && exists
}

func (s *storage) List(ctx context.Context, folder string, recursive bool) (names []string, err error) {
	prefix := strings.TrimSuffix(folder, "/") + "/"
	if folder == "" {
		prefix = ""
	}
	files, err := db.All(ctx, s.db.SQL, db.Value[string],
		`SELECT name FROM certificate_files WHERE name LIKE $1 AND locked_until IS NULL ORDER BY name`, escapeLike.Replace(prefix)+"%")
	if err != nil {
		return nil, wrapError("list", folder, err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		if first, _, deeper := strings.Cut(name[len(prefix):], "/"); deeper && !recursive {
			name = prefix + first
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("list %s: %w", folder, fs.ErrNotExist)
	}
	return names, nil
}

func (s *storage) Stat(ctx context.Context, name string) (certmagic.KeyInfo, error) {
	info := certmagic.KeyInfo{Key: name, IsTerminal: true}
	err := s.db.SQL.QueryRowContext(ctx, `SELECT size, updated_at FROM certificate_files WHERE name = $1`, name).Scan(&info.Size, &info.Modified)
	if errors.Is(err, sql.ErrNoRows) && s.Exists(ctx, name) {
		return certmagic.KeyInfo{Key: name}, nil // a folder
	}
	return info, wrapError("stat", name, err)
}

// Lock waits until the lock is free or has expired.
func (s *storage) Lock(ctx context.Context, name string) error {
	for {
		held, err := s.tryLock(ctx, name)
		if held || err != nil {
			return err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *storage) tryLock(ctx context.Context, name string) (bool, error) {
	result, err := s.db.SQL.ExecContext(ctx, `INSERT INTO certificate_files AS f (name, sealed, size, locked_until) VALUES ($1, '', 0, now() + make_interval(secs => $2))
		ON CONFLICT (name) DO UPDATE SET locked_until = EXCLUDED.locked_until, updated_at = now() WHERE f.locked_until < now() OR f.locked_until > now() + make_interval(secs => $3)`,
		lockPrefix+name, lockTime.Seconds(), longestLock.Seconds())
	if err != nil {
		return false, wrapError("lock", name, err)
	}
	count, err := result.RowsAffected()
	return count == 1, err
}

func (s *storage) Unlock(ctx context.Context, name string) error {
	_, err := s.db.SQL.ExecContext(ctx, `DELETE FROM certificate_files WHERE name = $1`, lockPrefix+name)
	return wrapError("unlock", name, err)
}

// RenewLockLease extends a lock during a long operation.
func (s *storage) RenewLockLease(ctx context.Context, name string, lease time.Duration) error {
	_, err := s.db.SQL.ExecContext(ctx, `UPDATE certificate_files SET locked_until = now() + make_interval(secs => $2) WHERE name = $1`,
		lockPrefix+name, max(lease, lockTime).Seconds())
	return wrapError("extend the lock of", name, err)
}

// wrapError adds the operation and the file name to an error. It reports a missing file as fs.ErrNotExist, as
// certmagic expects.
func wrapError(what, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		err = fs.ErrNotExist
	}
	return fmt.Errorf("certificate file: %s %s: %w", what, name, err)
}
