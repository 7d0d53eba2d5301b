package chunk

import (
	"cmp"
	"slices"
)

// Series is a chunk under construction. The zero value is empty.
type Series struct {
	points    []Point
	latencies []Latency
}

// Add adds figures to a slot.
func (s *Series) Add(slot int, f *SlotCounts) { s.addMasked(slot, 1<<Width-1, f) }

func (s *Series) addMasked(slot int, mask uint64, f *SlotCounts) {
	at, there := slices.BinarySearchFunc(s.points, slot,
		func(p Point, slot int) int { return cmp.Compare(p.Slot, slot) })
	if !there {
		s.points = slices.Insert(s.points, at, Point{Slot: slot})
	}
	s.points[at].Figures.AddMasked(mask, f)
}

// AddLatency adds to a bin of a slot.
func (s *Series) AddLatency(l Latency) {
	at, there := slices.BinarySearchFunc(s.latencies, l, compareLatencies)
	if !there {
		s.latencies = slices.Insert(s.latencies, at, l)
		return
	}
	s.latencies[at].Count += l.Count
}

func compareLatencies(a, b Latency) int {
	return cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Bin, b.Bin))
}

// AddEncoded adds an encoded chunk whose slot n corresponds to the slot place(n) of the series.
func (s *Series) AddEncoded(figures, latencies []byte, place func(slot int) int) error {
	if err := EachFigures(figures,
		func(slot int, mask uint64, f *SlotCounts) { s.addMasked(place(slot), mask, f) }); err != nil {
		return err
	}
	return EachLatency(latencies, func(l Latency) {
		l.Slot = place(l.Slot)
		s.AddLatency(l)
	})
}

// Merge adds another series.
func (s *Series) Merge(other *Series) {
	for i := range other.points {
		s.Add(other.points[i].Slot, &other.points[i].Figures)
	}
	for _, l := range other.latencies {
		s.AddLatency(l)
	}
}

// Encode returns the series as chunks.
func (s *Series) Encode() (figures, latencies []byte) {
	return AppendFigures(nil, s.points), AppendLatencies(nil, s.latencies)
}

// Points returns the figures by slot. The caller must not change them.
func (s *Series) Points() []Point { return s.points }

// Coarsen returns a series in which each run of that many slots is combined into one.
func (s *Series) Coarsen(slots int) *Series {
	var out Series
	for i := range s.points {
		out.Add(s.points[i].Slot/slots, &s.points[i].Figures)
	}
	for _, l := range s.latencies {
		l.Slot /= slots
		out.AddLatency(l)
	}
	return &out
}

// Shortfall returns by how much other exceeds the series, for each slot and figure.
func (s *Series) Shortfall(other *Series) *Series {
	var out Series
	for i := range other.points {
		p := &other.points[i]
		var own SlotCounts
		if at, there := slices.BinarySearchFunc(s.points, p.Slot,
			func(p Point, slot int) int { return cmp.Compare(p.Slot, slot) }); there {
			own = s.points[at].Figures
		}
		lack, some := SlotCounts{}, false
		for n := range lack {
			lack[n] = max(p.Figures[n]-own[n], 0)
			some = some || lack[n] > 0
		}
		if some {
			out.Add(p.Slot, &lack)
		}
	}
	for _, l := range other.latencies {
		if at, there := slices.BinarySearchFunc(s.latencies, l, compareLatencies); there {
			l.Count -= s.latencies[at].Count
		}
		if l.Count > 0 {
			out.AddLatency(l)
		}
	}
	return &out
}

// IsEmpty reports whether the series has no counts.
func (s *Series) IsEmpty() bool { return len(s.points) == 0 && len(s.latencies) == 0 }

// Part returns the slots starting with one, renumbered from zero.
func (s *Series) Part(from, slots int) *Series {
	var out Series
	for i := range s.points {
		if at := s.points[i].Slot - from; at >= 0 && at < slots {
			out.Add(at, &s.points[i].Figures)
		}
	}
	for _, l := range s.latencies {
		if l.Slot -= from; l.Slot >= 0 && l.Slot < slots {
			out.AddLatency(l)
		}
	}
	return &out
}

// Shift returns the series with all slots moved later.
func (s *Series) Shift(slots int) *Series {
	out := Series{points: slices.Clone(s.points), latencies: slices.Clone(s.latencies)}
	for i := range out.points {
		out.points[i].Slot += slots
	}
	for i := range out.latencies {
		out.latencies[i].Slot += slots
	}
	return &out
}
