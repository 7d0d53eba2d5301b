package intake

import (
	"errors"
	"time"
)

// Pace is the least speed of a client for which something is held: each next Octets, or
// what is left, come or go Within a time.
type Pace struct {
	Octets int64
	Within time.Duration
}

// Floor is 2 KB a second. A phone at 100 kbit/s is six times as fast, and may stand still
// for 25 seconds; who wants to keep what is held has to go on bringing octets.
var Floor = Pace{Octets: 60 << 10, Within: 30 * time.Second}

// Errors of a client that brings something.
var (
	ErrSlow     = errors.New("the client is slower than the least speed")
	ErrTooLarge = errors.New("more octets than are taken")
)

// Meter holds a client against a pace. It counts the time that it waits for the client,
// and no other. It is not safe for concurrent use.
type Meter struct {
	pace  Pace
	left  time.Duration
	moved int64
}

// NewMeter begins to measure.
func NewMeter(p Pace) Meter { return Meter{pace: p, left: p.Within} }

// Left is how long may be waited for the next octets.
func (m *Meter) Left() time.Duration { return max(m.left, 0) }

// Count takes what has moved after some waiting.
func (m *Meter) Count(n int, waited time.Duration) {
	m.left -= waited
	if m.moved += int64(n); m.moved >= m.pace.Octets {
		m.moved, m.left = 0, m.pace.Within
	}
}
