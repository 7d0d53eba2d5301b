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
	// recently is the period that is searched first, if the table is partitioned by month.
	recently = 32 * 24 * time.Hour
	// knownFor is how long the process remembers whether a table is partitioned.
	knownFor = time.Minute
)

// RecentBound returns the id from which to search first for a page of the newest rows before an id (before now
// if below is empty). An empty result means to search everything at once. The server plans a statement for
// each month that it may have to read, which takes longer than reading a page; and most pages are filled by
// recent rows. The result is empty for a table that is not partitioned.
func (t Table) RecentBound(ctx context.Context, on db.Execer, below string) string {
	if !splitTables.isSplit(ctx, on, t.Name) {
		return ""
	}
	from := time.Now()
	if below != "" {
		from = id.Time(below)
	}
	return id.Since(t.Prefix, from.Add(-recently))
}

// Rows reads a page of a list sorted from the newest row to the oldest: the rows whose ids find returns, or
// all rows if find is nil. read returns the rows of the page, in its order, that meet a condition.
func Rows[R any](ctx context.Context, on db.Execer, t Table, at page.Position, find func() ([]string, error),
	read func(condition func(*sql.Selector)) ([]R, error)) ([]R, error) {
	const column = "id"
	switch {
	case find != nil:
		found, err := find()
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		return read(sql.FieldIn(column, found...))
	case at.Back:
		return read(at.NewestFirst(column))
	}
	return readRecent(ctx, on, t, at.ID, at.Rows(), func(from string) ([]R, error) {
		return read(sql.AndPredicates(at.NewestFirst(column), sql.FieldGTE(column, from)))
	})
}

// readRecent returns the newest rows before an id from the recent period, if it has enough of them.
func readRecent[R any](ctx context.Context, on db.Execer, t Table, below string, rows int,
	read func(from string) ([]R, error)) ([]R, error) {
	if recent := t.RecentBound(ctx, on, below); recent != "" {
		found, err := read(recent)
		if err != nil || len(found) == rows {
			return found, err
		}
	}
	return read("")
}

// splitTables remembers which tables are partitioned. A wrong entry costs time and nothing else.
var splitTables = splitCache{of: map[string]splitEntry{}}

type splitCache struct {
	mutex sync.Mutex
	of    map[string]splitEntry
}

type splitEntry struct {
	split bool
	until time.Time
}

func (k *splitCache) isSplit(ctx context.Context, on db.Execer, table string) bool {
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
	k.of[table] = splitEntry{split, time.Now().Add(knownFor)}
	return split
}
