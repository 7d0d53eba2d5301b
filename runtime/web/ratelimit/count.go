package ratelimit

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/postrider/postrider/runtime/storage/clockstep"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// request is a request waiting to be counted.
type request struct {
	accountID string
	rate      rate
	result    result
}

// countSQL counts the requests of many accounts and returns, for each account, how many were admitted and how
// far ahead it was before.
//
// An existing row is locked first, so that its newest state counts; a row without remaining requests is not
// written. A missing row is created; if another process creates it concurrently, the account is missing from
// the result and is counted in another round. Locks are taken in order of accounts, existing rows before new
// ones.
//
// An account cannot be further ahead than its burst. If a row is ahead by more than that and
// clockstep.StatementDelay, it was written before the database clock stepped back, and is corrected. If it is
// ahead by less, the writer began after this statement, and the row counts as it is.
var countSQL = db.Compile(`
WITH asked AS (
	SELECT a.* FROM ` + askedRows.Source() + `
), held AS (
	SELECT r.account_id, CASE WHEN beyond THEN asked.burst * asked.every ELSE greatest((extract(epoch FROM r.full_at - now()) * 1000000)::bigint, 0) END AS ahead, beyond
	  FROM rate_limits r JOIN asked USING (account_id),
	       LATERAL (SELECT r.full_at > now() + (asked.burst * asked.every + @delay) * interval '1 microsecond' AS beyond) b
	 ORDER BY r.account_id FOR UPDATE OF r
), counted AS (
	SELECT a.account_id, h.account_id IS NULL AS fresh, coalesce(h.ahead, 0) AS ahead, coalesce(h.beyond, false) AS beyond, a.every,
	       greatest(least(a.requests, (a.burst * a.every - coalesce(h.ahead, 0)) / a.every), 0) AS admitted
	  FROM asked a LEFT JOIN held h USING (account_id)
), changed AS (
	UPDATE rate_limits r SET full_at = now() + (c.ahead + c.admitted * c.every) * interval '1 microsecond'
	  FROM counted c WHERE r.account_id = c.account_id AND NOT c.fresh AND (c.admitted > 0 OR c.beyond)
), made AS (
	INSERT INTO rate_limits (account_id, full_at)
	SELECT c.account_id, now() + c.admitted * c.every * interval '1 microsecond' FROM counted c WHERE c.fresh ORDER BY c.account_id COLLATE "C"
	ON CONFLICT DO NOTHING RETURNING account_id
)
SELECT c.account_id, c.admitted, c.ahead FROM counted c WHERE NOT c.fresh OR c.account_id IN (SELECT account_id FROM made)`)

// accountRequests contains the waiting requests of one account.
type accountRequests struct {
	accountID string
	requests  int
	rate      rate
}

var askedRows = batch.New("a",
	batch.Text("account_id", func(a accountRequests) string { return a.accountID }),
	batch.Int("requests", func(a accountRequests) int { return a.requests }),
	batch.Int("every", func(a accountRequests) int64 { return a.rate.interval }),
	batch.Int("burst", func(a accountRequests) int64 { return a.rate.burst }),
)

// mostRounds limits how often a new account is counted again: once, unless its row is deleted at that very
// moment.
const mostRounds = 5

// countGroup decides about a group of requests.
func (l *Limiter) countGroup(ctx context.Context, group []*request) []error {
	waiting := map[string][]*request{}
	for _, r := range group {
		waiting[r.accountID] = append(waiting[r.accountID], r)
	}
	for range mostRounds {
		if err := l.countRound(ctx, waiting); err != nil {
			return slices.Repeat([]error{err}, len(group))
		}
		if len(waiting) == 0 {
			return nil
		}
	}
	return slices.Repeat([]error{fmt.Errorf("the rows of %d accounts keep changing", len(waiting))}, len(group))
}

// countRound runs the statement once and removes the accounts that it has counted.
func (l *Limiter) countRound(ctx context.Context, waiting map[string][]*request) error {
	rows := make([]accountRequests, 0, len(waiting))
	for accountID, requests := range waiting {
		// the plan may just have changed
		rows = append(rows, accountRequests{accountID, len(requests), requests[len(requests)-1].rate})
	}
	return db.Each(ctx, l.db.Hot, func(row db.Row) error {
		var accountID string
		var admitted, ahead int64
		if err := row.Scan(&accountID, &admitted, &ahead); err != nil {
			return err
		}
		requests := waiting[accountID]
		newest := requests[len(requests)-1].rate
		for i, r := range requests {
			r.rate, r.result = newest, newest.resultOf(int64(i)+1, admitted, ahead)
		}
		delete(waiting, accountID)
		return nil
	}, countSQL.Text, countSQL.Args(askedRows.Rows(rows), db.Arg("delay", clockstep.StatementDelay.Microseconds()))...)
}

// sweepSQL deletes accounts that have regained all of their requests long ago. It skips locked rows, which
// also avoids deadlocks.
const sweepSQL = `
DELETE FROM rate_limits WHERE account_id IN (
	SELECT account_id FROM rate_limits WHERE full_at < now() - interval '1 hour' LIMIT $1::text::int FOR UPDATE SKIP LOCKED)`

const sweepBatch = 1000

func (l *Limiter) deleteStale(ctx context.Context) error {
	for {
		if n, err := db.Exec(ctx, l.db.Hot, sweepSQL, strconv.Itoa(sweepBatch)); err != nil || n < sweepBatch {
			return err
		}
	}
}
