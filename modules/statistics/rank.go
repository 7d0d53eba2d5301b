package statistics

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/storage/db"
)

// If there are many keys, such as recipient domains, an answer contains the largest ones. The stored sizes of
// rows identify them, without reading most chunks; only the months and days at both ends of a question are
// read in part. Then the chunks of the candidates are read, and the rows for all keys together; the
// difference is the rest.

// spare is how many more keys are read than returned. Sizes are inexact for hours, and in long questions for
// days, that a time zone divides.
const spare = 5

// candidates returns the keys of a kind that may be among the largest.
func (r *reading) candidates(ctx context.Context, kind rollup.RowKind, most int) ([]string, error) {
	sizes := map[string]int64{}
	for _, read := range []func(context.Context, rollup.RowKind, map[string]int64) error{r.sizesOfWhole, r.sizesOfParts,
		r.sizesOfTail} {
		if err := read(ctx, kind, sizes); err != nil {
			return nil, err
		}
	}
	keys := make([]string, 0, len(sizes))
	for key := range sizes {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]),
			strings.Compare(a, b))
	})
	return keys[:min(most+spare, len(keys))], nil
}

// cut divides the range of a question into the months, or days, that it contains completely and those that it
// contains in part.
func (r *reading) cut(begin func(time.Time) time.Time, next func(time.Time) time.Time) (whole, parts []string) {
	for at := begin(r.axis.Begin()); at.Before(r.axis.End); at = next(at) {
		if at.Before(r.axis.Begin()) || next(at).After(r.axis.End) {
			parts = append(parts, at.Format(time.RFC3339))
		} else {
			whole = append(whole, at.Format(time.RFC3339))
		}
	}
	return whole, parts
}

func (r *reading) cutMonths() (whole, parts []string) {
	return r.cut(store.MonthOf, func(at time.Time) time.Time { return at.AddDate(0, 1, 0) })
}

func (r *reading) cutDays() (whole, parts []string) {
	return r.cut(func(at time.Time) time.Time { return rollup.DayOf(at).Start() },
		func(at time.Time) time.Time { return at.AddDate(0, 0, 1) })
}

func (r *reading) size() string {
	if r.placed == rollup.ByEmail {
		return "email_size"
	}
	return "event_size"
}

// sizesOfWhole sums the sizes of rows that lie completely within the question.
func (r *reading) sizesOfWhole(ctx context.Context, kind rollup.RowKind, sizes map[string]int64) error {
	months, _ := r.cutMonths()
	days, _ := r.cutDays()
	q := &db.Query{}
	conditions := r.senderCondition(q, kind)
	q.Text = `SELECT key, sum(size)::bigint FROM (SELECT key, ` + r.size() + ` AS size FROM statistics_months WHERE ` +
		conditions + ` AND start = ANY(` + q.Arg(db.Array(months)) + `::timestamptz[])`
	if len(days) > 0 {
		q.Text += ` UNION ALL SELECT key, ` + r.size() + ` FROM statistics_days WHERE ` + conditions +
			` AND start >= ` + q.Arg(days[0]) + ` AND start <= ` + q.Arg(days[len(days)-1])
	}
	q.Text += `) s GROUP BY key`
	return db.Each(ctx, r.tx, func(row db.Row) error {
		var key string
		var size int64
		err := row.Scan(&key, &size)
		sizes[key] += size
		return err
	}, q.Text, q.Args...)
}

// short is the longest question for which partial months are read by hours instead of days.
const short = 14 * 24 * time.Hour

// sizesOfParts reads the rows that lie partially within the question.
func (r *reading) sizesOfParts(ctx context.Context, kind rollup.RowKind, sizes map[string]int64) error {
	_, months := r.cutMonths()
	_, days := r.cutDays()
	if len(months)+len(days) == 0 {
		return nil
	}
	q := &db.Query{}
	conditions := r.senderCondition(q, kind)
	fine, _ := store.ChunkColumns(store.Quarters, r.placed)
	resolution := store.WholeDay
	if r.axis.End.Sub(r.axis.Begin()) < short {
		resolution = store.Hours
	}
	coarse, _ := store.ChunkColumns(resolution, r.placed)
	of, width := coarseOr(resolution, fine, coarse)
	q.Text = `SELECT start, key, ` + fine + `, 1 FROM statistics_days WHERE ` + conditions + ` AND start = ANY(` + q.Arg(db.Array(days)) + `::timestamptz[])
		UNION ALL SELECT start, key, ` + of + `, ` + width + ` FROM statistics_months WHERE ` + conditions + ` AND start = ANY(` + q.Arg(db.Array(months)) + `::timestamptz[])`
	begin, end := r.starts[0], r.starts[len(r.starts)-1]
	return db.Each(ctx, r.tx, func(row db.Row) error {
		var start time.Time
		var key string
		var figures []byte
		var width int64
		if err := row.Scan(&start, &key, &figures, &width); err != nil {
			return err
		}
		first := start.Unix() / quarterSeconds
		return chunk.EachFigures(figures, func(slot int, mask uint64, f *chunk.SlotCounts) {
			if at := first + int64(slot)*width; at+width > begin && at < end {
				var counts chunk.SlotCounts
				counts.AddMasked(mask, f)
				sizes[key] += rollup.Size(&counts)
			}
		})
	}, q.Text, q.Args...)
}

// sizesOfTail adds the uncounted facts.
func (r *reading) sizesOfTail(_ context.Context, kind rollup.RowKind, sizes map[string]int64) error {
	for row, series := range r.tail.Rows {
		if row.Kind != kind || !r.filter.matches(row.By) {
			continue
		}
		first := row.Day.Start().Unix() / quarterSeconds
		for _, p := range series[r.placed].Points() {
			if at := first + int64(p.Slot); at >= r.starts[0] && at < r.starts[len(r.starts)-1] {
				sizes[row.Key] += rollup.Size(&p.Figures)
			}
		}
	}
	return nil
}

// largestKeys reads the figures of the largest keys of a kind, and the sum of all others.
func (r *reading) largestKeys(ctx context.Context, kind rollup.RowKind,
	most int) (known sums, shown []string, rest []sum, err error) {
	keys, err := r.candidates(ctx, kind, most)
	if err != nil {
		return nil, nil, nil, err
	}
	if known, err = r.rows(ctx, kind, "key", keys); err != nil {
		return nil, nil, nil, err
	}
	whole, err := r.rows(ctx, kind.TotalKind(), noGroup, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	shown, rest = known.largestGroups(most), whole.groupSums("", len(r.axis.Starts))
	for _, key := range shown {
		for period := range rest {
			rest[period].subtract(&known[key][period])
		}
	}
	return known, shown, rest, nil
}
