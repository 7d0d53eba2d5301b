package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// claimSQL takes due runs, one from each lane before a second from any lane, so that an account with many due
// runs does not delay others. The claim decides waits whose time has come: from then on, no event ends them.
// Work of an automation that is held, or whose runs are being cancelled, is parked once and not read again
// until it is released. A trial has version 0. It is never held, because it follows its own definition and a
// user is waiting for it.
const claimSQL = `
WITH due AS MATERIALIZED (
	SELECT d.id, d.due_at, d.automation_id, d.version, l.lane FROM generate_series(0, ` + lanesText + ` - 1) AS l (lane) CROSS JOIN LATERAL (
		SELECT w.id, w.due_at, w.automation_id, w.version FROM automation_works w
		WHERE w.lane = l.lane AND NOT w.parked AND w.due_at <= now() AND ($3::timestamptz IS NULL OR now() < $3)
		ORDER BY w.due_at LIMIT $1 FOR UPDATE SKIP LOCKED
	) d
), judged AS (
	SELECT d.id, d.due_at, row_number() OVER (PARTITION BY d.lane ORDER BY d.due_at) AS nth,
		d.version > 0 AND (a.id IS NULL OR a.held OR coalesce(a.draining = 'cancel', false)) AS held
	FROM due d LEFT JOIN automations a ON a.id = d.automation_id
), parked AS (
	UPDATE automation_works w SET parked = true FROM judged j WHERE w.id = j.id AND j.held
), picked AS (
	SELECT id FROM judged WHERE NOT held ORDER BY nth, due_at LIMIT $1
), w AS (
	UPDATE automation_works w SET due_at = now() + $2 * interval '1 microsecond', fence = w.fence + 1, claims = w.claims + 1, refused_at = NULL,
		state = CASE WHEN w.state = 'waiting' THEN 'timed_out' ELSE w.state END
	FROM picked p WHERE w.id = p.id RETURNING w.*
)
SELECT ` + liveColumns + `, now() FROM w JOIN automation_runs r ON r.id = w.id`

// Lanes is the number of lanes to which accounts are assigned.
const Lanes = 64

const lanesText = `64`

// ClaimedRun is a live run under a lease.
type ClaimedRun struct {
	*LiveRun

	at   time.Time // database time of the claim
	here time.Time // time of this process's clock at the same moment or slightly later
}

// Now returns the current time of the database clock.
func (c *ClaimedRun) Now() time.Time { return c.at.Add(time.Since(c.here)) }

// Claim takes due runs under a lease. After until, by the database clock, it takes nothing; nil means no
// deadline.
func Claim(ctx context.Context, on db.Execer, limit int, lease time.Duration, until *time.Time) ([]*ClaimedRun, error) {
	rows, err := db.All(ctx, on, func(r *liveRow) []any { return append(r.columns(), &r.now) }, claimSQL, limit,
		lease.Microseconds(), until)
	if err != nil {
		return nil, fmt.Errorf("claim runs: %w", err)
	}
	here := time.Now()
	list, err := decodeLives(rows)
	if err != nil {
		return nil, err
	}
	if err := readOutputs(ctx, on, list); err != nil {
		return nil, err
	}
	claimed := make([]*ClaimedRun, 0, len(list))
	for i, l := range list {
		claimed = append(claimed, &ClaimedRun{l, rows[i].now, here})
	}
	return claimed, nil
}

const releaseSQL = `
UPDATE automation_works w SET due_at = now() + v.wait * interval '1 microsecond', fence = w.fence + 1, claims = greatest(w.claims - v.uncounted, 0)
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS v (id, fence, wait, uncounted)
WHERE w.id = v.id AND w.fence = v.fence`

// ReleasedClaim is a claim that ends without an outcome.
type ReleasedClaim struct {
	Live    *LiveRun
	Wait    time.Duration // pause before it is due again
	Counted bool          // the claim counts as a try
}

// Release makes claimed runs due again.
func Release(ctx context.Context, on db.Execer, list []ReleasedClaim) error {
	if len(list) == 0 {
		return nil
	}
	var ids []string
	var fences, waits, uncounted []int64
	for _, r := range list {
		ids, fences, waits = append(ids, r.Live.Run.ID), append(fences, r.Live.Fence), append(waits,
			r.Wait.Microseconds())
		if r.Counted {
			uncounted = append(uncounted, 0)
		} else {
			uncounted = append(uncounted, 1)
		}
	}
	_, err := on.ExecContext(ctx, releaseSQL, db.Array(ids), db.Array(fences), db.Array(waits), db.Array(uncounted))
	return wrapError(err, "release runs")
}

const unparkSQL = `
UPDATE automation_works SET parked = false WHERE id IN (
	SELECT w.id FROM automation_works w JOIN automations a ON a.id = w.automation_id
	WHERE w.automation_id = $1 AND w.parked AND NOT a.held AND a.draining IS DISTINCT FROM 'cancel' ORDER BY w.id LIMIT $2 FOR UPDATE OF w SKIP LOCKED)`

// Unpark makes up to limit runs due that became due while their automation was held, if it is no longer held.
// It returns how many there were.
func Unpark(ctx context.Context, on db.Execer, automationID string, limit int) (int, error) {
	n, err := db.Exec(ctx, on, unparkSQL, automationID, limit)
	return n, wrapError(err, "release held runs")
}
