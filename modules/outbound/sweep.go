package outbound

import (
	"context"
	"fmt"
)

// countersKept is the number of days for which counters are kept: they answer questions about a TLS report.
const countersKept = 60

const sweepBatch = 1000

// Days in this format compare like text.
var sweepSQL = [...]string{`
DELETE FROM tls_report_counts WHERE id IN (
	SELECT id FROM tls_report_counts WHERE day < to_char((now() AT TIME ZONE 'UTC') - make_interval(days => $1), 'YYYY-MM-DD')
	 LIMIT $2 FOR UPDATE SKIP LOCKED)`, `
DELETE FROM source_days WHERE id IN (
	SELECT id FROM source_days WHERE day < to_char((now() AT TIME ZONE 'UTC') - make_interval(days => $1), 'YYYY-MM-DD')
	 LIMIT $2 FOR UPDATE SKIP LOCKED)`}

// Sweep deletes old counters in small steps and returns the number of deleted rows.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var swept int64
	for _, statement := range sweepSQL {
		for {
			done, err := s.db.SQL.ExecContext(ctx, statement, countersKept, sweepBatch)
			if err != nil {
				return swept, fmt.Errorf("sweep counters: %w", err)
			}
			n, err := done.RowsAffected()
			swept += n
			if err != nil {
				return swept, fmt.Errorf("sweep counters: %w", err)
			}
			if n < sweepBatch {
				break
			}
		}
	}
	return swept, nil
}
