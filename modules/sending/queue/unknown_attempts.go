package queue

import (
	"context"
	"fmt"

	"github.com/postrider/postrider/runtime/storage/db"
)

// unknownSQL reads the index attempt_in_doubt, which contains only such attempts.
const unknownSQL = `
SELECT count(*) FROM (SELECT FROM attempts WHERE in_doubt_at > now() - interval '24 hours' LIMIT $1) a`

// CountUnknown returns how many attempts of the last 24 hours ended without a known result, up to
// MaxDepth. Each of their recipients may have received the email twice.
func CountUnknown(ctx context.Context, d *db.DB) (n int, err error) {
	if err := d.Hot.QueryRowContext(ctx, unknownSQL, MaxDepth).Scan(&n); err != nil {
		return 0, fmt.Errorf("count attempts without a known result: %w", err)
	}
	return n, nil
}

// CountUnknown is the function of the same name on the service's database.
func (s *Service) CountUnknown(ctx context.Context) (int, error) { return CountUnknown(ctx, s.db) }
