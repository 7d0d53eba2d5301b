package statistics

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/db"
)

// countLock ensures that only one process counts at a time.
const countLock = 0x706f7374_636f756e // "postcoun"

const (
	createMarkSQL = `INSERT INTO statistics_marks (id, fact_id) SELECT 1, coalesce(min(id), '') FROM facts ON CONFLICT (id) DO NOTHING`

	readMarkSQL = `SELECT fact_id FROM statistics_marks WHERE id = 1`
	// Callers of Keep hold the mark, and counting waits for them.
	lockMarkSQL = readMarkSQL + ` FOR UPDATE`
	moveMarkSQL = `UPDATE statistics_marks SET fact_id = $1, counted_at = now(), error = '' WHERE id = 1`
	skipFactSQL = `UPDATE statistics_marks SET fact_id = $2, skipped = skipped + 1, error = $3 WHERE id = 1 AND fact_id = $1`
	failedSQL   = `UPDATE statistics_marks SET error = $1 WHERE id = 1`

	// behindSQL returns the fact at an offset after another one, or an empty string if there are fewer facts.
	behindSQL = `SELECT coalesce((SELECT id FROM facts WHERE id >= $1 AND id < $2 ORDER BY id OFFSET $3 LIMIT 1), '')`
)

// pace determines how many facts are counted in one transaction. It adapts to the processing time, so that no
// batch fails twice, however slow the database is.
type pace struct {
	size     int
	failures int // consecutive failures of a single fact
}

const (
	batchFirst = 2000
	batchMost  = 10_000
	batchShort = 250 * time.Millisecond // the next batch is twice as large
	batchLong  = time.Second            // the next batch is half as large
	// poisonAfter is the number of failures after which a fact is skipped. Timeouts do not count.
	poisonAfter = 3
)

func newPace() pace { return pace{size: batchFirst} }

// took adapts the pace to the duration of a successful batch.
func (p *pace) took(long time.Duration) {
	p.failures = 0
	switch {
	case long > batchLong:
		p.size = max(1, p.size/2)
	case long < batchShort:
		p.size = min(batchMost, p.size*2)
	}
}

// recordFailure slows down after a failed batch. It reports whether a single fact caused the failure and must
// be skipped.
func (p *pace) recordFailure(err error) (poison bool) {
	if p.size > 1 {
		p.size = max(1, p.size/4)
		return false
	}
	if fault.IsDatabaseUnavailable(err) {
		return false
	}
	p.failures++
	return p.failures >= poisonAfter
}

// Count counts the facts up to the horizon, in batches that are committed one by one. If several processes call
// it, only one of them counts.
func (s *Service) Count(ctx context.Context) error {
	s.counting.Lock()
	defer s.counting.Unlock()
	horizon, err := s.facts.Horizon(ctx)
	if err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	if _, err := s.db.SQL.ExecContext(ctx, createMarkSQL); err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	for more := true; more; {
		var b stretch
		err := s.db.InHotTx(ctx, func(tx *sql.Tx) error {
			b, err = countBatch(ctx, tx, id.Since(id.Fact, horizon), s.batch.size)
			return err
		})
		if err == nil {
			if more = b.more; b.took > 0 {
				s.batch.took(b.took)
				s.outcomes.add(b.counted)
			}
			continue
		}
		if err := s.recover(ctx, b, err); err != nil {
			return fmt.Errorf("statistics: %w", err)
		}
	}
	return nil
}

