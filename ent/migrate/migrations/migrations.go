// Package migrations holds the versioned SQL of the database, one file a step,
// for the runner in runtime/storage/db. A file that has been released is never changed.
//
// A change of ent/schema becomes a file by `go run ./cmd/migration NAME`.
// The first lines say what it does to programs that lack it, and runtime/test/rules holds it to that:
//
//	-- expand               they go on working: it only adds (no DROP, RENAME, SET NOT NULL, no
//	                        new column NOT NULL without a constant default)
//	-- contract VERSION     those that have the migration VERSION go on working: what goes was
//	                        last used before it. One minor version later at the earliest
//	-- no transaction       a single statement, such as CREATE INDEX CONCURRENTLY IF NOT
//	                        EXISTS, which an index of a table with rows needs
//
// What ent does not know (seeds, the tables of the bus) is written by hand as
// YYYYMMDDHHMMSS_name.sql, followed by `go run ./cmd/migration -hash`,
// which brings atlas.sum up to date.
package migrations

import "embed"

// Files are the migrations and their checksums (atlas.sum).
//
//go:embed *.sql atlas.sum
var Files embed.FS
