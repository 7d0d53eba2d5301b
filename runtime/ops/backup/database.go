package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/lib/pq" // the driver

	"github.com/postrider/postrider/runtime/storage/db"
)

const describeSQL = `
SELECT now(), current_setting('server_version_num')::int / 10000, to_regclass('public.schema_migrations') IS NOT NULL,
	(SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'S') AND relnamespace = 'public'::regnamespace)`

// state describes a database.
type state struct {
	Manifest
	ours   bool // the database has our tables
	tables int
}

// inspectDatabase inspects a database. It holds no lock and changes nothing.
func inspectDatabase(ctx context.Context, url string) (found state, err error) {
	opened, err := sql.Open("postgres", url)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	found, err = db.One(ctx, opened,
		func(s *state) []any { return []any{&s.TakenAt, &s.PostgreSQL, &s.ours, &s.tables} }, describeSQL)
	if err != nil || !found.ours {
		return found, err
	}
	found.Schema, err = db.One(ctx, opened, db.Value[string], `SELECT coalesce(max(version), '') FROM public.schema_migrations`)
	return found, err
}

// errEmpty is returned if there is nothing to back up.
var errEmpty = errors.New("this is not a Postrider database: it has no table schema_migrations")

func describeDatabase(ctx context.Context, url string) (Manifest, error) {
	found, err := inspectDatabase(ctx, url)
	if err == nil && !found.ours {
		err = errEmpty
	}
	return found.Manifest, err
}

// checkTarget rejects databases into which a backup cannot be restored.
func (b *Backup) checkTarget(found state) error {
	switch newest := db.Schema(); {
	case found.tables > 0:
		return fmt.Errorf("the database is not empty: it has %d tables. Create a new one (createdb), set DATABASE_URL to it and restore again; nothing was changed", found.tables)
	case b.Manifest.Schema > newest:
		return fmt.Errorf("the backup is from a newer version (%s, schema %s) than this program (schema %s): "+
			"restore it with that version; nothing was changed", b.Manifest.Version, b.Manifest.Schema, newest)
	case found.PostgreSQL < b.Manifest.PostgreSQL:
		return fmt.Errorf("the backup is from PostgreSQL %d but this server is %d: restore it into that version or "+
			"a newer one; nothing was changed", b.Manifest.PostgreSQL, found.PostgreSQL)
	}
	return nil
}
