package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// migration is one file. Its first lines may declare its effect on programs that lack it:
//
//	-- expand               they keep working: it only adds
//	-- contract VERSION     those that have the migration VERSION keep working
//	-- no transaction       it is a single statement that runs outside a transaction
//
// A file with neither of the first two requires programs that have it.
type migration struct {
	version, name, checksum, sql string

	kind   string // "expand", "contract" or "" if unmarked
	oldest string // the newest other migration that a program must have; may be empty
	alone  bool
}

// readMigrations returns the files in order of version.
func readMigrations(source fs.FS) ([]migration, error) {
	names, err := fs.Glob(source, "*.sql")
	if err != nil {
		return nil, err
	}
	var files []migration
	for _, name := range names { // Glob sorts them
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return nil, err
		}
		version, _, named := strings.Cut(name, "_")
		if !named || len(version) != len("20060102150405") {
			return nil, fmt.Errorf("%s: not named YYYYMMDDHHMMSS_name.sql", name)
		}
		sum := sha256.Sum256(content)
		file := migration{version: version, name: name, checksum: hex.EncodeToString(sum[:]), sql: string(content),
			oldest: version}
		if err := file.readMarks(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// readMarks parses the comments before the first statement.
func (m *migration) readMarks() error {
	for line := range strings.Lines(m.sql) {
		said, comment := strings.CutPrefix(strings.TrimSpace(line), "--")
		if !comment {
			return nil
		}
		switch words := strings.Fields(said); {
		case slices.Equal(words, []string{"expand"}):
			m.kind, m.oldest = "expand", ""
		case len(words) == 2 && words[0] == "contract":
			m.kind, m.oldest = "contract", words[1]
		case slices.Equal(words, []string{"contract"}):
			return errors.New("-- contract must contain the oldest migration that a program must have")
		case slices.Equal(words, []string{"no", "transaction"}):
			m.alone = true
		}
	}
	return nil
}

// appliedMigrations reads the migrations recorded in the database. Those without a recorded requirement
// require programs that have them.
func appliedMigrations(ctx context.Context, conn Execer) ([]migration, error) {
	applied, err := All(ctx, conn,
		func(m *migration) []any { return []any{&m.version, &m.name, &m.checksum, &m.oldest} },
		`SELECT version, name, checksum, coalesce(to_jsonb(m)->>'oldest', version) FROM schema_migrations m ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read schema_migrations: %w", err)
	}
	return applied, nil
}

// pendingMigrations compares the migrations of the binary with those of the database. newer are migrations
// that the binary lacks but tolerates.
func pendingMigrations(files, applied []migration) (pending, newer []migration, err error) {
	known := map[string]migration{}
	for _, file := range files {
		if twin, twice := known[file.version]; twice {
			return nil, nil, fmt.Errorf("%s and %s have the same version", twin.name, file.name)
		}
		known[file.version] = file
	}
	done := map[string]bool{}
	for _, m := range applied {
		file, exists := known[m.version]
		_, worksBeside := known[m.oldest]
		switch {
		case !exists && m.oldest != "" && !worksBeside:
			return nil, nil,
				fmt.Errorf("the database is newer than this program: it has %s, which a program without the migration %s cannot work with; start a newer version", m.name, m.oldest)
		case !exists:
			newer = append(newer, m)
		case file.checksum != m.checksum:
			return nil, nil,
				fmt.Errorf("%s was changed after it had been applied to this database; restore the file and write a new one", file.name)
		}
		done[m.version] = true
	}
	for _, file := range files {
		if !done[file.version] {
			pending = append(pending, file)
		}
	}
	return pending, newer, nil
}

// concurrently matches the index that a statement creates, its table and the rest.
var concurrently = regexp.MustCompile(`(?is)^((?:\s*--[^\n]*\n)*\s*CREATE\s+(?:UNIQUE\s+)?INDEX)\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?("[^"]+"|\w+)\s+ON\s+("[^"]+"|\w+)(.*)$`)

// partsSQL selects the partitions of a table (package months), and whether each has its part of an index.
const partsSQL = `
SELECT c.relname, EXISTS (SELECT FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid WHERE i.indrelid = c.oid AND h.inhparent = to_regclass($2))
FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid WHERE p.inhparent = to_regclass($1) ORDER BY c.relname`

// indexStatements returns the statements that create an index without blocking writes. Incomplete results
// of an earlier attempt are dropped first. PostgreSQL cannot do this for a partitioned table, so each
// partition gets an index, and then they are attached.
func indexStatements(ctx context.Context, conn *sql.Conn, statement, index, table string) (all []string, err error) {
	again := func(index string) error {
		broken, err := One(ctx, conn, Value[bool],
			`SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.oid = to_regclass($1) AND NOT i.indisvalid AND c.relkind = 'i')`, index)
		if err == nil && broken {
			all = append(all, `DROP INDEX CONCURRENTLY `+index)
		}
		return err
	}
	type part struct {
		name string
		has  bool
	}
	parts, err := All(ctx, conn, func(p *part) []any { return []any{&p.name, &p.has} }, partsSQL, table, index)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		err := again(index)
		return append(all, statement), err
	}
	found := concurrently.FindStringSubmatch(statement)
	begin, rest := found[1], found[4]
	// Only the soon statements block the writers of the table, for a moment at most.
	const soon, patient = `RESET lock_timeout`, `SET lock_timeout = 0`
	all = append(all, soon, fmt.Sprintf(`%s IF NOT EXISTS %s ON ONLY %s%s`, begin, index, table, rest), patient)
	for _, p := range parts {
		if p.has {
			continue
		}
		own := pq.QuoteIdentifier(strings.Trim(index, `"`) + strings.TrimPrefix(p.name, strings.Trim(table, `"`)))
		if err := again(own); err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf(`%s CONCURRENTLY IF NOT EXISTS %s ON %s%s`, begin, own,
			pq.QuoteIdentifier(p.name), rest),
			soon, fmt.Sprintf(`ALTER INDEX %s ATTACH PARTITION %s`, index, own), patient)
	}
	return all, nil
}
