package devinbox

import (
	"context"
	"sync"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// Bounds of the captured mail of a tenant.
const (
	keepBytes  = 512 << 20
	trimEvery  = 100      // captures between two deletions of old mail
	trimBytes  = 32 << 20 // bytes of captures between two deletions of old mail
	maxCounted = 10_000   // tenants
)

// trimSQL returns the statement that deletes the oldest emails of a tenant, so that at most $1 emails and $2 bytes
// remain. The newest email always remains.
func trimSQL(ofTenant string) string {
	return `
DELETE FROM captured_mails WHERE ` + ofTenant + ` AND id <= (
	SELECT max(id) FROM (
		SELECT id, row_number() OVER newest AS n, sum(size) OVER newest AS bytes FROM captured_mails WHERE ` + ofTenant + `
		WINDOW newest AS (ORDER BY id DESC)) listed
	 WHERE n > $1 OR n > 1 AND bytes > $2)`
}

// trim deletes the oldest emails of a tenant beyond the bounds.
func (s *Service) trim(ctx context.Context, tenant string) error {
	ofTenant, args := `account_id IS NULL`, []any{Keep, keepBytes}
	if tenant != "" {
		ofTenant, args = `account_id = $3`, append(args, tenant)
	}
	_, err := db.Exec(ctx, s.db.SQL, trimSQL(ofTenant), args...)
	return err
}

// trimCounter counts the captures of each tenant and reports when its old mail is due for deletion.
type trimCounter struct {
	mu     sync.Mutex
	counts map[string]captureCount
}

type captureCount struct{ mails, bytes int }

func (c *trimCounter) isDue(tenant string, bytes int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil || len(c.counts) >= maxCounted {
		c.counts = map[string]captureCount{}
	}
	n := c.counts[tenant]
	n.mails, n.bytes = n.mails+1, n.bytes+bytes
	due := n.mails >= trimEvery || n.bytes >= trimBytes
	if due {
		n = captureCount{}
	}
	c.counts[tenant] = n
	return due
}

const purgeBatch = 500

const purgeSQL = `
DELETE FROM captured_mails WHERE id IN (SELECT id FROM captured_mails WHERE account_id = $1 AND received_at < $2 ORDER BY id LIMIT $3)`

// Purge deletes the captured mail of a test tenant from before a time.
func (s *Service) Purge(ctx context.Context, tenant string, before time.Time) (deleted int64, err error) {
	for {
		n, err := db.Exec(ctx, s.db.SQL, purgeSQL, tenant, before, purgeBatch)
		if deleted += int64(n); err != nil || n < purgeBatch {
			return deleted, err
		}
	}
}

const eraseSQL = `
DELETE FROM captured_mails WHERE account_id = $1 AND EXISTS (SELECT FROM jsonb_array_elements_text(rcpt_to) AS one WHERE lower(one) = lower($2))`

// Erase deletes the captured mail of a test tenant to an address.
func (s *Service) Erase(ctx context.Context, tenant, address string) (deleted int64, err error) {
	n, err := db.Exec(ctx, s.db.SQL, eraseSQL, tenant, address)
	return int64(n), err
}
