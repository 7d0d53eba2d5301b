package timeseries

import (
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

// MaxPeriods is how many periods, times groups, one answer has at most.
const MaxPeriods = 10_000

// Question says for which time something is asked.
type Question struct {
	Range    Range
	Interval Interval
	Timezone string // as Europe/Vienna
}

// Axis is the periods of a question: there is one at least.
type Axis struct {
	Starts []time.Time
	End    time.Time // of the last one
}

// Axis gives the periods that the range lies in: it is widened to whole ones. What is wrong with the
// question, which has at most so many groups beside the whole, is added to wrong; then there is none.
func (q Question) Axis(wrong fault.Fields, groups int) (a Axis) {
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
	if a.Starts, a.End = periods(q.Range, q.Interval, zone, most); len(a.Starts) > most {
		wrong.Add("range", "is too long: an answer has at most %d periods, times groups", MaxPeriods)
	}
	return a
}

// Begin is where the first period begins.
func (a Axis) Begin() time.Time { return a.Starts[0] }

// Bounds are the starts as an argument of width_bucket, which numbers periods from 1.
func (a Axis) Bounds() any {
	texts := make([]string, len(a.Starts))
	for i, at := range a.Starts {
		texts[i] = at.Format(time.RFC3339)
	}
	return db.Array(texts)
}

// Grain is how long the stretches are, in minutes, that the periods can be put together of: 15, 60 or
// 1440.
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

// Bucket is a period.
type Bucket[F any] struct {
	Start   time.Time
	Figures F
}

// Buckets gives the periods of an axis, empty.
func Buckets[F any](a Axis) []Bucket[F] {
	list := make([]Bucket[F], len(a.Starts))
	for i, at := range a.Starts {
		list[i].Start = at
	}
	return list
}

// Group is what one value of a dimension has.
type Group[F any] struct {
	Key     string // empty: what has none
	Label   string // as people know it
	Totals  F
	Buckets []Bucket[F]
}

// Answer is what was asked for. Periods in which nothing happened are in it.
type Answer[F any] struct {
	Totals  F
	Buckets []Bucket[F]
	Groups  []Group[F] // the largest ones
	Other   *Group[F]  // the sum of the rest; nil: there is none
}

// Row is what the database has for one period and group.
type Row[F any] struct {
	Period  int // from 0
	Key     string
	Rest    bool // it belongs to no group that is shown by itself
	Figures F
}

// Sum is figures that can be added, and compared by their size.
type Sum[F any] interface {
	*F
	Add(other F)
	Size() int64
}

// Assemble puts rows into the periods of an axis and, if that is wanted, into groups, the largest one
// first.
func Assemble[F any, S Sum[F]](a Axis, rows []Row[F], grouped bool) Answer[F] {
	out := Answer[F]{Buckets: Buckets[F](a)}
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
