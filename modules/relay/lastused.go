package relay

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lib/pq"
)

// uses collects which credentials were used and when, between two writes.
type uses struct {
	mu   sync.Mutex
	last map[string]time.Time // credential id to the latest use
}

func (u *uses) mark(credentialID string) {
	now := time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = map[string]time.Time{}
	}
	u.last[credentialID] = now
}

func (u *uses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.last
	u.last = nil
	return taken
}

// putBack returns what could not be written; a later use wins.
func (u *uses) putBack(taken map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = taken
		return
	}
	for credentialID, at := range taken {
		if at.After(u.last[credentialID]) {
			u.last[credentialID] = at
		}
	}
}

func (s *Service) writeLastUsed(done <-chan struct{}) {
	tick := time.NewTicker(s.config.LastUsedEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
			if err := s.flushLastUsed(ctx); err != nil {
				s.log.Warn("last use of SMTP credentials not written, kept for the next time", slog.Any("error", err))
			}
			cancel()
		}
	}
}

// Ages and not times are sent, so that the column is on the database clock. The rows are
// locked in one order, so that two processes cannot block each other.
const updateLastUsed = `
WITH used AS (SELECT * FROM unnest($1::text[], $2::float8[]) AS u(id, age)),
     held AS (SELECT c.id FROM smtp_credentials c JOIN used USING (id) ORDER BY c.id FOR NO KEY UPDATE OF c)
UPDATE smtp_credentials c SET last_used_at = greatest(c.last_used_at, now() - make_interval(secs => used.age))
  FROM used JOIN held USING (id) WHERE c.id = used.id`

func (s *Service) flushLastUsed(ctx context.Context) error {
	taken := s.used.take()
	if len(taken) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(taken))
	ages := make([]float64, len(ids))
	for i, credentialID := range ids {
		ages[i] = time.Since(taken[credentialID]).Seconds()
	}
	if _, err := s.db.SQL.ExecContext(ctx, updateLastUsed, pq.Array(ids), pq.Array(ages)); err != nil {
		s.used.putBack(taken)
		return fmt.Errorf("write last use of %d credentials: %w", len(ids), err)
	}
	return nil
}
