package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

const (
	// Settle is the minimum age of a day to be packed: most results of mail arrive within days.
	Settle = 7 * 24 * time.Hour
	// Open is the maximum age of an unpacked day. An account's days are packed when one of them exceeds it,
	// so that a month is written four or five times instead of thirty.
	Open = 2 * Settle
	// packLock ensures that only one process packs at a time.
	packLock = 0x706f7374_7061636b // "postpack"
	// packStep is the approximate number of day rows packed in one transaction.
	packStep = 1000
	// packShort is the length of a chunk by quarters up to which readers prefer it to coarser ones.
	packShort = 128
	// packSpare is how many more rows of a kind a month keeps than a day.
	packSpare = 3
)

// Resolution is the length of the slots of a chunk of a month.
type Resolution int

// The resolutions: the length of a slot in quarters of an hour.
const (
	Quarters Resolution = 1
	Hours    Resolution = 4
	WholeDay Resolution = 96
)

var resolutions = []Resolution{Quarters, Hours, WholeDay}

// monthRow is a row of statistics_months to be written. Its day is the first of the month.
type monthRow struct {
	rollup.RowKey
	series             [rollup.Placements]chunk.Series
	figures, latencies map[Resolution]*[rollup.Placements][]byte
}

// encode encodes the chunks of all resolutions.
func (r *monthRow) encode() {
	r.figures, r.latencies = map[Resolution]*[rollup.Placements][]byte{}, map[Resolution]*[rollup.Placements][]byte{}
	for _, resolution := range resolutions {
		figures, latencies := &[rollup.Placements][]byte{}, &[rollup.Placements][]byte{}
		for placed := range r.series {
			f, l := r.series[placed].Coarsen(int(resolution)).Encode()
			if resolution != Quarters {
				if len(r.figures[Quarters][placed]) <= packShort {
					f = nil
				}
				if len(r.latencies[Quarters][placed]) <= packShort {
					l = nil
				}
			}
			figures[placed], latencies[placed] = f, l
		}
		r.figures[resolution], r.latencies[resolution] = figures, latencies
	}
}

func chunkColumns() (columns []batch.Column[*monthRow]) {
	for _, resolution := range resolutions {
		for placed := range rollup.Placements {
			figures, latencies := ChunkColumns(resolution, placed)
			columns = append(columns, batch.Bytes(figures,
				func(r *monthRow) []byte { return r.figures[resolution][placed] }),
				batch.Bytes(latencies, func(r *monthRow) []byte { return r.latencies[resolution][placed] }))
		}
	}
	return columns
}

// ChunkColumns returns the columns of chunks in a table of months. Those of quarters also exist in the day
// rows.
func ChunkColumns(r Resolution, placed rollup.Placement) (figures, latencies string) {
	of := "event"
	if placed == rollup.ByEmail {
		of = "email"
	}
	switch r {
	case Hours:
		return of + "_hours", of + "_hour_latencies"
	case WholeDay:
		return of + "_days", of + "_day_latencies"
	}
	return of + "_figures", of + "_latencies"
}

var monthRows = batch.New("v", slices.Concat(keyBatch(func(r *monthRow) *rollup.RowKey { return &r.RowKey }),
	[]batch.Column[*monthRow]{
		batch.Int("event_size", func(r *monthRow) int64 { return sizeOf(&r.series[rollup.ByEvent]) }),
		batch.Int("email_size", func(r *monthRow) int64 { return sizeOf(&r.series[rollup.ByEmail]) }),
	}, chunkColumns())...)

var (
	writeMonthsSQL = db.Compile(monthRows.Insert("statistics_months") + ` ON CONFLICT (` + keyColumns + `) DO UPDATE SET ` + excludedColumns())
	lockMonthsSQL  = db.Compile(`SELECT n - 1, event_figures, event_latencies, email_figures, email_latencies FROM ` + keyRows.NumberedSource("n") + `, LATERAL (
	SELECT * FROM statistics_months d WHERE d.account_id = k.account_id AND d.kind = k.kind::smallint AND d.start = k.start::timestamptz AND d.key = k.key
	   AND d.domain_id = k.domain_id AND d.api_key_id = k.api_key_id AND d.template_id = k.template_id AND d.automation_id = k.automation_id FOR UPDATE) d`)
)

