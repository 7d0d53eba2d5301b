package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// PostgreSQL appends new documents to a list of the index, and searches this list from its beginning to its end. The
// insert that fills it (gin_pending_list_limit, 4 MB) merges all of them into the index. With millions of rows on a
// busy disk, that takes longer than an insert may take, so the insert fails, and the next one begins again.
const (
	// mergeEvery is how often Run looks for new documents.
	mergeEvery = 2 * time.Second
	// mergeRows is the number of new documents that Run merges together, about a tenth of a full list. A larger number
	// would hardly save work: most words of a document are in few others.
	mergeRows = 1000
)

const (
	// pendingSQL selects the indexes over documents, with the number of row versions that were added to them.
	pendingSQL = `
SELECT i.indexrelid::bigint, x.relname, pg_stat_get_tuples_inserted(i.indrelid) + pg_stat_get_tuples_updated(i.indrelid) - pg_stat_get_tuples_hot_updated(i.indrelid)
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid AND x.relkind = 'i' JOIN pg_am m ON m.oid = x.relam AND m.amname = 'gin'
WHERE x.relnamespace = current_schema()::regnamespace ORDER BY 1`
	// mergeSQL does nothing while another process merges the index.
	mergeSQL = `
SELECT gin_clean_pending_list($1::bigint::oid::regclass)
WHERE pg_try_advisory_xact_lock(hashtextextended('merge of ' || $1::bigint, 0))`
)

// Merger merges new documents into the indexes. Every process has one. It is not safe for concurrent use.
type Merger struct {
	db     *db.DB
	merged map[int64]int64 // row versions at the latest merge, by the oid of the index
}

// NewMerger returns a Merger for all indexes of the database.
func NewMerger(d *db.DB) *Merger { return &Merger{db: d, merged: map[int64]int64{}} }

// Run merges the indexes with many new documents, and returns when to look again. The role must own the indexes.
func (m *Merger) Run(ctx context.Context) (time.Duration, error) {
	names, err := m.merge(ctx)
	if len(names) > 0 && err == nil {
		return 0, nil // others may have been added in the meantime
	}
	return mergeEvery, err
}

// searchIndex is a row of pendingSQL.
type searchIndex struct {
	oid     int64
	name    string
	written int64
}

// merge returns the names of the indexes that it has merged.
func (m *Merger) merge(ctx context.Context) (names []string, err error) {
	all, err := db.All(ctx, m.db.SQL, func(x *searchIndex) []any { return []any{&x.oid, &x.name, &x.written} }, pendingSQL)
	if err != nil {
		return nil, fmt.Errorf("look for new documents: %w", err)
	}
	for _, x := range all {
		last, known := m.merged[x.oid]
		if fresh := x.written - last; known && fresh >= 0 && fresh < mergeRows { // the server counts from 0 after a crash
			continue
		}
		if err := m.mergeIndex(ctx, x); err != nil {
			return names, err
		}
		m.merged[x.oid] = x.written
		names = append(names, x.name)
	}
	return names, nil
}

func (m *Merger) mergeIndex(ctx context.Context, x searchIndex) (err error) {
	handle, err := m.db.OpenPatient()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	if _, err := handle.ExecContext(ctx, mergeSQL, x.oid); err != nil {
		return fmt.Errorf("merge new documents into %s: %w", x.name, err)
	}
	return nil
}
