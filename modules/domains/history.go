package domains

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MaxHealth is the maximum number of checks per domain that Health returns.
const MaxHealth = 100

// Checks are kept if they changed something, and at least once per day. A healthy domain is checked about every 12
// h, hence 20 h.
const (
	keepDays   = 90
	keepChecks = 1000
)

const storeCheck = `
INSERT INTO domain_checks (domain_id, account_id, checked_at, status, records)
SELECT $1::text, $2::text, now(), $3::text, $4::jsonb
 WHERE $5::bool OR NOT EXISTS (SELECT 1 FROM domain_checks WHERE domain_id = $1::text AND checked_at > now() - interval '20 hours')`

// The next kept check of a domain deletes its old checks, so no separate job is necessary.
const sweepChecks = `
DELETE FROM domain_checks WHERE domain_id = $1
   AND (checked_at < now() - make_interval(days => $2)
        OR id IN (SELECT id FROM domain_checks WHERE domain_id = $1 ORDER BY checked_at DESC, id DESC OFFSET $3))`

// storeHistory stores a check in the history if it must be kept.
func storeHistory(ctx context.Context, tx *ent.Tx, d *ent.Domain, status domain.Status, records []shape.RecordState,
	changed bool) error {
	encoded, err := json.Marshal(records)
	if err != nil {
		return err
	}
	stored, err := db.Exec(ctx, tx, storeCheck, d.ID, *d.AccountID, string(status), string(encoded), changed)
	if err != nil {
		return fmt.Errorf("store check: %w", err)
	}
	if stored == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, sweepChecks, d.ID, keepDays, keepChecks); err != nil {
		return fmt.Errorf("sweep checks: %w", err)
	}
	return nil
}

const lastChecks = `
SELECT c.domain_id, c.id, c.checked_at, c.status, c.records
  FROM unnest($2::text[]) AS d(id)
 CROSS JOIN LATERAL (SELECT * FROM domain_checks WHERE domain_id = d.id AND account_id = $1 ORDER BY checked_at DESC, id DESC LIMIT $3) c
 ORDER BY c.domain_id, c.checked_at DESC, c.id DESC`

// Health returns the stored checks of several domains of the account, by domain, newest first and at most first
// for each. The records have the status of that time.
func (s *Service) Health(ctx context.Context, accountID string, first int,
	domainIDs ...string) (map[string][]*ent.DomainCheck, error) {
	if first < 1 || first > MaxHealth {
		return nil, fault.InvalidField("first", "must be between 1 and %d", MaxHealth)
	}
	out := make(map[string][]*ent.DomainCheck, len(domainIDs))
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error {
		check := &ent.DomainCheck{AccountID: accountID}
		if err := row.Scan(&check.DomainID, &check.ID, &check.CheckedAt, &check.Status,
			db.ScanJSON(&check.Records)); err != nil {
			return err
		}
		out[check.DomainID] = append(out[check.DomainID], check)
		return nil
	}, lastChecks, accountID, db.Array(domainIDs), first)
	if err != nil {
		return nil, fmt.Errorf("read checks: %w", err)
	}
	return out, nil
}