func excludedColumns() (list string) {
	for i, column := range append([]string{"event_size", "email_size"}, chunkNames()...) {
		if i > 0 {
			list += ", "
		}
		list += column + " = excluded." + column
	}
	return list
}

func chunkNames() (names []string) {
	for _, resolution := range resolutions {
		for placed := range rollup.Placements {
			figures, latencies := ChunkColumns(resolution, placed)
			names = append(names, figures, latencies)
		}
	}
	return names
}

// MonthOf returns the first moment of a month (UTC).
func MonthOf(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

const (
	nextToPackSQL = `SELECT account_id, start FROM statistics_days WHERE start < $1 AND kind <= $2 ORDER BY start, account_id LIMIT 1`
	toPackSQL     = `SELECT key, domain_id, api_key_id, template_id, automation_id, sum(event_size + email_size)::bigint AS size, string_agg(extract(day FROM start AT TIME ZONE 'UTC')::text, ' ' ORDER BY start)
	FROM statistics_days WHERE account_id = $1 AND kind = $2 AND start >= $3 AND start < $4 GROUP BY 1, 2, 3, 4, 5 ORDER BY size DESC, 1, 2, 3, 4, 5`
	packedSQL = `SELECT key, domain_id, api_key_id, template_id, automation_id, event_size + email_size FROM statistics_months WHERE account_id = $1 AND kind = $2 AND start = $3`
)

// Pack packs the day rows of accounts that have some older than Open. If several processes call it, only one of
// them packs.
func Pack(ctx context.Context, d *db.DB, now time.Time) error {
	type next struct {
		account string
		start   time.Time
	}
	before, kinds := rollup.DayOf(now.Add(-Settle)).Start(), rollup.Kinds() // a newer version may have more kinds
	for {
		n, err := db.One(ctx, d.SQL, func(n *next) []any { return []any{&n.account, &n.start} }, nextToPackSQL,
			rollup.DayOf(now.Add(-Open)).Start(), int(kinds[len(kinds)-1]))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("pack statistics: %w", err)
		}
		for _, kind := range kinds {
			ours, err := packKind(ctx, d, n.account, kind, MonthOf(n.start), before)
			if err != nil || !ours {
				return err
			}
		}
	}
}

// packed is the result of packing the day rows of one key in a month.
type packed struct {
	candidate
	days string // days of the month with a row, as numbers
	keep bool   // move into a row of the month; otherwise drop
}

// rows returns the day rows, in the order of their days.
func (p *packed) rows() (rows []rollup.RowKey) {
	for text := range strings.FieldsSeq(p.days) {
		if day, err := strconv.Atoi(text); err == nil {
			row := p.RowKey
			row.Day += rollup.Day(day - 1)
			rows = append(rows, row)
		}
	}
	return rows
}

// packKind packs the rows of a kind of an account in a month, up to a day (exclusive). It returns false if
// another process packs.
func packKind(ctx context.Context, d *db.DB, account string, kind rollup.RowKind, month,
	before time.Time) (ours bool, err error) {
	if end := month.AddDate(0, 1, 0); end.Before(before) {
		before = end
	}
	list, err := toPack(ctx, d.SQL, account, kind, month, before)
	if err != nil {
		return false, fmt.Errorf("pack statistics: %w", err)
	}
	var some []packed
	rows := 0
	for i, p := range list {
		some = append(some, p)
		if rows += len(strings.Fields(p.days)); rows < packStep && i < len(list)-1 {
			continue
		}
		err := d.InHotTx(ctx, func(tx *sql.Tx) error {
			ours, err = packRows(ctx, tx, some)
			return err
		})
		if err != nil || !ours {
			return ours, err
		}
		some, rows = nil, 0
	}
	return true, nil
}

