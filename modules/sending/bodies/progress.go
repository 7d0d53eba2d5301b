package bodies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// neededSQL checks the newest emails that the walk has passed, because retention deletes their bodies last.
const neededSQL = `
SELECT EXISTS (SELECT FROM (
	SELECT body_key FROM emails WHERE id <= (SELECT position FROM body_walks WHERE name = $1) ORDER BY id DESC LIMIT 2000
) e WHERE body_key IS NOT NULL)`

// NeedsObjectStore reports whether an object store contains bodies of sent emails.
func NeedsObjectStore(ctx context.Context, d *db.DB) (bool, error) {
	needed, err := db.One(ctx, d.SQL, db.Value[bool], neededSQL, walkName)
	if err != nil {
		return false, fmt.Errorf("look up bodies in the object store: %w", err)
	}
	return needed, nil
}

// behindSQL finds the oldest email that should have moved: the next one of the walk, and those whose moves are
// due or were postponed after a failure. Emails whose moves are postponed for longer are not finished.
var behindSQL = db.Compile(`
SELECT now(), coalesce((SELECT e.id FROM emails e WHERE e.id > w.position AND e.id < @before ORDER BY e.id LIMIT 1), ''),
	coalesce((SELECT min(m.email_id) FROM body_moves m WHERE NOT m.remove AND (m.due_at <= now() OR m.due_at < now() + interval '10 minutes' AND m.attempts > 0)), '')
FROM body_walks w WHERE w.name = @name`)

// Backlog returns how long ago the oldest body that is still in the database became old enough to move, or 0 if
// there is none. Unfinished emails are excluded.
func (s *Service) Backlog(ctx context.Context) (time.Duration, error) {
	type row struct {
		now                  time.Time
		afterMark, withMoves string
	}
	r, err := db.One(ctx, s.db.SQL, func(r *row) []any { return []any{&r.now, &r.afterMark, &r.withMoves} },
		behindSQL.Text,
		behindSQL.Args(db.Arg("name", walkName),
			db.Arg("before", id.Since(id.Email, time.Now().Add(-s.config.After))))...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("find the oldest body to move: %w", err)
	}
	oldest := r.afterMark
	if r.withMoves != "" && (oldest == "" || r.withMoves < oldest) {
		oldest = r.withMoves
	}
	if oldest == "" {
		return 0, nil
	}
	return max(r.now.Sub(id.Time(oldest))-s.config.After, 0), nil
}

// registerGauge registers the gauge even if bodies do not move, so that one alert rule fits all installations.
func (s *Service) registerGauge(reg prometheus.Registerer) error {
	return telemetry.Register(reg, telemetry.NewQueryGauge("sent_bodies_behind_seconds",
		"How long the oldest finished email whose body is still in the database has been old enough to move to the object store. 0 if none is waiting or bodies do not move. All processes report the same database value: use the maximum in dashboards.",
		func(ctx context.Context) (float64, error) {
			if !s.movesBodies() {
				return 0, nil
			}
			behind, err := s.Backlog(ctx)
			return behind.Seconds(), err
		}))
}
