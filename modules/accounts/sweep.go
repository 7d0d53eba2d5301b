package accounts

import (
	"context"
	"log/slog"
	"time"
)

// Counters older than this say nothing that anybody asks for. A day compares with
// a month as text does: 2025-10-31 comes after 2025-10.
const sweepUsageSQL = `
DELETE FROM usages WHERE id IN (
	SELECT id FROM usages WHERE period COLLATE "C" < to_char((now() AT TIME ZONE 'UTC') - interval '13 months', 'YYYY-MM')
	 LIMIT $1 FOR UPDATE SKIP LOCKED)`

const sweepBatch = 1000

// sweepUsage deletes old counters, and none that a send is using.
func (s *Service) sweepUsage(ctx context.Context) error {
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

func (s *Service) sweeping(done <-chan struct{}) {
	tick := time.NewTicker(s.config.SweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			if err := s.sweepUsage(ctx); err != nil {
				s.log.WarnContext(ctx, "sweep of old email counts stopped; the next one goes on", slog.Any("error", err))
			}
			cancel()
		}
	}
}
