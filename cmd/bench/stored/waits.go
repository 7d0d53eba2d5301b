package stored

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Waits is how long recipients waited from acceptance to their last attempt, in seconds.
type Waits struct{ Median, P99, Longest float64 }

const (
	unsettledSQL = `SELECT EXISTS (SELECT FROM recipients WHERE settled_at IS NULL)`
	waitsSQL     = `
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY waited), percentile_cont(0.99) WITHIN GROUP (ORDER BY waited), max(waited)
FROM (SELECT extract(epoch FROM max(a.started_at) - r.queued_at) AS waited FROM recipients r JOIN attempts a ON a.recipient_id = r.id GROUP BY r.id, r.queued_at) w`
)

// ReadWaits returns the waits of all recipients of a database, once all of them are settled.
func ReadWaits(ctx context.Context, databaseURL string) (w Waits, err error) {
	conn, err := sql.Open("postgres", databaseURL)
	if err != nil {
		return Waits{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for unsettled := true; unsettled; {
		if err := conn.QueryRowContext(ctx, unsettledSQL).Scan(&unsettled); err != nil {
			return Waits{}, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Waits{}, ctx.Err()
		}
	}
	return w, conn.QueryRowContext(ctx, waitsSQL).Scan(&w.Median, &w.P99, &w.Longest)
}
