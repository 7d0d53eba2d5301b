package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/runtime/storage/db"
)

// progress is the state of a running measurement: the next page and table, and the sums so far.
type progress struct {
	Table   int              `json:"table"`
	After   string           `json:"after"` // the last measured key
	Kinds   map[string]int64 `json:"kinds"`
	Charged int64            `json:"charged"` // charged bytes when the measurement started
	Lent    int64            `json:"lent"`    // lent to processes at that time
}

const (
	pageRows    = 5_000
	stepTime    = 2 * time.Second // limit for one claim, after which other accounts get their turn
	claimLasts  = time.Minute
	stepTimeout = 20 * time.Second // limit for one page
)

const (
	claimMeasureSQL = `
UPDATE storage_counters SET due_at = now() + make_interval(secs => $1)
 WHERE id = (SELECT id FROM storage_counters WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, account_id, coalesce(progress, 'null')::text`

	beginMeasureSQL = `
SELECT c.charged, (SELECT coalesce(sum(a.bytes), 0)::bigint FROM storage_allowances a WHERE a.account_id = c.account_id) FROM storage_counters c WHERE c.id = $1`

	keepProgressSQL = `UPDATE storage_counters SET progress = $2::jsonb, due_at = now() WHERE id = $1`

	// The result excludes bytes charged since the measurement started, and those borrowed before and stored
	// since.
	finishSQL = `
UPDATE storage_counters SET stored = $2::bigint + $3::bigint + (charged - $4::bigint), kinds = $5::jsonb, progress = NULL, measured_at = now(), due_at = now() + interval '1 day'
 WHERE id = $1`
)

type measurement struct {
	id        int64
	accountID string
	progress  string
}

// measureDue measures the accounts with a due measurement, a few pages of each at a time.
func (s *Service) measureDue(ctx context.Context) error {
	for end := time.Now().Add(2 * stepTime); time.Now().Before(end); {
		claimed, err := db.All(ctx, s.db.SQL,
			func(m *measurement) []any { return []any{&m.id, &m.accountID, &m.progress} },
			claimMeasureSQL, claimLasts.Seconds())
		if err != nil {
			return fmt.Errorf("measure stored bytes: %w", err)
		}
		if len(claimed) == 0 {
			return nil
		}
		if err := s.measureSome(ctx, claimed[0]); err != nil {
			return fmt.Errorf("measure stored bytes of %s: %w", claimed[0].accountID, err)
		}
	}
	return nil
}

// measureSome continues a measurement until it is complete or its time is up.
func (s *Service) measureSome(ctx context.Context, m measurement) error {
	at, err := s.progressOf(ctx, m)
	if err != nil {
		return err
	}
	for end := time.Now().Add(stepTime); at.Table < len(tables) && time.Now().Before(end); {
		if err := s.measurePage(ctx, m.accountID, &at); err != nil {
			return err
		}
	}
	if at.Table < len(tables) {
		text, err := json.Marshal(at)
		if err == nil {
			_, err = s.db.SQL.ExecContext(ctx, keepProgressSQL, m.id, string(text))
		}
		return err
	}
	var total int64
	for _, bytes := range at.Kinds {
		total += bytes
	}
	kinds, err := json.Marshal(at.Kinds)
	if err == nil {
		_, err = s.db.SQL.ExecContext(ctx, finishSQL, m.id, total, at.Lent, at.Charged, string(kinds))
	}
	return err
}

// progressOf returns the progress from which a measurement continues. A new measurement records the current
// charges and loans.
func (s *Service) progressOf(ctx context.Context, m measurement) (at progress, err error) {
	if m.progress != "null" {
		err = json.Unmarshal([]byte(m.progress), &at)
		return at, err
	}
	if err := s.report(ctx); err != nil {
		return at, err
	}
	at, err = db.One(ctx, s.db.SQL, func(p *progress) []any { return []any{&p.Charged, &p.Lent} }, beginMeasureSQL,
		m.id)
	at.Kinds = map[string]int64{}
	return at, err
}

func (s *Service) measurePage(ctx context.Context, accountID string, at *progress) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	of := tables[at.Table]
	var rows, bytes int64
	var last sql.NullString
	err := db.Each(ctx, s.db.SQL, func(row db.Row) error { return row.Scan(&rows, &bytes, &last) }, of.pageSQL(),
		accountID, at.After, pageRows)
	if err != nil {
		return fmt.Errorf("measure %s: %w", of.name, err)
	}
	if rows > 0 && !last.Valid {
		return errors.New("the page has no last key")
	}
	at.Kinds[of.kind] += bytes
	at.After = last.String
	if rows < pageRows {
		at.Table, at.After = at.Table+1, ""
	}
	return nil
}
