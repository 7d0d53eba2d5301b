package bodies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// neededSQL looks at the newest of the emails that the walk has passed: they are the last whose bodies
// are deleted for their age.
const neededSQL = `
SELECT EXISTS (SELECT FROM (
	SELECT body_key FROM emails WHERE id <= (SELECT position FROM body_walks WHERE name = $1) ORDER BY id DESC LIMIT 2000
) e WHERE body_key IS NOT NULL)`

// Needed tells whether bodies of sent emails lie in an object store.
func Needed(ctx context.Context, d *db.DB) (bool, error) {
	needed, err := db.One(ctx, d.SQL, db.Value[bool], neededSQL, walkName)
	if err != nil {
		return false, fmt.Errorf("look for bodies in the object store: %w", err)
	}
	return needed, nil
}

// behindSQL finds the oldest email that should have moved: the next one of the walk, and those whose
// moves are due or were tried and put off. What is put off for longer is not finished.
var behindSQL = db.Compile(`
SELECT now(), coalesce((SELECT e.id FROM emails e WHERE e.id > w.position AND e.id < @before ORDER BY e.id LIMIT 1), ''),
	coalesce((SELECT min(m.email_id) FROM body_moves m WHERE NOT m.remove AND (m.due_at <= now() OR m.due_at < now() + interval '10 minutes' AND m.attempts > 0)), '')
FROM body_walks w WHERE w.name = @name`)

// Behind is how long the oldest email has been old enough that still has its body in the database; 0:
// there is none. What waits to be delivered is left out.
func (s *Service) Behind(ctx context.Context) (time.Duration, error) {
	type row struct {
		now                  time.Time
		afterMark, withMoves string
	}
	r, err := db.One(ctx, s.db.SQL, func(r *row) []any { return []any{&r.now, &r.afterMark, &r.withMoves} }, behindSQL.Text,
		behindSQL.Args(db.Arg("name", walkName), db.Arg("before", id.Since(id.Email, time.Now().Add(-s.config.After))))...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("look how far bodies have moved: %w", err)
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

// gaugeTime is what a scrape waits for.
const gaugeTime = 2 * time.Second

// measure registers the gauge. It is there where no bodies move as well, so that one rule serves all installations.
func (s *Service) measure(reg prometheus.Registerer) error {
	if reg == nil {
		return nil
	}
	return reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: telemetry.Namespace, Name: "sent_bodies_behind_seconds",
		Help: "How long the oldest finished email has been old enough for the object store whose body is still in the database. 0 where none waits or no bodies move. It is the database's: dashboards take the maximum over processes."},
		func() float64 {
			if !s.moving() {
				return 0
			}
			ctx, cancel := context.WithTimeout(context.Background(), gaugeTime)
			defer cancel()
			behind, err := s.Behind(ctx)
			if err != nil {
				return math.NaN()
			}
			return behind.Seconds()
		}))
}