// recover handles a failed batch. It returns nil if the caller should continue, with a smaller batch or after
// a skipped fact.
func (s *Service) recover(ctx context.Context, b stretch, err error) error {
	if ctx.Err() != nil || b.to == "" || fault.IsDatabaseUnavailable(err) && !timedOut(err) {
		return err
	}
	single := s.batch.size == 1
	if poison := s.batch.recordFailure(err); !poison {
		if single {
			_, failed := db.Exec(ctx, s.db.SQL, failedSQL, err.Error())
			return errors.Join(err, failed)
		}
		s.log.InfoContext(ctx, "statistics batch failed, retrying with fewer events", telemetry.KeyCount, s.batch.size,
			telemetry.KeyError, err)
		return nil
	}
	s.batch.failures = 0
	s.log.ErrorContext(ctx, "statistics skipped an event that cannot be counted", "after", b.from, "before", b.to,
		telemetry.KeyError, err)
	_, failed := db.Exec(ctx, s.db.SQL, skipFactSQL, b.from, b.to, err.Error())
	return failed
}

// timedOut reports whether a statement was canceled because it took too long.
func timedOut(err error) bool {
	var server *pq.Error
	return errors.As(err, &server) && server.Code == "57014" // query_canceled
}

// stretch contains the facts with ids in [from, to).
type stretch struct {
	from, to string // empty until it is known
	more     bool   // more facts follow
	took     time.Duration
	counted  *rollup.Rollup
}

// countBatch counts the next facts before end, and moves the mark past them. On error it returns the stretch
// that could not be counted.
func countBatch(ctx context.Context, tx db.Execer, end string, size int) (b stretch, err error) {
	ours, err := db.One(ctx, tx, db.Value[bool], `SELECT pg_try_advisory_xact_lock($1)`, int64(countLock))
	if err != nil || !ours {
		return b, err
	}
	if b.from, err = db.One(ctx, tx, db.Value[string], lockMarkSQL); err != nil || end <= b.from {
		return b, err
	}
	began := time.Now()
	to, err := db.One(ctx, tx, db.Value[string], behindSQL, b.from, end, size)
	if err != nil {
		return b, err
	}
	b.more, b.to = to != "", cmp.Or(to, end)
	if b.counted, err = countFacts(ctx, tx, rollup.Between, "f.id >= $1 AND f.id < $2", 1, b.from, b.to); err != nil {
		return b, err
	}
	_, err = tx.ExecContext(ctx, moveMarkSQL, b.to)
	b.took = time.Since(began)
	return b, err
}

// countFacts adds the selected facts to the tables, or subtracts them: sign is 1 or -1. Received mail is counted
// by a separate statement whose condition selects the same facts.
func countFacts(ctx context.Context, tx db.Execer, of rollup.Selection, condition string, sign int64,
	args ...any) (*rollup.Rollup, error) {
	r := rollup.New()
	if err := r.Read(ctx, tx, of, sign, args...); err != nil {
		return nil, err
	}
	if err := r.ReadRuns(ctx, tx, of, sign, args...); err != nil {
		return nil, err
	}
	if err := store.Apply(ctx, tx, store.Days, r); err != nil {
		return nil, err
	}
	if err := store.AddReasons(ctx, tx, store.Reasons, r.Reasons); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, addReceivedSQL(receivedTable, condition, sign), args...); err != nil {
		return nil, fmt.Errorf("count received mail: %w", err)
	}
	return r, nil
}

// hasBacklog reports whether at least that many facts are uncounted.
func (s *Service) hasBacklog(ctx context.Context, many int) (bool, error) {
	mark, err := db.All(ctx, s.db.SQL, db.Value[string], readMarkSQL)
	if err != nil || len(mark) == 0 {
		return err == nil, err
	}
	far, err := db.One(ctx, s.db.Hot, db.Value[string], behindSQL, mark[0], string(id.Fact)+"_~", many)
	return far != "", err
}

// takeOver migrates an hour from the tables of the previous version. It reports whether there may be more.
func (s *Service) takeOver(ctx context.Context) (more bool, err error) {
	hour, found, err := store.NextLegacy(ctx, s.db.SQL)
	if err != nil || !found {
		return false, err
	}
	return true, s.db.InHotTx(ctx, func(tx *sql.Tx) error {
		if _, err := holdMark(ctx, tx, hour.AccountID); err != nil {
			return err
		}
		return hour.TakeOver(ctx, tx)
	})
}