// toPack lists the keys that have day rows, in locking order. A month keeps the largest ones.
func toPack(ctx context.Context, on db.Execer, account string, kind rollup.RowKind, month,
	before time.Time) ([]packed, error) {
	list, err := db.All(ctx, on, func(p *packed) []any {
		return []any{&p.Key, &p.DomainID, &p.APIKeyID, &p.TemplateID, &p.AutomationID, &p.size, &p.days}
	}, toPackSQL, account, int(kind), month, before)
	if err != nil {
		return nil, err
	}
	kept := map[rollup.RowKey]bool{}
	limit, limited := limits[kind]
	if limited && len(list) > 0 {
		before, err := db.All(ctx, on, func(c *candidate) []any {
			return []any{&c.Key, &c.DomainID, &c.APIKeyID, &c.TemplateID, &c.AutomationID, &c.size}
		}, packedSQL, account, int(kind), month)
		if err != nil {
			return nil, err
		}
		for _, c := range before {
			kept[rowOf(c, account, kind, month)] = true
		}
	}
	for i := range list { // the largest ones first
		p := &list[i]
		p.RowKey = rowOf(p.candidate, account, kind, month)
		if p.keep = !limited || kept[p.RowKey] || len(kept) < packSpare*limit.Keep; p.keep {
			kept[p.RowKey] = true
		}
	}
	slices.SortFunc(list, func(a, b packed) int { return compareRows(a.RowKey, b.RowKey) })
	return list, nil
}

func rowOf(c candidate, account string, kind rollup.RowKind, month time.Time) rollup.RowKey {
	row := c.RowKey
	row.AccountID, row.Kind, row.Day = account, kind, rollup.DayOf(month)
	return row
}

// monthsOf returns the day rows to move, the month rows to keep, and the month of each day row.
func monthsOf(list []packed) (keys, kept []rollup.RowKey, months []*monthRow, of map[rollup.RowKey]*monthRow) {
	of = map[rollup.RowKey]*monthRow{}
	for i := range list {
		rows := list[i].rows()
		keys = append(keys, rows...)
		if list[i].keep {
			month := &monthRow{RowKey: list[i].RowKey}
			months, kept = append(months, month), append(kept, list[i].RowKey)
			for _, row := range rows {
				of[row] = month
			}
		}
	}
	slices.SortFunc(keys, compareRows)
	return keys, kept, months, of
}

// packRows moves day rows into the rows of their month, or drops them. It returns false if another process packs.
func packRows(ctx context.Context, tx db.Execer, list []packed) (bool, error) {
	ours, err := db.One(ctx, tx, db.Value[bool], `SELECT pg_try_advisory_xact_lock($1)`, int64(packLock))
	if err != nil || !ours {
		return false, err
	}
	keys, kept, months, of := monthsOf(list)
	days, err := load(ctx, tx, Days, keys)
	if err != nil {
		return false, err
	}
	for _, day := range days {
		if month := of[day.RowKey]; month != nil {
			for placed := range day.series {
				month.series[placed].Merge(day.series[placed].Shift(int(day.Day-month.Day) * int(WholeDay)))
			}
		}
	}
	err = db.Each(ctx, tx, func(row db.Row) error {
		var at int
		var figures, latencies [rollup.Placements][]byte
		if err := row.Scan(&at, &figures[0], &latencies[0], &figures[1], &latencies[1]); err != nil {
			return err
		}
		for placed := range rollup.Placements {
			if err := months[at].series[placed].AddEncoded(figures[placed], latencies[placed],
				func(slot int) int { return slot }); err != nil {
				return err
			}
		}
		return nil
	}, lockMonthsSQL.Text, lockMonthsSQL.Args(keyRows.Rows(kept))...)
	if err == nil && len(months) > 0 {
		for _, month := range months {
			month.encode()
		}
		_, err = db.Exec(ctx, tx, writeMonthsSQL.Text, writeMonthsSQL.Args(monthRows.Rows(months))...)
	}
	if err == nil {
		_, err = deleteDays(ctx, tx, Days, keys)
	}
	if err != nil {
		return false, fmt.Errorf("pack statistics of %s: %w", list[0].AccountID, err)
	}
	return true, nil
}
