package idempotency

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/lib/pq"
	"github.com/postrider/postrider/runtime/fault"
)

// An expired row is as good as none. One that another transaction is inserting
// makes this statement wait for that transaction: this is what serialises equal
// requests. Rows go in by key, so that two batches never wait for each other.
// Only text arrays are sent: pq.Array has no binary form of others.
const storeSQL = `
INSERT INTO idempotency_keys AS held (account_id, key, request_hash, status, body, created_at, expires_at)
SELECT n.account_id, n.key, n.request_hash, n.status, n.body, now(), now() + interval '24 hours'
FROM unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[], $5::bytea[])
     WITH ORDINALITY AS n (account_id, key, request_hash, status, body, place)
ORDER BY n.place
ON CONFLICT (account_id, key) DO UPDATE
SET request_hash = excluded.request_hash, status = excluded.status, body = excluded.body,
    created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE held.expires_at <= now()
RETURNING held.account_id, held.key`

const findSQL = `
SELECT request_hash, status, body FROM idempotency_keys
WHERE account_id = $1 AND key = $2 AND expires_at > now()`

// SKIP LOCKED: a row that a request is replacing right now is not old any more.
const sweepSQL = `
WITH old AS (
  SELECT id FROM idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
), gone AS (DELETE FROM idempotency_keys k USING old WHERE k.id = old.id RETURNING 1)
SELECT count(*) FROM gone`

type address struct{ accountID, key string }

func (c *Claim) address() address { return address{c.accountID, c.key} }

// StoreMany is Store for many requests that share a transaction: one statement.
// taken[i] tells that another request, in this list or elsewhere, has the key of
// answers[i]: leave out its effect and Replay it after the commit. On an error
// nothing may be committed. Answers that are not outcomes (429, 5xx) are refused:
// whoever has one has no effect to commit.
func StoreMany(ctx context.Context, tx Execer, answers []ClaimedAnswer) (taken []bool, err error) {
	taken = make([]bool, len(answers))
	order, err := storeOrder(answers, taken)
	if err != nil || len(order) == 0 {
		return taken, err
	}
	stored, err := insert(ctx, tx, answers, order)
	if err != nil {
		for _, i := range order {
			answers[i].Claim.lost = true // until a later try says otherwise
		}
		return nil, storeError(ctx, err)
	}
	for _, i := range order {
		taken[i] = !stored[answers[i].Claim.address()]
	}
	for i, a := range answers {
		if a.Claim != nil {
			a.Claim.lost = taken[i]
		}
	}
	return taken, nil
}

// storeOrder gives the indexes of what to insert, by account and key. Of equal
// keys the first is inserted, the others are taken.
func storeOrder(answers []ClaimedAnswer, taken []bool) ([]int, error) {
	order := make([]int, 0, len(answers))
	first := make(map[address]bool, len(answers))
	for i, a := range answers {
		switch {
		case a.Claim == nil:
		case !a.Answer.storable():
			return nil, fmt.Errorf("store idempotent answer: status %d is no outcome", a.Answer.Status)
		case first[a.Claim.address()]:
			taken[i] = true
		default:
			first[a.Claim.address()] = true
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := answers[i].Claim, answers[j].Claim
		return cmp.Or(cmp.Compare(a.accountID, b.accountID), cmp.Compare(a.key, b.key))
	})
	return order, nil
}

func insert(ctx context.Context, tx Execer, answers []ClaimedAnswer, order []int) (map[address]bool, error) {
	n := len(order)
	accounts, keys := make([]string, n), make([]string, n)
	hashes, bodies, statuses := make([][]byte, n), make([][]byte, n), make([]int64, n)
	for at, i := range order {
		a := answers[i]
		accounts[at], keys[at], hashes[at] = a.Claim.accountID, a.Claim.key, a.Claim.hash[:]
		statuses[at], bodies[at] = int64(a.Answer.Status), a.Answer.Body
		if bodies[at] == nil {
			bodies[at] = []byte{} // an empty body, not NULL
		}
	}
	rows, err := tx.QueryContext(ctx, storeSQL, pq.Array(accounts), pq.Array(keys), pq.Array(hashes), pq.Array(statuses), pq.Array(bodies))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	stored := make(map[address]bool, n)
	for rows.Next() {
		var at address
		if err := rows.Scan(&at.accountID, &at.key); err != nil {
			return nil, err
		}
		stored[at] = true
	}
	return stored, rows.Err()
}

// storeError tells a wait for another request from a database that is away: the
// insert waits for nothing else. SQLSTATE as in appendix A of the PostgreSQL manual.
func storeError(ctx context.Context, err error) error {
	var server *pq.Error
	if ctx.Err() == nil && errors.As(err, &server) {
		switch server.Code {
		case "55P03", // lock_timeout
			"57014", // statement_timeout
			"40P01": // deadlock: with a transaction that stored other keys before
			return inProgress().Because(err)
		}
	}
	return fmt.Errorf("store idempotent answer: %w", err)
}

func inProgress() *fault.Error {
	return fault.Conflictf(fault.CodeIdempotencyInProgress, "The first request with this Idempotency-Key is still running; try again shortly")
}

// find gives the stored answer, nil when there is none, or a conflict when it
// was given to another request.
func find(ctx context.Context, db Execer, c *Claim) (*Answer, error) {
	rows, err := db.QueryContext(ctx, findSQL, c.accountID, c.key)
	if err != nil {
		return nil, fmt.Errorf("look up idempotency key: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("look up idempotency key: %w", err)
		}
		return nil, nil
	}
	var hash sql.RawBytes
	answer := Answer{Replayed: true}
	if err := rows.Scan(&hash, &answer.Status, &answer.Body); err != nil {
		return nil, fmt.Errorf("look up idempotency key: %w", err)
	}
	if string(hash) != string(c.hash[:]) {
		return nil, fault.Conflictf(fault.CodeIdempotencyConflict, "This Idempotency-Key was used for a different request in the last 24 hours")
	}
	return &answer, nil
}
