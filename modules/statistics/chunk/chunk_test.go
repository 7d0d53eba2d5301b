package chunk

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// someSeries returns random counts over a month of quarters of an hour, by slot and by bin.
func someSeries(dice *rand.Rand, slots int) (Series, map[int]SlotCounts, map[[2]int]int64) {
	var s Series
	figures, latencies := map[int]SlotCounts{}, map[[2]int]int64{}
	for range dice.IntN(200) {
		slot := dice.IntN(slots)
		var f SlotCounts
		for range 1 + dice.IntN(4) {
			f[dice.IntN(Width)] += dice.Int64N(1 << dice.IntN(40))
		}
		s.Add(slot, &f)
		sum := figures[slot]
		for n := range f {
			sum[n] += f[n]
		}
		figures[slot] = sum
		if dice.IntN(2) == 0 {
			l := Latency{slot, dice.IntN(85), 1 + dice.Int64N(1000)}
			s.AddLatency(l)
			latencies[[2]int{l.Slot, l.Bin}] += l.Count
		}
	}
	return s, figures, latencies
}

func decoded(t *testing.T, figures, latencies []byte) (map[int]SlotCounts, map[[2]int]int64) {
	t.Helper()
	points, bins := map[int]SlotCounts{}, map[[2]int]int64{}
	if err := EachFigures(figures, func(slot int, mask uint64, f *SlotCounts) {
		var point SlotCounts
		point.AddMasked(mask, f)
		points[slot] = point
	}); err != nil {
		t.Fatal(err)
	}
	if err := EachLatency(latencies, func(l Latency) { bins[[2]int{l.Slot, l.Bin}] = l.Count }); err != nil {
		t.Fatal(err)
	}
	return points, bins
}

// Decoding returns the encoded counts, and a series built from several chunks has their sums.
func TestChunkRoundTrip(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s, figures, latencies := someSeries(dice, 2976)
		for slot, f := range figures {
			if f == (SlotCounts{}) {
				delete(figures, slot)
			}
		}
		a, b := s.Encode()
		gotFigures, gotLatencies := decoded(t, a, b)
		if diff := cmp.Diff(figures, gotFigures) + cmp.Diff(latencies, gotLatencies); diff != "" {
			t.Fatalf("counted (-) and decoded (+):\n%s", diff)
		}
		var twice Series
		for range 2 {
			if err := twice.AddEncoded(a, b, func(slot int) int { return slot + 96 }); err != nil {
				t.Fatal(err)
			}
		}
		wantFigures, wantLatencies := map[int]SlotCounts{}, map[[2]int]int64{}
		for slot, f := range gotFigures {
			for n := range f {
				f[n] *= 2
			}
			wantFigures[slot+96] = f
		}
		for place, n := range gotLatencies {
			wantLatencies[[2]int{place[0] + 96, place[1]}] = 2 * n
		}
		a, b = twice.Encode()
		gotFigures, gotLatencies = decoded(t, a, b)
		if diff := cmp.Diff(wantFigures, gotFigures) + cmp.Diff(wantLatencies, gotLatencies); diff != "" {
			t.Fatalf("twice as much, a day later (-), and the sum of two chunks (+):\n%s", diff)
		}
	}
}

// Combined slots have the sum of their counts, and adding the missing counts of another series makes a series
// as large as the other.
func TestSeriesCoarserAndMissing(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		a, figures, _ := someSeries(dice, 96)
		b, other, _ := someSeries(dice, 96)
		hours := map[int]SlotCounts{}
		for slot, f := range figures {
			sum := hours[slot/4]
			for n := range f {
				sum[n] += f[n]
			}
			hours[slot/4] = sum
		}
		for _, p := range a.Coarsen(4).Points() {
			if hours[p.Slot] != p.Figures {
				t.Fatalf("hour %d has %v, want %v", p.Slot, p.Figures, hours[p.Slot])
			}
		}
		a.Merge(a.Shortfall(&b))
		for _, p := range a.Points() {
			for n := range p.Figures {
				if want := max(figures[p.Slot][n], other[p.Slot][n]); p.Figures[n] != want {
					t.Fatalf("slot %d has %v, want the maximum of %v and %v", p.Slot, p.Figures, figures[p.Slot],
						other[p.Slot])
				}
			}
		}
		if again := a.Shortfall(&b); !again.IsEmpty() {
			t.Fatalf("a completed series still lacks %+v", again)
		}
	}
}

// A typical slot takes a few bytes.
func TestChunksAreSmall(t *testing.T) {
	t.Parallel()
	var s Series
	for slot := range 96 {
		s.Add(slot, &SlotCounts{40, 40, 39, 0, 1})
		s.AddLatency(Latency{slot, 20, 30})
		s.AddLatency(Latency{slot, 21, 9})
	}
	if figures, latencies := s.Encode(); len(figures) > 96*7+1 || len(latencies) > 96*6+1 {
		t.Errorf("a day of figures takes %d bytes, of latencies %d; want at most %d and %d", len(figures),
			len(latencies), 96*7+1, 96*6+1)
	}
	if figures, latencies := new(Series).Encode(); len(figures)+len(latencies) != 0 {
		t.Errorf("an empty series takes %d and %d bytes, want none", len(figures), len(latencies))
	}
}

// Decoding arbitrary bytes terminates, and returns an error unless the encoder could have produced them.
func FuzzDecode(f *testing.F) {
	var s Series
	s.Add(5, &SlotCounts{1, 2, 3})
	s.AddLatency(Latency{5, 3, 1})
	for _, data := range slices.Collect(func(yield func([]byte) bool) {
		a, b := s.Encode()
		_ = yield(a) &&
			yield(b)
	}) {
		f.Add(data)
	}
	f.Add([]byte{2})
	f.Add([]byte{1, 0x80})
	f.Fuzz(func(t *testing.T, data []byte) {
		var points []Point
		if err := EachFigures(data, func(slot int, _ uint64,
			f *SlotCounts) {
			points = append(points, Point{slot, *f})
		}); err != nil && !errors.Is(err, errCorrupt) {
			t.Errorf("EachFigures returned the error %v", err)
		}
		if err := EachLatency(data, func(Latency) {}); err != nil && !errors.Is(err, errCorrupt) {
			t.Errorf("EachLatency returned the error %v", err)
		}
	})
}
