package accounts

import (
	"context"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Deletes counters that are too old to be shown. Days and months compare as text: 2025-10-31 sorts after
// 2025-10.
const sweepUsageSQL = `
DELETE FROM usages WHERE id IN (
	SELECT id FROM usages WHERE period COLLATE "C" < to_char((now() AT TIME ZONE 'UTC') - interval '13 months', 'YYYY-MM')
	 LIMIT $1 FOR UPDATE SKIP LOCKED)`

const (
	sweepBatch = 1000
	sweepTime  = time.Minute
)

const sweepHoursSQL = `
DELETE FROM usage_hours WHERE (account_id, hour) IN (
	SELECT account_id, hour FROM usage_hours WHERE hour < date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '13 months'
	 LIMIT $1 FOR UPDATE SKIP LOCKED)`

// sweepUsage deletes old counters and counts, except rows that a send has locked. If it runs out of time, the
// next sweep deletes the rest.
func (s *Service) sweepUsage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	for _, statement := range []string{sweepUsageSQL, sweepHoursSQL} {
		for n := sweepBatch; n == sweepBatch; {
			var err error
			if n, err = db.Exec(ctx, s.db.SQL, statement, sweepBatch); err != nil {
				return err
			}
		}
	}
	return nil
}
