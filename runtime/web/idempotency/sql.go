package idempotency

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lib/pq"
	"github.com/postrider/postrider/runtime/base/fault"

	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// An expired row counts as missing, and so does a refused request. If another transaction is inserting a row,
// this statement waits for that transaction: this serializes equal requests. Rows are inserted in key order,
// so that two batches never deadlock.
//
// @max_wait is the lock timeout in milliseconds; empty means that of the session. The previous setting is
// restored after all rows are inserted, because their sum is computed first.
var storeSQL = db.Compile(`
WITH setting AS MATERIALIZED (
	SELECT before, set_config('lock_timeout', coalesce(nullif(@max_wait, ''), before), true)
	FROM (SELECT current_setting('lock_timeout') AS before OFFSET 0) session
), stored AS (
	INSERT INTO idempotency_keys AS held (` + answerRows.Columns() + `)
	SELECT ` + answerRows.Values() + ` FROM setting, ` + answerRows.NumberedSource("place") + ` ORDER BY n.place
	ON CONFLICT (account_id, key) DO UPDATE
	SET request_hash = excluded.request_hash, operation = excluded.operation, status = excluded.status, body = excluded.body,
	    created_at = excluded.created_at, expires_at = excluded.expires_at
	WHERE held.expires_at <= now() OR held.status >= 400
	RETURNING held.account_id, held.key
), together AS (
	SELECT coalesce(array_agg(account_id), '{}') AS accounts, coalesce(array_agg(key), '{}') AS keys FROM stored
)
SELECT accounts::text[], keys::text[], set_config('lock_timeout', before, true) FROM together, setting`)

var answerRows = batch.New("n",
	batch.Text("account_id", func(a *ClaimedResponse) string { return a.Claim.accountID }),
	batch.Text("key", func(a *ClaimedResponse) string { return a.Claim.key }),
	batch.Bytes("request_hash", func(a *ClaimedResponse) []byte { return a.Claim.hash[:] }),
	batch.Text("operation", func(a *ClaimedResponse) string { return a.Claim.operation }),
	batch.Int("status", (*ClaimedResponse).storedStatus),
	batch.Bytes("body", func(a *ClaimedResponse) []byte { return a.Answer.Body }),
	batch.ComputedColumn[*ClaimedResponse]("created_at", "now()"),
	batch.ComputedColumn[*ClaimedResponse]("expires_at", "now() + interval '24 hours'"),
)

const findSQL = `
SELECT request_hash, operation, status, body FROM idempotency_keys
WHERE account_id = $1 AND key = $2 AND expires_at > now() AND status < 400`

// SKIP LOCKED: a row that a request is currently replacing is no longer old.
const sweepSQL = `
WITH old AS (
  SELECT id FROM idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED
), gone AS (DELETE FROM idempotency_keys k USING old WHERE k.id = old.id RETURNING 1)
SELECT count(*) FROM gone`

// Key identifies a key of an account.
type Key struct{ AccountID, Name string }

// Key returns the claimed key.
func (c *Claim) Key() Key { return Key{c.accountID, c.key} }

// ErrBusy means that another transaction holds one of the keys: roll back, then store the requests
// separately.
var ErrBusy = errors.New("idempotency key held by a request that is running")

// StoreMany is Store for many requests that share a transaction, with one statement. taken[i] reports that
// another request, in this list or elsewhere, has the key of answers[i]: omit its effect and call Replay
// after the commit. After an error, roll back. Only 2xx responses are accepted: others have no effect to
// commit.
func StoreMany(ctx context.Context, tx Execer, answers []ClaimedResponse) (taken []bool, err error) {
	return storeMany(ctx, tx, answers, 0)
}

// TryStoreMany is StoreMany that waits for other transactions for at most maxWait. After that it returns
// ErrBusy.
func TryStoreMany(ctx context.Context, tx Execer, answers []ClaimedResponse,
	maxWait time.Duration) (taken []bool, err error) {
	return storeMany(ctx, tx, answers, max(maxWait, time.Millisecond))
}

const completeSQL = `
UPDATE idempotency_keys k SET status = v.status, body = v.body
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) AS v (account_id, key, status, body)
WHERE k.account_id = v.account_id AND k.key = v.key`

// Complete stores the responses for keys that StoreMany has taken in this transaction, if they are only
// known after the effect.
func Complete(ctx context.Context, tx Execer, answers []ClaimedResponse) error {
	var accounts, keys []string
	var statuses []int64
	var bodies [][]byte
	for _, a := range answers {
		if a.Claim == nil {
			continue
		}
		if !a.Answer.isStorable() {
			return fmt.Errorf("complete an idempotency key: a response with status %d cannot be stored",
				a.Answer.Status)
		}
		accounts, keys = append(accounts, a.Claim.accountID), append(keys, a.Claim.key)
		statuses, bodies = append(statuses, int64(a.Answer.Status)), append(bodies, a.Answer.Body)
	}
	if len(keys) == 0 {
		return nil
	}
	changed, err := db.Exec(ctx, tx, completeSQL, db.Array(accounts), db.Array(keys), db.Array(statuses),
		db.Array(bodies))
	switch {
	case err != nil:
		return fmt.Errorf("complete idempotency keys: %w", err)
	case changed != len(keys):
		return fmt.Errorf("complete idempotency keys: %d of %d are held", changed, len(keys))
	}
	return nil
}

