// Command migration writes migrations. It starts a scratch PostgreSQL, replays ent/migrate/migrations on it,
// compares the result with ent/schema and writes the difference as a new file.
//
//	go run ./cmd/migration NAME    write YYYYMMDDHHMMSS_NAME.sql if anything changed
//	go run ./cmd/migration -hash   update atlas.sum after editing a file by hand
//	go run ./cmd/migration -check  fail if schema and migrations differ, or atlas.sum is outdated
//
// Review the new file: PostgreSQL rewrites a predicate such as "status IN (…)". The file must contain the form in the
// schema, or -check keeps reporting a difference.
//
// Run it from the root of the repository. POSTRIDER_POSTGRES_BIN is the folder of the PostgreSQL programs if
// they are in an unusual place.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"ariga.io/atlas/sql/migrate"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	_ "github.com/lib/pq" // the driver of the scratch server

	entmigrate "github.com/postrider/postrider/ent/migrate"
	"github.com/postrider/postrider/runtime/storage/postgres"
)

const directory = "ent/migrate/migrations"

func main() {
	check := flag.Bool("check", false, "fail if the schema and the migrations differ")
	hash := flag.Bool("hash", false, "rewrite atlas.sum")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *check, *hash, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "author:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, check, hash bool, arguments []string) error {
	switch {
	case hash && !check && len(arguments) == 0:
		return writeHash(directory)
	case check && !hash && len(arguments) == 0:
		return verify(ctx)
	case !check && !hash && len(arguments) == 1:
		written, err := write(ctx, directory, arguments[0])
		if err == nil {
			err = markExpand(written)
		}
		for _, name := range written {
			fmt.Println(filepath.Join(directory, name))
		}
		if err == nil && len(written) == 0 {
			fmt.Println("schema and migrations match; nothing to write")
		}
		return err
	}
	return errors.New("specify a name for the migration, or -hash, or -check")
}

// markExpand marks new files as additive, which a test then verifies.
func markExpand(names []string) error {
	for _, name := range names {
		file := filepath.Join(directory, name)
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, append([]byte("-- expand\n"), content...), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return writeHash(directory)
}

// writeHash updates atlas.sum.
func writeHash(path string) error {
	local, err := migrate.NewLocalDir(path)
	if err != nil {
		return err
	}
	sum, err := local.Checksum()
	if err != nil {
		return err
	}
	return migrate.WriteSumFile(local, sum)
}

// verify compares the schema with a copy of the migrations, and fails if a new file results.
func verify(ctx context.Context) error {
	local, err := migrate.NewLocalDir(directory)
	if err != nil {
		return err
	}
	if err := migrate.Validate(local); err != nil {
		return fmt.Errorf("%s: %w; run: go run ./cmd/migration -hash", directory, err)
	}
	copied, err := os.MkdirTemp("", "postrider-migrations-")
	if err != nil {
		return err
	}
	written, err := verifyCopy(ctx, copied)
	if err = errors.Join(err, os.RemoveAll(copied)); err != nil {
		return err
	}
	if len(written) > 0 {
		return errors.New("ent/schema has changes without a migration; run: go run ./cmd/migration NAME")
	}
	return nil
}

func verifyCopy(ctx context.Context, copied string) ([]string, error) {
	if err := os.CopyFS(copied, os.DirFS(directory)); err != nil {
		return nil, err
	}
	return write(ctx, copied, "check")
}

// write writes the missing migration to a folder and returns the new files.
func write(ctx context.Context, path, name string) ([]string, error) {
	before, err := sqlFiles(path)
	if err != nil {
		return nil, err
	}
	local, err := migrate.NewLocalDir(path)
	if err != nil {
		return nil, err
	}
	err = withScratch(ctx, func(driver dialect.Driver) error {
		return entmigrate.NewSchema(driver).NamedDiff(ctx, name,
			schema.WithDir(local), schema.WithMigrationMode(schema.ModeReplay), schema.WithDialect(dialect.Postgres),
			schema.WithFormatter(migrate.DefaultFormatter), schema.WithDropColumn(true), schema.WithDropIndex(true),
			schema.WithIndent("  "))
	})
	if err != nil {
		return nil, err
	}
	after, err := sqlFiles(path)
	return slices.DeleteFunc(after, func(file string) bool { return slices.Contains(before, file) }), err
}

func sqlFiles(path string) ([]string, error) { return fs.Glob(os.DirFS(path), "*.sql") }

// withScratch calls a function with a driver of an empty database on a temporary server.
func withScratch(ctx context.Context, use func(dialect.Driver) error) error {
	scratch, err := os.MkdirTemp("", "postrider-scratch-")
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := postgres.Start(ctx, postgres.Config{DataDir: scratch, BinDir: os.Getenv("POSTRIDER_POSTGRES_BIN"),
		Logger:   log,
		Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		return errors.Join(err, os.RemoveAll(scratch))
	}
	driver, err := entsql.Open(dialect.Postgres, server.URL())
	if err == nil {
		err = errors.Join(use(driver), driver.Close())
	}
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)), os.RemoveAll(scratch))
}
