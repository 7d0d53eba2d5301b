package accounts

import (
	"context"
	"time"
)

// Counters older than this say nothing that anybody asks for. A day compares with
// a month as text does: 2025-10-31 comes after 2025-10.
const sweepUsageSQL = `
DELETE FROM usages WHERE id IN (
	SELECT id FROM usages WHERE period COLLATE "C" < to_char((now() AT TIME ZONE 'UTC') - interval '13 months', 'YYYY-MM')
	 LIMIT $1 FOR UPDATE SKIP LOCKED)`

const (
	sweepBatch = 1000
	sweepTime  = time.Minute
)

// sweepUsage deletes old counters, and none that a send is using. What it has no time for
// is left to the next sweep.
func (s *Service) sweepUsage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for {
		done, err := s.db.SQL.ExecContext(ctx, sweepUsageSQL, sweepBatch)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n < sweepBatch {
			return err
		}
	}
}
