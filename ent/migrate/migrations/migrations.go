// Package migrations holds the versioned SQL of the database, one file a step,
// for the runner in runtime/db. A file that has been released is never changed.
//
// A change of ent/schema becomes a file by `go run ./cmd/migration NAME`.
// What ent does not know (seeds, the tables of the bus) is written by hand as
// YYYYMMDDHHMMSS_name.sql, followed by `go run ./cmd/migration -hash`,
// which brings atlas.sum up to date.
package migrations

import "embed"

// Files are the migrations and their checksums (atlas.sum).
//
//go:embed *.sql atlas.sum
var Files embed.FS
