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

// migration is one file. Its first lines may say what it does to programs that lack it:
//
//	-- expand               they go on working: it only adds
//	-- contract VERSION     those that have the migration VERSION go on working
//	-- no transaction       it is one statement, which runs by itself
//
// A file that says neither of the first two is for programs that have it.
type migration struct {
	version, name, checksum, sql string

	kind   string // "expand", "contract" or "": not marked
	oldest string // the newest migration that a program must have beside it; empty: none
	alone  bool
}

// readMigrations gives the files in order of version.
func readMigrations(source fs.FS) ([]migration, error) {
	names, err := fs.Glob(source, "*.sql")
	if err != nil {
		return nil, err
	}
	var files []migration
	for _, name := range names { // Glob sorts
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return nil, err
		}
		version, _, named := strings.Cut(name, "_")
		if !named || len(version) != len("20060102150405") {
			return nil, fmt.Errorf("%s: not named YYYYMMDDHHMMSS_name.sql", name)
		}
		sum := sha256.Sum256(content)
		file := migration{version: version, name: name, checksum: hex.EncodeToString(sum[:]), sql: string(content), oldest: version}
		if err := file.readMarks(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// readMarks reads the comments before the first statement.
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
			return errors.New("-- contract does not name the oldest migration that a program must have")
		case slices.Equal(words, []string{"no", "transaction"}):
			m.alone = true
		}
	}
	return nil
}

// appliedMigrations reads what the database has; what is not said in it is for programs that have it.
func appliedMigrations(ctx context.Context, conn Execer) ([]migration, error) {
	applied, err := All(ctx, conn, func(m *migration) []any { return []any{&m.version, &m.name, &m.checksum, &m.oldest} },
		`SELECT version, name, checksum, coalesce(to_jsonb(m)->>'oldest', version) FROM schema_migrations m ORDER BY version`)
	if err != nil {
		return nil, fmt.Errorf("read schema_migrations: %w", err)
	}
	return applied, nil
}

// pendingMigrations compares what the binary has with what the database has. newer are migrations that
// the binary lacks and can work with.
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
			return nil, nil, fmt.Errorf("the database is newer than this program: it has %s, which a program without the migration %s cannot work with; start a newer version", m.name, m.oldest)
		case !exists:
			newer = append(newer, m)
		case file.checksum != m.checksum:
			return nil, nil, fmt.Errorf("%s was changed after it had been applied to this database; restore the file and write a new one", file.name)
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

// concurrently finds the index that a statement makes, its table and what follows.
var concurrently = regexp.MustCompile(`(?is)^((?:\s*--[^\n]*\n)*\s*CREATE\s+(?:UNIQUE\s+)?INDEX)\s+CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?("[^"]+"|\w+)\s+ON\s+("[^"]+"|\w+)(.*)$`)

// partsSQL gives the parts of a split table (package months), and whether the part has its part of an index.
const partsSQL = `
SELECT c.relname, EXISTS (SELECT FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid WHERE i.indrelid = c.oid AND h.inhparent = to_regclass($2))
FROM pg_inherits p JOIN pg_class c ON c.oid = p.inhrelid WHERE p.inhparent = to_regclass($1) ORDER BY c.relname`

// indexStatements are what make an index beside the traffic. What an earlier try left half done goes first. PostgreSQL
// does not make one of a split table so; each of its parts gets one, and they are joined.
func indexStatements(ctx context.Context, conn *sql.Conn, statement, index, table string) (all []string, err error) {
	again := func(index string) error {
		broken, err := One(ctx, conn, Value[bool], `SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.oid = to_regclass($1) AND NOT i.indisvalid AND c.relkind = 'i')`, index)
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
	// These two kinds of statements have the writers of the table wait, for a moment if at all.
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
		all = append(all, fmt.Sprintf(`%s CONCURRENTLY IF NOT EXISTS %s ON %s%s`, begin, own, pq.QuoteIdentifier(p.name), rest),
			soon, fmt.Sprintf(`ALTER INDEX %s ATTACH PARTITION %s`, index, own), patient)
	}
	return all, nil
}
