package webhooks

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/storage/db"
)

// firstClaim is a row of webhook_claims: first attempts that this process has claimed together. The row is deleted with
// the outcome of the last one. As long as it exists, no other process can begin an attempt of its deliveries.
type firstClaim struct {
	id        int64
	startedAt time.Time // by the database clock
	left      atomic.Int64
}

// add makes the delivery part of the claim.
func (c *firstClaim) add(d *delivery) {
	d.first = c
	c.left.Add(1)
}

// remove removes a delivery whose outcome or release is stored. It does nothing if c is nil.
func (c *firstClaim) remove() {
	if c != nil {
		c.left.Add(-1)
	}
}

// isDoneAfter reports whether n deliveries are all that are left.
func (c *firstClaim) isDoneAfter(n int) bool { return c.left.Load() == int64(n) }

// expireEvery is the interval of the search for leases that have ended.
const expireEvery = time.Second

// expiredSQL locks the claims whose leases have ended. It finds none once this process may not claim.
const expiredSQL = `
SELECT id FROM webhook_claims WHERE due_at <= now() AND ($1::timestamptz IS NULL OR now() < $1) ORDER BY id FOR UPDATE SKIP LOCKED`

const (
	claimsOfNodeSQL = `SELECT id FROM webhook_claims WHERE node = $1 ORDER BY id FOR UPDATE`
	claimsBeforeSQL = `SELECT id FROM webhook_claims WHERE started_at < $1 ORDER BY id FOR UPDATE`
)

// interruptSQL deletes claims that the transaction has locked and makes their unfinished deliveries due. Whether the
// endpoints received them is unknown. It must not be the statement that locks the claims, because it has to see the
// outcomes that were stored before.
const interruptSQL = `
WITH ended AS (
	DELETE FROM webhook_claims WHERE id = ANY($1) RETURNING started_at, node, delivery_ids
), cut AS (
	SELECT d.id, d.account_id, d.webhook_id, e.started_at, e.node
	FROM ended e CROSS JOIN unnest(e.delivery_ids) AS x (id) JOIN webhook_deliveries d ON d.id = x.id AND d.state = 'pending' AND d.attempts = 0
	WHERE NOT EXISTS (SELECT FROM webhook_works q WHERE q.id = d.id)
), back AS (
	INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round) SELECT id, webhook_id, now(), 1, 1, 1 FROM cut ON CONFLICT DO NOTHING
), stored AS (
	INSERT INTO webhook_attempts (delivery_id, account_id, number, fence, started_at, finished_at, outcome, error, response, remote_addr, node)
	SELECT id, account_id, 1, 1, started_at, now(), 'unknown', '', '', '', node FROM cut ON CONFLICT DO NOTHING
)
SELECT count(*) FROM cut`

// interruptClaims ends the claims that a statement locks, and returns the number of their unfinished deliveries.
func interruptClaims(ctx context.Context, tx db.Execer, lockSQL string, arg any) (count int64, err error) {
	ids, err := db.All(ctx, tx, db.Value[int64], lockSQL, arg)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.One(ctx, tx, db.Value[int64], interruptSQL, db.Array(ids))
}

// expireClaims makes the deliveries of claims due whose leases have ended.
func (s *deliverer) expireClaims(ctx context.Context) error {
	if time.Since(s.expired) < min(expireEvery, s.poll) {
		return nil
	}
	s.expired = time.Now()
	found, err := db.One(ctx, s.db.Prepared, db.Value[bool],
		`SELECT EXISTS (SELECT FROM webhook_claims WHERE due_at <= now())`)
	if err == nil && found {
		err = s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			_, err := interruptClaims(ctx, tx, expiredSQL, s.claimsUntil())
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("end leases of webhook deliveries: %w", err)
	}
	return nil
}

// firstAttemptsSQL are the first attempts f that have not ended, with the rows d of their deliveries.
const firstAttemptsSQL = `(SELECT started_at, node, unnest(delivery_ids) AS id FROM webhook_claims) f
	JOIN webhook_deliveries d ON d.id = f.id AND d.state = 'pending' AND d.attempts = 0 AND NOT EXISTS (SELECT FROM webhook_works q WHERE q.id = d.id)`

// firstAttempts returns the first attempts that have not ended of the account's given deliveries.
func (s *Service) firstAttempts(ctx context.Context, accountID string,
	deliveryIDs []string) ([]*ent.WebhookAttempt, error) {
	found, err := db.All(ctx, s.db.SQL, func(a *ent.WebhookAttempt) []any {
		return []any{&a.DeliveryID, &a.AccountID, &a.StartedAt, &a.Node}
	}, `SELECT d.id, d.account_id, f.started_at, f.node FROM `+firstAttemptsSQL+` WHERE d.id = ANY($1) AND d.account_id = $2`,
		db.Array(deliveryIDs), accountID)
	if err != nil {
		return nil, fmt.Errorf("read running webhook attempts: %w", err)
	}
	running := make([]*ent.WebhookAttempt, len(found))
	for i := range found {
		found[i].Number, found[i].Fence = 1, 1
		running[i] = &found[i]
	}
	return running, nil
}
