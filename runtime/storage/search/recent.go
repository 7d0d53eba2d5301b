package search

import (
	"context"
	"fmt"
	"sync"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/page"
)

const (
	// recently is what a page is looked for in first, where the table is split into months.
	recently = 32 * 24 * time.Hour
	// knownFor is how long it is remembered whether a table is split.
	knownFor = time.Minute
)

// Recent gives the id from which on a page of the newest before an id is to be looked for first, or before now where
// that is empty. An empty answer is everywhere at once. The server plans a statement for each month that it may have to
// read, which takes longer than to read a page; and most pages are full of what is recent. Of a table that is not split
// it is empty.
func (t Table) Recent(ctx context.Context, on db.Execer, below string) string {
	if !splitTables.has(ctx, on, t.Name) {
		return ""
	}
	from := time.Now()
	if below != "" {
		from = id.Time(below)
	}
	return id.Since(t.Prefix, from.Add(-recently))
}

// Rows reads a page of a list that runs from the newest row to the oldest: of the rows that find names by their ids, or of
// all where find is nil. read gives the rows of the page, in its order, for which a condition holds.
func Rows[R any](ctx context.Context, on db.Execer, t Table, at page.Place, find func() ([]string, error), read func(condition func(*sql.Selector)) ([]R, error)) ([]R, error) {
	const column = "id"
	switch {
	case find != nil:
		found, err := find()
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		return read(sql.FieldIn(column, found...))
	case at.Back:
		return read(at.Newest(column))
	}
	return lately(ctx, on, t, at.ID, at.Rows(), func(from string) ([]R, error) {
		return read(sql.AndPredicates(at.Newest(column), sql.FieldGTE(column, from)))
	})
}

// lately gives so many rows, the newest before an id, from what is recent if there are as many.
func lately[R any](ctx context.Context, on db.Execer, t Table, below string, rows int, read func(from string) ([]R, error)) ([]R, error) {
	if recent := t.Recent(ctx, on, below); recent != "" {
		found, err := read(recent)
		if err != nil || len(found) == rows {
			return found, err
		}
	}
	return read("")
}

// splitTables remembers which tables are split. A wrong answer costs time and nothing else.
var splitTables = knowledge{of: map[string]answer{}}

type knowledge struct {
	mutex sync.Mutex
	of    map[string]answer
}

type answer struct {
	split bool
	until time.Time
}

func (k *knowledge) has(ctx context.Context, on db.Execer, table string) bool {
	k.mutex.Lock()
	known := k.of[table]
	k.mutex.Unlock()
	if time.Now().Before(known.until) {
		return known.split
	}
	split, err := db.One(ctx, on, db.Value[bool], `SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass($1)`, table)
	if err != nil {
		return known.split
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.of[table] = answer{split, time.Now().Add(knownFor)}
	return split
}
