package search

import (
	"context"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/storage/db"
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
