// Package chunk encodes counts over a day or a month: figures and latencies by time slots, in a few bytes per
// slot.
//
// A chunk is a list of points in the order of their slots; empty slots are omitted. A slot is a number of
// equal periods since the beginning of the chunk: quarters of an hour, hours or days; the reader must know
// which. An encoded chunk begins with a format byte. Each point consists of the distance to the previous slot
// and the contents of its slot; for figures, a mask selects those that are not zero.
package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Width is the number of figures in a point.
const Width = 11

// SlotCounts are the counts of one slot. Callers define their meaning.
type SlotCounts [Width]int64

// format is the first byte of an encoded chunk.
const format = 1

// errCorrupt is returned for data that the encoder cannot have produced.
var errCorrupt = errors.New("corrupt chunk")

// Point contains the figures of one slot.
type Point struct {
	Slot    int
	Figures SlotCounts
}

// Latency is the number of deliveries in one slot with similar latencies, that is, in one bin.
type Latency struct {
	Slot, Bin int
	Count     int64
}

// AppendFigures encodes points, whose slots must ascend. Points without figures are omitted; a chunk without
// points is empty.
func AppendFigures(to []byte, points []Point) []byte {
	last, begun := 0, false
	for i := range points {
		p := &points[i]
		mask := uint64(0)
		for n, count := range p.Figures {
			if count != 0 {
				mask |= 1 << n
			}
		}
		if mask == 0 {
			continue
		}
		if !begun {
			to, begun = append(to, format), true
		}
		to = binary.AppendUvarint(to, uint64(p.Slot-last))
		to = binary.AppendUvarint(to, mask)
		for _, count := range p.Figures {
			if count != 0 {
				to = binary.AppendVarint(to, count)
			}
		}
		last = p.Slot
	}
	return to
}

// EachFigures calls yield for each point of an encoded chunk, with its slot, a mask of the figures that are
// not zero, and the figures. Figures outside of the mask are undefined, and figures must not be used after
// yield returns.
func EachFigures(data []byte, yield func(slot int, mask uint64, f *SlotCounts)) error {
	r, err := open(data)
	if err != nil {
		return err
	}
	slot := 0
	var f SlotCounts
	for r.more() {
		slot += r.small()
		mask := uint64(r.small())
		if mask >= 1<<Width {
			return fmt.Errorf("%w: mask %#x", errCorrupt, mask)
		}
		for left := mask; left != 0; left &= left - 1 {
			f[bits.TrailingZeros64(left)] = r.varint()
		}
		if r.broken {
			return errCorrupt
		}
		yield(slot, mask, &f)
	}
	return nil
}

// AddMasked adds the figures selected by a mask.
func (f *SlotCounts) AddMasked(mask uint64, more *SlotCounts) {
	for ; mask != 0; mask &= mask - 1 {
		n := bits.TrailingZeros64(mask)
		f[n] += more[n]
	}
}

// AppendLatencies encodes latencies, which must ascend by slot and bin. Latencies without a count are
// omitted.
func AppendLatencies(to []byte, list []Latency) []byte {
	last, begun := 0, false
	for i := 0; i < len(list); {
		end, some := i, 0
		for ; end < len(list) && list[end].Slot == list[i].Slot; end++ {
			if list[end].Count != 0 {
				some++
			}
		}
		if some > 0 {
			if !begun {
				to, begun = append(to, format), true
			}
			to = binary.AppendUvarint(to, uint64(list[i].Slot-last))
			to = binary.AppendUvarint(to, uint64(some))
			last = list[i].Slot
			bin := 0
			for _, l := range list[i:end] {
				if l.Count != 0 {
					to = binary.AppendUvarint(to, uint64(l.Bin-bin))
					to = binary.AppendVarint(to, l.Count)
					bin = l.Bin
				}
			}
		}
		i = end
	}
	return to
}

// maxBins is larger than the number of bins in a slot.
const maxBins = 1 << 10

// EachLatency calls yield for each latency of an encoded chunk.
func EachLatency(data []byte, yield func(Latency)) error {
	r, err := open(data)
	if err != nil {
		return err
	}
	slot := 0
	for r.more() {
		slot += r.small()
		some := r.small()
		if r.broken || some > maxBins {
			return fmt.Errorf("%w: %d bins", errCorrupt, some)
		}
		bin := 0
		for range some {
			bin += r.small()
			count := r.varint()
			if r.broken || bin >= maxBins {
				return errCorrupt
			}
			yield(Latency{slot, bin, count})
		}
	}
	return nil
}

// reader reads numbers until the first invalid one.
type reader struct {
	data   []byte
	at     int
	broken bool
}

func open(data []byte) (*reader, error) {
	if len(data) == 0 {
		return &reader{}, nil
	}
	if data[0] != format {
		return nil, fmt.Errorf("%w: format %d is newer than this program", errCorrupt, data[0])
	}
	return &reader{data: data, at: 1}, nil
}

// more reports whether any data is left to read.
func (r *reader) more() bool { return !r.broken && r.at < len(r.data) }

func (r *reader) uvarint() uint64 {
	if r.at < len(r.data) && r.data[r.at] < 0x80 { // most numbers are small
		r.at++
		return uint64(r.data[r.at-1])
	}
	return r.long()
}

func (r *reader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *reader) long() uint64 {
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.broken = true
		return 0
	}
	r.at += n
	return v
}

// small reads a slot, a mask, a bin or a number of bins, which are all small numbers.
func (r *reader) small() int {
	v := r.uvarint()
	if v > 1<<20 {
		r.broken = true
		return 0
	}
	return int(v)
}
