package timeseries

import "time"

// grains are the lengths of counting intervals in minutes, longest first.
var grains = []int{24 * 60, 60, 15}

// GrainRanges are the time ranges from which periods are composed, in order of time: the grain, the start,
// and the end of each.
type GrainRanges struct {
	Grains       []int64 // minutes
	Begins, Ends []string

	until time.Time // the end of the last one
}

// GrainRanges uses for each period the longest grains that fit into it. A day in a zone with a half-hour
// offset consists of 23 hours and four quarters of an hour; a week is mostly UTC days. Consecutive intervals
// of one grain form one stretch.
func (a Axis) GrainRanges() (s GrainRanges) {
	for i, from := range a.Starts {
		to := a.End
		if i+1 < len(a.Starts) {
			to = a.Starts[i+1]
		}
		s.takeGrains(from, to, grains)
	}
	return s
}

// CoverPeriods returns the stretches that cover all periods, with an additional grain of the given minutes,
// longer than a day.
func (a Axis) CoverPeriods(longest int) (s GrainRanges) {
	s.takeGrains(a.Begin(), a.End, append([]int{longest}, grains...))
	return s
}

func (s *GrainRanges) takeGrains(from, to time.Time, of []int) {
	if len(of) == 0 || !from.Before(to) {
		return
	}
	width := time.Duration(of[0]) * time.Minute
	first, last := from.Add(width-1).Truncate(width), to.Truncate(width) // a day begins at midnight UTC
	if !first.Before(last) {
		s.takeGrains(from, to, of[1:])
		return
	}
	s.takeGrains(from, first, of[1:])
	s.addStretch(int64(of[0]), first, last)
	s.takeGrains(last, to, of[1:])
}

func (s *GrainRanges) addStretch(grain int64, from, to time.Time) {
	if n := len(s.Grains); n > 0 && s.Grains[n-1] == grain && s.until.Equal(from) {
		s.Ends[n-1] = to.Format(time.RFC3339)
	} else {
		s.Grains, s.Begins, s.Ends = append(s.Grains, grain), append(s.Begins, from.Format(time.RFC3339)),
			append(s.Ends, to.Format(time.RFC3339))
	}
	s.until = to
}
