package id

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.jetify.com/typeid"
)

// oldID was created by a version without cells.
const oldID = "msg_01kabm5yq3e0tv2w6z9j7r4d5c"

func newInCell(t testing.TB, cell int) string {
	t.Helper()
	made, err := typeid.FromUUIDBytesWithPrefix(string(Email), newUUID(uint32(cell)))
	if err != nil {
		t.Fatal(err)
	}
	return made.String()
}

func TestIDNamesItsCell(t *testing.T) {
	t.Parallel()
	for cell := range MaxCell + 1 {
		for range 20 {
			made := newInCell(t, cell)
			if got := Cell(made); got != cell {
				t.Fatalf("%s was created in cell %d, but names cell %d", made, cell, got)
			}
			if !Is(Email, made) || len(made) != len(oldID) || strings.Trim(made[4:], "0123456789abcdefghjkmnpqrstvwxyz") != "" {
				t.Fatalf("%s of cell %d does not have the form of an id", made, cell)
			}
		}
	}
	for _, none := range []string{oldID, Since(Email, Time(oldID)), "", "msg_", "msg_1", oldID + "0", "msg_zzzzzzzzzzzzzzzzzzzzzzzzzz"} {
		if got := Cell(none); got != 0 {
			t.Errorf("%q names cell %d, want 0", none, got)
		}
	}
}

// Proxies compare these characters (docs/clusters.md).
func TestCellIsReadableInTheText(t *testing.T) {
	t.Parallel()
	for cell, end := range map[int]string{1: "01", 7: "07", 31: "0z", 32: "10", 1023: "zz"} {
		for range 100 {
			if made := newInCell(t, cell); !strings.HasSuffix(made, end) || !strings.Contains("gh", made[14:15]) {
				t.Fatalf("%s of cell %d, want g or h after the time and %s at the end", made, cell, end)
			}
		}
	}
	for range 100 {
		if made := newInCell(t, 0); !strings.Contains("ef", made[14:15]) {
			t.Fatalf("%s of cell 0, want e or f after the time, as before", made)
		}
	}
}

// The package describes how likely it is that two processes create the same id. That depends on the bits that vary
// between ids with the same time and sequence.
func TestRandomBits(t *testing.T) {
	t.Parallel()
	for cell, want := range map[int]int{0: 62, 1: 52, 1023: 52} {
		var zeros, ones [16]byte
		for range 200 { // a random bit has one value 200 times with a probability of 2^-199
			for i, b := range newUUID(uint32(cell)) {
				zeros[i] |= ^b
				ones[i] |= b
			}
		}
		random := 0
		for i := 8; i < 16; i++ {
			random += bits.OnesCount8(zeros[i] & ones[i])
		}
		if random != want {
			t.Errorf("ids of cell %d have %d random bits, want %d", cell, random, want)
		}
	}
}

// Concurrent goroutines of any cells create different ids, each in increasing order.
func TestConcurrentIDsAreUniqueAndOrdered(t *testing.T) {
	t.Parallel()
	const each = 20_000
	cells := []int{0, 0, 0, 7, 7, 7, MaxCell}
	made := make([][]string, len(cells))
	var all sync.WaitGroup
	for i, cell := range cells {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], newInCell(t, cell))
			}
		})
	}
	all.Wait()
	for i, ids := range made {
		if !slices.IsSorted(ids) {
			t.Errorf("the ids of goroutine %d in cell %d are not in the order of their creation", i, cells[i])
		}
	}
	ids := slices.Concat(made...)
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != each*len(cells) {
		t.Errorf("%d of %d ids are different, want all", n, each*len(cells))
	}
}

// The order of ids by time does not depend on their cells.
func TestLaterIDsSortLaterInEveryCell(t *testing.T) {
	t.Parallel()
	last := newInCell(t, 0)
	for n := range 5000 {
		cell := n * 37 % (MaxCell + 1)
		made := newInCell(t, cell)
		if earlier := Time(last); Time(made).After(earlier) && made <= last {
			t.Fatalf("%s of cell %d was created after %s but sorts before it", made, cell, last)
		}
		if low := Since(Email, Time(made)); low > made {
			t.Fatalf("%s of cell %d sorts before %s, the smallest id of its time", made, cell, low)
		}
		last = made
	}
}

// Not parallel: the cell is one for the whole process.
func TestSetCell(t *testing.T) {
	defer SetCell(0)
	if tag := KeyTag(); tag != "" {
		t.Errorf("keys of cell 0 have the tag %q, want none", tag)
	}
	SetCell(7)
	if tag, got := KeyTag(), Cell(New(Account)); tag != "7_" || got != 7 || OwnCell() != 7 {
		t.Errorf("in cell 7, keys have the tag %q and ids name cell %d", tag, got)
	}
}

func BenchmarkNew(b *testing.B) {
	for name, cell := range map[string]int{"cell_0": 0, "cell_7": 7} {
		b.Run(name, func(b *testing.B) {
			SetCell(cell)
			defer SetCell(0)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					New(Email)
				}
			})
		})
	}
}