// storeMany waits as long as the session allows if maxWait is 0.
func storeMany(ctx context.Context, tx Execer, answers []ClaimedResponse,
	maxWait time.Duration) (taken []bool, err error) {
	taken = make([]bool, len(answers))
	order, err := storeOrder(answers, taken)
	if err != nil || len(order) == 0 {
		return taken, err
	}
	stored, err := insertResponses(ctx, tx, answers, order, maxWait)
	if err != nil {
		return nil, storeError(ctx, err, maxWait)
	}
	for _, i := range order {
		taken[i] = !stored[answers[i].Claim.Key()]
	}
	return taken, nil
}

// storeOrder returns the indexes of the answers to insert, by account and key. Of equal keys, the first is
// inserted and the others count as taken.
func storeOrder(answers []ClaimedResponse, taken []bool) ([]int, error) {
	order := make([]int, 0, len(answers))
	first := make(map[Key]bool, len(answers))
	for i, a := range answers {
		switch {
		case a.Claim == nil:
		case !a.Answer.isStorable():
			return nil, fmt.Errorf("store idempotent answer: a response with status %d cannot be stored",
				a.Answer.Status)
		case first[a.Claim.Key()]:
			taken[i] = true
		default:
			first[a.Claim.Key()] = true
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := answers[i].Claim, answers[j].Claim
		return cmp.Or(cmp.Compare(a.accountID, b.accountID), cmp.Compare(a.key, b.key))
	})
	return order, nil
}

// insertResponses returns the keys that were stored.
func insertResponses(ctx context.Context, tx Execer, answers []ClaimedResponse, order []int,
	maxWait time.Duration) (map[Key]bool, error) {
	rows := make([]*ClaimedResponse, len(order))
	for at, i := range order {
		rows[at] = &answers[i]
	}
	limit := "" // unchanged
	if maxWait > 0 {
		limit = strconv.FormatInt(maxWait.Milliseconds(), 10)
	}
	type names struct {
		accounts, keys []string
		before         string
	}
	together, err := db.One(ctx, tx, func(n *names) []any {
		return []any{db.ScanArray(&n.accounts), db.ScanArray(&n.keys), &n.before}
	}, storeSQL.Text, storeSQL.Args(db.Arg("max_wait", limit), answerRows.Rows(rows))...)
	if err != nil {
		return nil, err
	}
	stored := make(map[Key]bool, len(together.keys))
	for i, key := range together.keys {
		stored[Key{together.accounts[i], key}] = true
	}
	return stored, nil
}

// storeError distinguishes waiting for another request from an unavailable database: the insert can wait for
// nothing else. SQLSTATE codes as in appendix A of the PostgreSQL manual.
func storeError(ctx context.Context, err error, maxWait time.Duration) error {
	var server *pq.Error
	if ctx.Err() == nil && errors.As(err, &server) {
		switch server.Code {
		case "55P03", // lock_timeout
			"57014", // statement_timeout
			"40P01": // deadlock with a transaction that has stored other keys before
			if maxWait > 0 {
				return fmt.Errorf("store idempotent answer: %w (%s)", ErrBusy, server.Message)
			}
			return InProgress().WithCause(err)
		}
	}
	return fmt.Errorf("store idempotent answer: %w", err)
}

// InProgress returns the error for a request while another one holds its key. It is never stored.
func InProgress() *fault.Error {
	return fault.Conflictf(fault.CodeIdempotencyInProgress,
		"The first request with this Idempotency-Key is still running; try again shortly")
}

// conflictWith returns the error for a key that was first used with an operation; "" if the operation is
// unknown.
func (c *Claim) conflictWith(operation string) *fault.Error {
	const message = "This Idempotency-Key was used for a different request in the last 24 hours"
	switch operation {
	case "":
		return fault.Conflictf(fault.CodeIdempotencyConflict, message)
	case c.operation:
		return fault.Conflictf(fault.CodeIdempotencyConflict, message+": %s with a different body", operation)
	default:
		return fault.Conflictf(fault.CodeIdempotencyConflict, message+": %s", operation)
	}
}

// findResponse returns the stored response, nil if there is none, or a conflict if it belongs to a different
// request.
func findResponse(ctx context.Context, on Execer, c *Claim) (*Response, error) {
	type row struct {
		Response

		hash      []byte
		operation string
	}
	found, err := db.One(ctx, on, func(r *row) []any { return []any{&r.hash, &r.operation, &r.Status, &r.Body} },
		findSQL,
		c.accountID, c.key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look up idempotency key: %w", err)
	case string(found.hash) != string(c.hash[:]):
		return nil, c.conflictWith(found.operation)
	}
	found.Replayed = true
	return &found.Response, nil
}
