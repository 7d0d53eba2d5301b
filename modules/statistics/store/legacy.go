package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Earlier versions stored a row for each quarter of an hour, each full hour, day and fortnight in the tables
// statistics and statistics_latencies. These rows are migrated to day rows, one account and hour at a time.
// The tables and this file can be deleted once no process writes to them.

// LegacyHour is an hour of an account in the legacy tables.
type LegacyHour struct {
	AccountID string
	Start     time.Time
}

// chunked is the version of the migration since which programs write the current tables.
const chunked = "20261127060000"

const (
	// olderSQL finds a process that writes the legacy tables. The rows that it reads must not be deleted.
	olderSQL = `SELECT EXISTS (SELECT FROM nodes WHERE coalesce(schema, '') < '` + chunked + `' AND seen_at > now() - interval '1 minute')`

	legacyHourSQL = `
SELECT account_id, date_bin('1 hour', start, timestamptz '2000-01-01 00:00:00Z') FROM (
	(SELECT account_id, start FROM statistics ORDER BY start LIMIT 1) UNION ALL (SELECT account_id, start FROM statistics_latencies ORDER BY start LIMIT 1)) s ORDER BY start LIMIT 1`

	legacyFiguresSQL = `
SELECT placed, kind, start, key, domain_id, api_key_id, template_id, automation_id, accepted, recipients, delivered, delayed, bounced, failed, complained, opened, clicked, unsubscribed, suppressed
  FROM statistics WHERE account_id = $1 AND grain = 15 AND kind < 6 AND start >= $2 AND start < $3`

	legacyLatenciesSQL = `
SELECT placed, kind, start, key, domain_id, api_key_id, template_id, automation_id, bin, recipients
  FROM statistics_latencies WHERE account_id = $1 AND grain = 15 AND kind < 6 AND start >= $2 AND start < $3`
)

// NextLegacy returns the oldest hour to migrate, and false if no hour is left or a process still writes the legacy
// tables.
func NextLegacy(ctx context.Context, on db.Execer) (hour LegacyHour, found bool, err error) {
	older, err := db.One(ctx, on, db.Value[bool], olderSQL)
	if err != nil || older {
		return hour, false, err
	}
	hour, err = db.One(ctx, on, func(h *LegacyHour) []any { return []any{&h.AccountID, &h.Start} }, legacyHourSQL)
	if errors.Is(err, sql.ErrNoRows) {
		return hour, false, nil
	}
	return hour, err == nil, err
}

// TakeOver migrates an hour to the current tables.
func (h LegacyHour) TakeOver(ctx context.Context, tx db.Execer) error {
	r := rollup.New()
	end := h.Start.Add(time.Hour)
	var placed rollup.Placement
	var row rollup.RowKey
	var start time.Time
	key := []any{&placed, &row.Kind, &start, &row.Key, &row.DomainID, &row.APIKeyID, &row.TemplateID, &row.AutomationID}
	add := func(add func(s *chunk.Series, slot int)) {
		row.AccountID, row.Day = h.AccountID, rollup.DayOf(start)
		slot := int(start.Sub(row.Day.Start()) / rollup.Quarter)
		for _, to := range legacyRows(row) {
			add(&r.Series(to)[placed], slot)
		}
	}
	err := db.Each(ctx, tx, func(found db.Row) error {
		var f chunk.SlotCounts
		into := append([]any{}, key...)
		for n := range f {
			into = append(into, &f[n])
		}
		if err := found.Scan(into...); err != nil {
			return err
		}
		add(func(s *chunk.Series, slot int) { s.Add(slot, &f) })
		return nil
	}, legacyFiguresSQL, h.AccountID, h.Start, end)
	if err == nil {
		err = db.Each(ctx, tx, func(found db.Row) error {
			var l chunk.Latency
			if err := found.Scan(append(append([]any{}, key...), &l.Bin, &l.Count)...); err != nil {
				return err
			}
			add(func(s *chunk.Series, slot int) {
				l.Slot = slot
				s.AddLatency(l)
			})
			return nil
		}, legacyLatenciesSQL, h.AccountID, h.Start, end)
	}
	if err == nil {
		err = Apply(ctx, tx, Days, r)
	}
	for _, table := range []string{"statistics", "statistics_latencies"} {
		if err == nil {
			_, err = db.Exec(ctx, tx, `DELETE FROM `+table+` WHERE account_id = $1 AND start >= $2 AND start < $3`, h.AccountID, h.Start, end)
		}
	}
	if err != nil {
		return fmt.Errorf("migrate legacy statistics: %w", err)
	}
	return nil
}

// legacyRows converts the rows of the legacy tables. The numbers of kinds 0 to 5 are the same.
func legacyRows(row rollup.RowKey) []rollup.RowKey {
	out := []rollup.RowKey{row}
	switch row.Kind {
	case rollup.SenderTag:
		tag, whole := row, row
		tag.Kind, tag.By = rollup.Tag, rollup.By{}
		whole.Kind, whole.Key = rollup.SenderTags, ""
		out = append(out, tag, whole)
	case rollup.SenderDomain:
		whole := row
		whole.Kind, whole.Key = rollup.SenderDomains, ""
		out = append(out, whole)
	}
	return out
}
