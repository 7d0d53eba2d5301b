package store

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
)

// RebuiltSQL creates the session table of a rebuild.
const RebuiltSQL = `CREATE TEMPORARY TABLE ` + Rebuilt + ` (LIKE statistics_days INCLUDING ALL)`

// Cursor is the row after which the comparison of an account continues.
type Cursor struct{ row rollup.RowKey }

// Beginning is the cursor before the first row.
var Beginning = Cursor{rollup.RowKey{Kind: -1}}

const (
	comparedStep = 1000
	// A plain row comparison uses the index, whatever the planner estimates for the account.
	rebuiltSQL = `SELECT account_id, kind, start, key, domain_id, api_key_id, template_id, automation_id, event_figures, event_latencies, email_figures, email_latencies FROM ` + Rebuilt + `
	WHERE (` + keyColumns + `) > ($1, $2, $3, $4, $5, $6, $7, $8) ORDER BY ` + keyColumns + ` LIMIT $9`
)

// Complete compares the next rows of an account's rebuild with the stored ones, and adds missing counts. If
// the stored figure is larger, facts were deleted since, and the figure stays. It returns false if there are
// no more rows.
func Complete(ctx context.Context, tx db.Execer, accountID string, from *Cursor) (more bool, err error) {
	var rebuilt []*dayRow
	same := func(slot int) int { return slot }
	at := from.row
	err = db.Each(ctx, tx, func(row db.Row) error {
		r := &dayRow{}
		var start time.Time
		var figures, latencies [rollup.Placements][]byte
		if err := row.Scan(&r.AccountID, &r.Kind, &start, &r.Key, &r.DomainID, &r.APIKeyID, &r.TemplateID,
			&r.AutomationID, &figures[0], &latencies[0], &figures[1], &latencies[1]); err != nil {
			return err
		}
		if r.AccountID != accountID {
			return nil
		}
		r.Day = rollup.DayOf(start)
		rebuilt = append(rebuilt, r)
		for placed := range r.series {
			if err := r.series[placed].AddEncoded(figures[placed], latencies[placed], same); err != nil {
				return err
			}
		}
		return nil
	}, rebuiltSQL, accountID, int(at.Kind), at.Day.Start(), at.DomainID, at.APIKeyID, at.TemplateID, at.AutomationID,
		at.Key, comparedStep)
	if err != nil || len(rebuilt) == 0 {
		return false, wrapError(err)
	}
	*from = Cursor{rebuilt[len(rebuilt)-1].RowKey}
	missing, err := missingOf(ctx, tx, rebuilt)
	if err != nil {
		return false, wrapError(err)
	}
	return len(rebuilt) == comparedStep, Apply(ctx, tx, Days, missing)
}

func wrapError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("compare rebuilt statistics: %w", err)
}

// missingOf returns by how much rebuilt rows exceed the stored ones, in days and in months.
func missingOf(ctx context.Context, tx db.Execer, rebuilt []*dayRow) (*rollup.Rollup, error) {
	keys := make([]rollup.RowKey, len(rebuilt))
	for i, r := range rebuilt {
		keys[i] = r.RowKey
	}
	stored, err := load(ctx, tx, Days, keys)
	if err != nil {
		return nil, err
	}
	if err := addMonths(ctx, tx, stored); err != nil {
		return nil, err
	}
	missing := rollup.New()
	for i, r := range rebuilt {
		for placed := range r.series {
			if lacking := stored[i].series[placed].Shortfall(&r.series[placed]); !lacking.IsEmpty() {
				missing.Series(r.RowKey)[placed].Merge(lacking)
			}
		}
	}
	return missing, nil
}

// addMonths adds the counts of month rows to day rows.
func addMonths(ctx context.Context, tx db.Execer, rows []*dayRow) error {
	days := map[rollup.RowKey][]*dayRow{} // by month
	var keys []rollup.RowKey
	for _, r := range rows {
		month := r.RowKey
		month.Day = rollup.DayOf(MonthOf(r.Day.Start()))
		if days[month] == nil {
			keys = append(keys, month)
		}
		days[month] = append(days[month], r)
	}
	return db.Each(ctx, tx, func(row db.Row) error {
		var at int
		var figures, latencies [rollup.Placements][]byte
		if err := row.Scan(&at, &figures[0], &latencies[0], &figures[1], &latencies[1]); err != nil {
			return err
		}
		for placed := range rollup.Placements {
			var month chunk.Series
			if err := month.AddEncoded(figures[placed], latencies[placed],
				func(slot int) int { return slot }); err != nil {
				return err
			}
			for _, r := range days[keys[at]] {
				r.series[placed].Merge(month.Part(int(r.Day-keys[at].Day)*int(WholeDay), int(WholeDay)))
			}
		}
		return nil
	}, lockMonthsSQL.Text, lockMonthsSQL.Args(keyRows.Rows(keys))...)
}
