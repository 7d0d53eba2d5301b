package statistics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/modules/statistics/chunk"
	"github.com/postrider/postrider/modules/statistics/rollup"
	"github.com/postrider/postrider/modules/statistics/store"
	"github.com/postrider/postrider/runtime/storage/db"
	"github.com/postrider/postrider/runtime/storage/timeseries"
)

// reading reads the rows of one query, within one transaction.
type reading struct {
	tx        db.Execer
	accountID string
	axis      timeseries.Axis
	starts    []int64 // starts of the periods, in quarters of an hour since 1970; the last one is the end
	placed    rollup.Placement
	latency   bool
	filter    Filter
	tail      tail
}

const quarterSeconds = int64(rollup.Quarter / time.Second)

func newReading(tx db.Execer, accountID string, axis timeseries.Axis, q Question, t tail) *reading {
	r := &reading{tx: tx, accountID: accountID, axis: axis, latency: q.Latency, filter: q.Filter, tail: t}
	if q.ByEmail {
		r.placed = rollup.ByEmail
	}
	for _, at := range axis.Starts {
		r.starts = append(r.starts, at.Unix()/quarterSeconds)
	}
	r.starts = append(r.starts, axis.End.Unix()/quarterSeconds)
	return r
}

// sum is the total of a group in a period.
type sum struct {
	counts chunk.SlotCounts
	took   *latencies
}

// latencies counts deliveries by latency bin.
type latencies [rollup.LastBin + 1]int64

func (s *sum) addLatency(bin int, n int64) {
	if s.took == nil {
		s.took = new(latencies)
	}
	s.took[max(0, min(bin, rollup.LastBin))] += n
}

func (s *sum) add(more *sum) {
	for n := range s.counts {
		s.counts[n] += more.counts[n]
	}
	if more.took != nil {
		if s.took == nil {
			s.took = new(latencies)
		}
		for bin, n := range more.took {
			s.took[bin] += n
		}
	}
}

func (s *sum) isEmpty() bool { return s.counts == chunk.SlotCounts{} }

// subtract subtracts another sum, but not below zero: a part may exceed the whole if some of the whole was deleted
// before a rebuild.
func (s *sum) subtract(less *sum) {
	for n := range s.counts {
		s.counts[n] = max(0, s.counts[n]-less.counts[n])
	}
	if s.took != nil && less.took != nil {
		for bin, n := range less.took {
			s.took[bin] = max(0, s.took[bin]-n)
		}
	}
}

// figures converts the sum into the figures of an answer.
func (s *sum) figures() Figures {
	c := &s.counts
	return Figures{c[rollup.Accepted], c[rollup.Recipients], c[rollup.Delivered], c[rollup.Delayed], c[rollup.Bounced],
		c[rollup.Failed], c[rollup.Complained],
		c[rollup.Opened], c[rollup.Clicked], c[rollup.Unsubscribed], c[rollup.Suppressed], s.took}
}

// sums are sums by group and period.
type sums map[string][]sum

func (s sums) groupSums(group string, periods int) []sum {
	list := s[group]
	if list == nil {
		list = make([]sum, periods)
		s[group] = list
	}
	return list
}

// periodOf returns the period that contains a quarter of an hour, or a negative number if there is none. It
// searches from a period that does not start later.
func (r *reading) periodOf(quarter int64, from int) int {
	if quarter < r.starts[0] || quarter >= r.starts[len(r.starts)-1] {
		return -1
	}
	if from < 0 || r.starts[from] > quarter {
		from = 0
	}
	if from+1 < len(r.starts) && r.starts[from+1] <= quarter {
		if from+2 >= len(r.starts) || r.starts[from+2] > quarter {
			return from + 1
		}
		at, there := slices.BinarySearch(r.starts[from:], quarter)
		if there {
			return from + at
		}
		return from + at - 1
	}
	return from
}

// found is a chunk from the database. Its slots have a length in quarters of an hour.
type found struct {
	start               time.Time
	group               string
	figures, latencies  []byte
	figuresAt, delaysAt int
}

