package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/db/batch"
)

// Days is the table of day rows. A rebuild uses its own table.
const (
	Days    = "statistics_days"
	Rebuilt = "rebuilt_statistics_days"
)

const keyColumns = `account_id, kind, start, domain_id, api_key_id, template_id, automation_id, key`

// counted lists the kinds whose rows per day are counted, in the columns of the account's own row.
var counted = []rollup.RowKind{rollup.Domain, rollup.Tag, rollup.SenderDomain, rollup.SenderTag}

// dayRow is a row of statistics_days.
type dayRow struct {
	rollup.RowKey
	series [rollup.Placements]chunk.Series
	counts [4]int // in the account's own row: the number of rows of the kinds counted
	there  bool   // already stored
}

// size returns the figure by which the row is compared.
func (r *dayRow) size(placed rollup.Placement) (size int64) { return sizeOf(&r.series[placed]) }

func sizeOf(s *chunk.Series) (size int64) {
	for _, p := range s.Points() {
		size += rollup.Size(&p.Figures)
	}
	return size
}

func keyBatch[R any](row func(R) *rollup.RowKey) []batch.Column[R] {
	return []batch.Column[R]{
		batch.Text("account_id", func(r R) string { return row(r).AccountID }),
		batch.Int("kind", func(r R) int { return int(row(r).Kind) }).As("smallint"),
		batch.Time("start", func(r R) time.Time { return row(r).Day.Start() }),
		batch.Text("key", func(r R) string { return row(r).Key }),
		batch.Text("domain_id", func(r R) string { return row(r).DomainID }),
		batch.Text("api_key_id", func(r R) string { return row(r).APIKeyID }),
		batch.Text("template_id", func(r R) string { return row(r).TemplateID }),
		batch.Text("automation_id", func(r R) string { return row(r).AutomationID }),
	}
}

var keyRows = batch.New("k", keyBatch(func(r rollup.RowKey) *rollup.RowKey { return &r })...)

var dayRows = batch.New("v", append(keyBatch(func(r *encodedDay) *rollup.RowKey { return &r.RowKey }),
	batch.Int("event_size", func(r *encodedDay) int64 { return r.size(rollup.ByEvent) }),
	batch.Int("email_size", func(r *encodedDay) int64 { return r.size(rollup.ByEmail) }),
	batch.Bytes("event_figures", func(r *encodedDay) []byte { return r.figures[rollup.ByEvent] }),
	batch.Bytes("event_latencies", func(r *encodedDay) []byte { return r.latencies[rollup.ByEvent] }),
	batch.Bytes("email_figures", func(r *encodedDay) []byte { return r.figures[rollup.ByEmail] }),
	batch.Bytes("email_latencies", func(r *encodedDay) []byte { return r.latencies[rollup.ByEmail] }),
	batch.Int("domains", func(r *encodedDay) int { return r.counts[0] }).As("int"),
	batch.Int("tags", func(r *encodedDay) int { return r.counts[1] }).As("int"),
	batch.Int("sender_domains", func(r *encodedDay) int { return r.counts[2] }).As("int"),
	batch.Int("sender_tags", func(r *encodedDay) int { return r.counts[3] }).As("int"))...)

// encodedDay is a row to be written.
type encodedDay struct {
	*dayRow
	figures, latencies [rollup.Placements][]byte
}

func encode(rows []*dayRow) []*encodedDay {
	out := make([]*encodedDay, len(rows))
	for i, r := range rows {
		out[i] = &encodedDay{dayRow: r}
		for placed := range r.series {
			out[i].figures[placed], out[i].latencies[placed] = r.series[placed].Encode()
		}
	}
	return out
}

// days contains the statements for a table of day rows.
type days struct{ lock, write *db.Statement }

const dayColumns = `event_figures, event_latencies, email_figures, email_latencies, domains, tags, sender_domains, sender_tags`

func daysOf(table string) days {
	return days{
		// Rows are looked up and locked one by one in the order of their keys.
		lock: db.Compile(`SELECT n - 1, ` + dayColumns + ` FROM ` + keyRows.NumberedSource("n") + `, LATERAL (
	SELECT * FROM ` + table + ` d WHERE d.account_id = k.account_id AND d.kind = k.kind::smallint AND d.start = k.start::timestamptz AND d.key = k.key
	   AND d.domain_id = k.domain_id AND d.api_key_id = k.api_key_id AND d.template_id = k.template_id AND d.automation_id = k.automation_id FOR UPDATE) d`),
		write: db.Compile(dayRows.Insert(table) + ` ON CONFLICT (` + keyColumns + `) DO UPDATE SET event_size = excluded.event_size, email_size = excluded.email_size,
	event_figures = excluded.event_figures, event_latencies = excluded.event_latencies, email_figures = excluded.email_figures, email_latencies = excluded.email_latencies,
	domains = excluded.domains, tags = excluded.tags, sender_domains = excluded.sender_domains, sender_tags = excluded.sender_tags`),
	}
}

