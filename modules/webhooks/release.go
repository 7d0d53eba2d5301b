package webhooks

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/postrider/postrider/runtime/storage/db"
)

// handBackSQL undoes a claim. The attempt was never made, so its row is deleted.
const handBackSQL = `
WITH back AS (
	UPDATE webhook_works q SET due_at = now(), attempts = q.attempts - 1, round = q.round - 1, fence = q.fence + 1
	FROM unnest($1::text[], $2::bigint[]) AS v (id, fence)
	WHERE q.id = v.id AND q.fence = v.fence
	RETURNING q.id, v.fence
)
DELETE FROM webhook_attempts a USING back WHERE a.delivery_id = back.id AND a.fence = back.fence`

// handBackFirstSQL returns deliveries of a row of webhook_claims to their queue, unless the lease has ended and another
// process has done so. The others stay in the row.
const handBackFirstSQL = `
WITH held AS (
	SELECT id FROM webhook_claims WHERE id = $1 FOR UPDATE
), back AS (
	INSERT INTO webhook_works (id, webhook_id, due_at, fence, attempts, round)
	SELECT d.id, d.webhook_id, now(), 0, 0, 0 FROM held CROSS JOIN webhook_deliveries d WHERE d.id = ANY($2) AND d.state = 'pending' AND d.attempts = 0
	ON CONFLICT DO NOTHING
)
UPDATE webhook_claims c SET delivery_ids = ARRAY(SELECT x.id FROM unnest(c.delivery_ids) AS x (id) WHERE x.id <> ALL($2))
FROM held WHERE c.id = held.id`

func compareClaims(a, b *firstClaim) int { return cmp.Compare(a.id, b.id) }

// releaseClaims releases deliveries that were claimed but not started.
func (s *deliverer) releaseClaims(ctx context.Context, jobs []delivery) error {
	first := map[*firstClaim][]string{}
	var ids []string
	var fences []int64
	for _, d := range jobs {
		if d.first != nil {
			first[d.first] = append(first[d.first], d.id)
			continue
		}
		ids, fences = append(ids, d.id), append(fences, d.fence)
	}
	err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if len(ids) > 0 {
			if _, err := tx.ExecContext(ctx, handBackSQL, db.Array(ids), db.Array(fences)); err != nil {
				return err
			}
		}
		var empty []int64
		for _, claim := range slices.SortedFunc(maps.Keys(first), compareClaims) { // as expired claims are locked
			deliveries := first[claim]
			if _, err := tx.ExecContext(ctx, handBackFirstSQL, claim.id, db.Array(deliveries)); err != nil {
				return err
			}
			if claim.isDoneAfter(len(deliveries)) {
				empty = append(empty, claim.id)
			}
		}
		if len(empty) == 0 {
			return nil
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM webhook_claims WHERE id = ANY($1)`, db.Array(empty))
		return err
	})
	if err != nil {
		return fmt.Errorf("release webhook deliveries: %w", err)
	}
	for _, d := range jobs {
		d.first.remove()
		s.flights.end(d, nil)
	}
	return nil
}