// add adds a chunk to the periods.
func (r *reading) add(f *found, to sums) error {
	first, period := f.start.Unix()/quarterSeconds, 0
	var list []sum
	place := func(slot, width int) *sum {
		if period = r.periodOf(first+int64(slot)*int64(width), max(period, 0)); period < 0 {
			return nil
		}
		if list == nil {
			list = to.groupSums(f.group, len(r.axis.Starts))
		}
		return &list[period]
	}
	err := chunk.EachFigures(f.figures, func(slot int, mask uint64, counts *chunk.SlotCounts) {
		if into := place(slot, f.figuresAt); into != nil {
			into.counts.AddMasked(mask, counts)
		}
	})
	if err == nil {
		err = chunk.EachLatency(f.latencies, func(l chunk.Latency) {
			if into := place(l.Slot, f.delaysAt); into != nil {
				into.addLatency(l.Bin, l.Count)
			}
		})
	}
	if err != nil {
		return fmt.Errorf("statistics of %s from %s: %w", f.group, f.start.Format(time.DateOnly), err)
	}
	return nil
}

// rowsSQL selects the chunks of a kind, in days and in months. For given keys, months and unpacked days are
// listed individually, so that each is looked up by its keys: a time range would scan the index once for
// each.
func (r *reading) rowsSQL(kind rollup.RowKind, group string, keys []string) *db.Query {
	q := &db.Query{}
	figures, latencies := store.ChunkColumns(store.Quarters, r.placed)
	conditions := r.senderCondition(q, kind)
	delays := `''::bytea`
	if r.latency {
		delays = latencies
	}
	fine := `SELECT start, ` + group + `, ` + figures + `, 1, ` + delays + `, 1 FROM statistics_days WHERE ` + conditions
	begin, end := rollup.DayOf(r.axis.Begin()).Start(), r.axis.End
	listed := ``
	if keys == nil {
		q.Text = fine + ` AND start >= ` + q.Arg(begin) + ` AND start < ` + q.Arg(end)
	} else {
		listed = ` AND key = ANY(` + q.Arg(db.Array(keys)) + `)`
		open := rollup.DayOf(r.tail.asOf.Add(-store.Open)).Start()
		q.Text = fine + listed + ` AND start = ANY(` + q.Arg(db.Array(listOf(later(begin, open), end, 1, 0))) +
			`::timestamptz[])`
		if begin.Before(open) {
			q.Text += ` UNION ALL ` + fine + ` AND key || '' = ANY(` + q.Arg(db.Array(keys)) + `) AND start >= ` +
				q.Arg(begin) + ` AND start < ` + q.Arg(earlier(open, end))
		}
	}
	coarse := store.Resolution(r.axis.Grain() / 15)
	coarseFigures, coarseLatencies := store.ChunkColumns(coarse, r.placed)
	figuresOf, figuresAt := coarseOr(coarse, figures, coarseFigures)
	delaysOf, delaysAt := delays, `1`
	if r.latency {
		delaysOf, delaysAt = coarseOr(coarse, latencies, coarseLatencies)
	}
	q.Text += ` UNION ALL SELECT start, ` + group + `, ` + figuresOf + `, ` + figuresAt + `, ` + delaysOf + `, ` +
		delaysAt + ` FROM statistics_months WHERE ` + conditions + listed +
		` AND start = ANY(` + q.Arg(db.Array(listOf(store.MonthOf(begin), end, 0, 1))) + `::timestamptz[])`
	return q
}

