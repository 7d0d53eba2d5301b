package timeseries

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MaxPeriods is the maximum number of periods in one response, multiplied by the number of groups.
const MaxPeriods = 10_000

// Query is the time range and the resolution of a query.
type Query struct {
	Range    Range
	Interval Interval
	Timezone string // for example Europe/Vienna
}

// Axis is the list of periods of a query; it is never empty.
type Axis struct {
	Starts []time.Time
	End    time.Time // of the last period
}

// Axis returns the periods of the query: its range, extended to complete periods. groups is the maximum number
// of groups in addition to the total. Invalid fields of the query are added to wrong; the axis is then empty.
func (q Query) Axis(wrong fault.Fields, groups int) (a Axis) {
	before := len(wrong)
	zone := zoneOf(wrong, q.Timezone)
	q.Range.Check(wrong)
	if !slices.Contains([]Interval{Hour, Day, Week, Month}, q.Interval) {
		wrong.Add("interval", "must be hour, day, week or month")
	}
	if len(wrong) > before {
		return a
	}
	most := MaxPeriods / (groups + 1)
	if a.Starts, a.End = periodStarts(q.Range, q.Interval, zone, most); len(a.Starts) > most {
		wrong.Add("range", "is too long: a response has at most %d periods, multiplied by the number of groups",
			MaxPeriods)
	}
	return a
}

// Begin returns the start of the first period.
func (a Axis) Begin() time.Time { return a.Starts[0] }

// Bounds returns the starts as an argument of width_bucket, which numbers periods from 1.
func (a Axis) Bounds() any {
	texts := make([]string, len(a.Starts))
	for i, at := range a.Starts {
		texts[i] = at.Format(time.RFC3339)
	}
	return db.Array(texts)
}

// Grain returns the length, in minutes, of the longest counting interval that the periods can be composed
// of: 15, 60 or 1440.
func (a Axis) Grain() int {
	all := 24 * 60
	for _, at := range append(a.Starts[:len(a.Starts):len(a.Starts)], a.End) {
		switch {
		case at.Minute() != 0:
			return 15
		case at.Hour() != 0:
			all = 60
		}
	}
	return all
}

// Bucket is a period with its figures.
type Bucket[F any] struct {
	Start   time.Time
	Figures F
}

// Buckets returns the periods of an axis, empty.
func Buckets[F any](a Axis) []Bucket[F] {
	list := make([]Bucket[F], len(a.Starts))
	for i, at := range a.Starts {
		list[i].Start = at
	}
	return list
}

// Group is the figures of one value of a dimension.
type Group[F any] struct {
	Key     string // empty for rows without a value
	Label   string // for humans
	Totals  F
	Buckets []Bucket[F]
}

// Result is the result of a query. It includes empty periods.
type Result[F any] struct {
	Totals  F
	Buckets []Bucket[F]
	Groups  []Group[F] // the largest ones
	Other   *Group[F]  // the sum of all other groups; nil if there are none
}

// Row is the database result for one period and group.
type Row[F any] struct {
	Period  int // index from 0
	Key     string
	Rest    bool // belongs to a group that is not listed separately
	Figures F
}

// Sum is a set of figures that can be added and ordered by size.
type Sum[F any] interface {
	*F
	Add(other F)
	Size() int64
}

// Assemble sorts rows into the periods of an axis and, if grouped, into groups, largest first.
func Assemble[F any, S Sum[F]](a Axis, rows []Row[F], grouped bool) Result[F] {
	out := Result[F]{Buckets: Buckets[F](a)}
	into := map[string]*Group[F]{}
	for _, r := range rows {
		S(&out.Totals).Add(r.Figures)
		S(&out.Buckets[r.Period].Figures).Add(r.Figures)
		if !grouped {
			continue
		}
		g := into[r.Key]
		switch {
		case r.Rest:
			if out.Other == nil {
				out.Other = &Group[F]{Buckets: Buckets[F](a)}
			}
			g = out.Other
		case g == nil:
			g = &Group[F]{Key: r.Key, Buckets: Buckets[F](a)}
			into[r.Key] = g
		}
		S(&g.Totals).Add(r.Figures)
		S(&g.Buckets[r.Period].Figures).Add(r.Figures)
	}
	for _, g := range into {
		out.Groups = append(out.Groups, *g)
	}
	slices.SortFunc(out.Groups, func(x, y Group[F]) int {
		if d := S(&y.Totals).Size() - S(&x.Totals).Size(); d != 0 {
			return int(max(min(d, 1), -1))
		}
		return strings.Compare(x.Key, y.Key)
	})
	return out
}
