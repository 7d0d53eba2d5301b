package bus

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
)

// stretchSize is the number of facts that one transaction of the catch-up examines.
const stretchSize = 5000

const (
	// Selects the facts among the next ones after a position that the group must handle but has not. There is
	// at least one row, which contains the number of facts examined.
	selectOpen = `
WITH looked AS MATERIALIZED (
  SELECT id, account_id, type FROM facts WHERE id >= $2 AND id < $3 ORDER BY id LIMIT $5
), seen AS (
  SELECT count(*) AS n, coalesce(max(id), '') AS last FROM looked
), settled AS (
  SELECT unnest(fact_ids) AS id FROM bus_handled WHERE consumer = $1 AND last_id >= $2 AND first_id <= (SELECT last FROM seen)
  UNION ALL
  SELECT fact_id FROM bus_poison WHERE consumer = $1 AND fact_id >= $2 AND fact_id <= (SELECT last FROM seen)
), waiting AS (
  SELECT fact_id AS id FROM bus_messages WHERE consumer = $1 AND fact_id >= $2 AND fact_id <= (SELECT last FROM seen)
), open AS (
  SELECT looked.id, looked.account_id, waiting.id IS NOT NULL AS waits
  FROM looked LEFT JOIN waiting ON waiting.id = looked.id
  WHERE looked.type = ANY($4) AND NOT EXISTS (SELECT FROM settled WHERE settled.id = looked.id)
)
SELECT seen.n, seen.last, first.waits, missing.id, missing.account_id
FROM seen
CROSS JOIN (SELECT coalesce(min(id), '') AS waits FROM open WHERE waits) first
LEFT JOIN (SELECT id, account_id FROM open WHERE NOT waits) missing ON true
ORDER BY missing.id`

	insertMessages = `INSERT INTO bus_messages (consumer, fact_id) SELECT $1, unnest($2::text[])`

	insertRequeued = `
INSERT INTO bus_messages (consumer, fact_id, last_error)
SELECT consumer, fact_id, error FROM bus_poison p WHERE consumer = $1 AND requeued_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM bus_messages m WHERE m.consumer = p.consumer AND m.fact_id = p.fact_id) LIMIT $2`
)

// scanResult is the result of one transaction of a scan.
type scanResult struct {
	from    string    // its start position
	seen    int       // facts, of any type
	last    string    // the id of the last one
	waits   string    // the first wanted fact that has a message; may be empty
	missing []missing // the wanted facts without a message, in the order of their ids
}

// missing is a fact with neither a message nor a record.
type missing struct{ factID, accountID string }

// readStretch examines the next facts before the horizon. Both positions are ids.
func (g *group) readStretch(ctx context.Context, tx *sql.Tx, from, horizon string) (scanResult, error) {
	s := scanResult{from: from}
	err := db.Each(ctx, tx, func(row db.Row) error {
		var fact, owner sql.NullString
		if err := row.Scan(&s.seen, &s.last, &s.waits, &fact, &owner); err != nil {
			return err
		}
		if fact.Valid {
			s.missing = append(s.missing, missing{fact.String, owner.String})
		}
		return nil
	}, selectOpen, g.name, from, horizon, typeNames(g.consumer), stretchSize)
	if err != nil {
		return scanResult{}, fmt.Errorf("find open facts: %w", err)
	}
	return s, nil
}

// plan is what to do about a stretch.
type plan struct {
	hand []string // facts that get a message
	next string   // where to continue
	mark string   // every fact from the start of the stretch to here is handled
	more bool     // there may be more before the horizon
}

// planDeliveries delivers as many of the missing facts as there is room for.
func (s scanResult) planDeliveries(horizon string, room int, wants func(accountID string) bool) plan {
	p := plan{next: max(s.from, horizon)}
	if s.seen == stretchSize {
		p.next, p.more = s.last, true
	}
	for _, f := range s.missing {
		if wants != nil && !wants(f.accountID) {
			continue
		}
		if len(p.hand) == room {
			p.next, p.more = f.factID, true
			break
		}
		p.hand = append(p.hand, f.factID)
	}
	p.mark = p.next
	if len(p.hand) > 0 {
		p.mark = p.hand[0]
	}
	if s.waits != "" {
		p.mark = min(p.mark, s.waits)
	}
	return p
}