// listOf lists the times in [from, to) at a distance in days and months.
func listOf(from, before time.Time, days, months int) (list []string) {
	for at := from; at.Before(before); at = at.AddDate(0, months, days) {
		list = append(list, at.Format(time.RFC3339))
	}
	return list
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// coarseOr is SQL for the chunk of a resolution, if it exists, and the length of its slots.
func coarseOr(r store.Resolution, fine, coarse string) (chunk, width string) {
	if r == store.Quarters {
		return fine, `1`
	}
	return `CASE WHEN ` + coarse + ` = '' THEN ` + fine + ` ELSE ` + coarse + ` END`,
		fmt.Sprintf(`CASE WHEN %s = '' THEN 1 ELSE %d END`, coarse, r)
}

// senderCondition returns the condition for the rows of a kind whose senders match the filter. Rows for all senders
// together have no sender.
func (r *reading) senderCondition(q *db.Query, kind rollup.RowKind) string {
	conditions := []string{`account_id = ` + q.Arg(r.accountID), `kind = ` + q.Arg(int(kind))}
	alone := slices.Contains([]rollup.RowKind{rollup.Account, rollup.Domain, rollup.Tag, rollup.Runs}, kind)
	for _, by := range []struct{ column, value string }{{"domain_id", r.filter.DomainID},
		{"api_key_id", r.filter.APIKeyID},
		{"template_id", r.filter.TemplateID}, {"automation_id", r.filter.AutomationID}} {
		if alone || by.value != "" {
			conditions = append(conditions, by.column+` = `+q.Arg(by.value))
		}
	}
	return strings.Join(conditions, ` AND `)
}

// matches reports whether the filter includes mail of a sender.
func (f Filter) matches(by rollup.By) bool {
	return (f.DomainID == "" || f.DomainID == by.DomainID) && (f.APIKeyID == "" || f.APIKeyID == by.APIKeyID) &&
		(f.TemplateID == "" || f.TemplateID == by.TemplateID) &&
		(f.AutomationID == "" || f.AutomationID == by.AutomationID)
}

// rows sums the rows of a kind by group: all of them, or only those with the keys.
func (r *reading) rows(ctx context.Context, kind rollup.RowKind, group string, keys []string) (sums, error) {
	out := sums{}
	q := r.rowsSQL(kind, group, keys)
	err := db.Each(ctx, r.tx, func(row db.Row) error {
		var f found
		if err := row.Scan(&f.start, &f.group, &f.figures, &f.figuresAt, &f.latencies, &f.delaysAt); err != nil {
			return err
		}
		return r.add(&f, out)
	}, q.Text, q.Args...)
	if err != nil {
		return out, err
	}
	for row, series := range r.tail.Rows {
		if row.Kind != kind || !r.filter.matches(row.By) || keys != nil && !slices.Contains(keys, row.Key) {
			continue
		}
		f := found{start: row.Day.Start(), group: groupOf(row, group), figuresAt: 1, delaysAt: 1}
		if f.figures, f.latencies = series[r.placed].Encode(); !r.latency {
			f.latencies = nil
		}
		if err := r.add(&f, out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// noGroup is the group column of questions without groups.
const noGroup = `''`

// groupOf returns the group of a row from its group column.
func groupOf(row rollup.RowKey, column string) string {
	switch column {
	case "domain_id":
		return row.DomainID
	case "api_key_id":
		return row.APIKeyID
	case "template_id":
		return row.TemplateID
	case "automation_id":
		return row.AutomationID
	case "key":
		return row.Key
	}
	return ""
}

// largestGroups returns the groups that are not empty, largest first.
func (s sums) largestGroups(most int) []string {
	sizes := map[string]int64{}
	var groups []string
	for group, list := range s {
		some := false
		for i := range list {
			sizes[group] += rollup.Size(&list[i].counts)
			some = some || !list[i].isEmpty()
		}
		if some {
			groups = append(groups, group)
		}
	}
	slices.SortFunc(groups, func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]),
			strings.Compare(a, b))
	})
	return groups[:min(most, len(groups))]
}

// answer converts sums into the periods of an answer: the listed groups by name, and the sum of the others as
// the rest, unless rest is nil.
func (r *reading) answer(whole []sum, s sums, shown []string, rest []sum) (out timeseries.Result[Figures]) {
	all := r.group("", whole)
	out.Totals, out.Buckets = all.Totals, all.Buckets
	for _, key := range shown {
		out.Groups = append(out.Groups, r.group(key, s[key]))
	}
	if rest != nil {
		if other := r.group("", rest); slices.ContainsFunc(rest, func(s sum) bool { return !s.isEmpty() }) {
			out.Other = &other
		}
	}
	return out
}

// group is a group of an answer.
func (r *reading) group(key string, list []sum) timeseries.Group[Figures] {
	g := timeseries.Group[Figures]{Key: key, Buckets: timeseries.Buckets[Figures](r.axis)}
	var totals sum
	for period := range list {
		totals.add(&list[period])
		g.Buckets[period].Figures = list[period].figures()
	}
	g.Totals = totals.figures()
	return g
}

// sumExcept returns the sum of all groups except the listed ones.
func (s sums) sumExcept(shown []string, periods int) []sum {
	out := make([]sum, periods)
	for group, list := range s {
		if !slices.Contains(shown, group) {
			for period := range list {
				out[period].add(&list[period])
			}
		}
	}
	return out
}