var statements = map[string]days{Days: daysOf(Days), Rebuilt: daysOf(Rebuilt)}

// load locks and returns the stored rows, and creates empty ones for the others.
func load(ctx context.Context, tx db.Execer, table string, keys []rollup.RowKey) ([]*dayRow, error) {
	out := make([]*dayRow, len(keys))
	for i, key := range keys {
		out[i] = &dayRow{RowKey: key}
	}
	if len(keys) == 0 {
		return out, nil
	}
	statement := statements[table].lock
	same := func(slot int) int { return slot }
	err := db.Each(ctx, tx, func(row db.Row) error {
		var at int
		var figures, latencies [rollup.Placements][]byte
		var counts [4]int
		if err := row.Scan(&at, &figures[0], &latencies[0], &figures[1], &latencies[1], &counts[0], &counts[1],
			&counts[2], &counts[3]); err != nil {
			return err
		}
		r := out[at]
		r.there, r.counts = true, counts
		for placed := range r.series {
			if err := r.series[placed].AddEncoded(figures[placed], latencies[placed], same); err != nil {
				return fmt.Errorf("%s, %s, kind %d, key %q: %w", r.AccountID, r.Day.Start().Format(time.DateOnly),
					r.Kind, r.Key, err)
			}
		}
		return nil
	}, statement.Text, statement.Args(keyRows.Rows(keys))...)
	if err != nil {
		return nil, fmt.Errorf("read day rows: %w", err)
	}
	return out, nil
}

// Apply adds counts to the day rows of a table.
func Apply(ctx context.Context, tx db.Execer, table string, r *rollup.Rollup) error {
	for row := range maps.Clone(r.Rows) {
		// whose columns count the others
		r.Series(rollup.RowKey{AccountID: row.AccountID, Kind: rollup.Account, Day: row.Day})
	}
	if len(r.Rows) == 0 {
		return nil
	}
	t := thinner{tx: tx, table: table, rollup: r, accounts: map[rollup.RowKey]*dayRow{}}
	if err := t.run(ctx); err != nil {
		return err
	}
	rows, err := load(ctx, tx, table,
		sortRows(r.Rows, func(row rollup.RowKey) bool { return row.Kind != rollup.Account }))
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row *dayRow) bool {
		more := r.Rows[row.RowKey]
		for placed := range row.series {
			row.series[placed].Merge(&more[placed])
		}
		taken := !row.there && row.size(rollup.ByEvent)+row.size(rollup.ByEmail) < 0 // counts of an evicted row
		if at := slices.Index(counted, row.Kind); at >= 0 && !row.there && !taken {
			t.accounts[accountRow(row.RowKey)].counts[at]++
		}
		return taken
	})
	for key, row := range t.accounts {
		for placed, more := range r.Rows[key] {
			row.series[placed].Merge(&more)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b *dayRow) int { return compareRows(a.RowKey, b.RowKey) })
	statement := statements[table].write
	if _, err := db.Exec(ctx, tx, statement.Text, statement.Args(dayRows.Rows(encode(rows)))...); err != nil {
		return fmt.Errorf("write day rows: %w", err)
	}
	return nil
}

// accountRow returns the account's own row for the day of another row.
func accountRow(of rollup.RowKey) rollup.RowKey {
	return rollup.RowKey{AccountID: of.AccountID, Kind: rollup.Account, Day: of.Day}
}

// sortRows returns the wanted rows of a rollup in locking order.
func sortRows(rows map[rollup.RowKey]*[rollup.Placements]chunk.Series,
	wanted func(rollup.RowKey) bool) []rollup.RowKey {
	var out []rollup.RowKey
	for row := range rows {
		if wanted(row) {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, compareRows)
	return out
}

func compareRows(a, b rollup.RowKey) int {
	return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Day, b.Day),
		cmp.Compare(a.DomainID, b.DomainID), cmp.Compare(a.APIKeyID, b.APIKeyID),
		cmp.Compare(a.TemplateID, b.TemplateID), cmp.Compare(a.AutomationID, b.AutomationID), cmp.Compare(a.Key, b.Key))
}
