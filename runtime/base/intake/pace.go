package intake

import (
	"errors"
	"time"
)

// Pace is the minimum speed of a client for which something is held: each next Octets bytes, or all that is
// left, must move Within a time.
type Pace struct {
	Octets int64
	Within time.Duration
}

// Floor is 2 KB a second. A phone at 100 kbit/s is six times as fast, and may stall for 25 seconds. A
// client must keep sending to keep what is held for it.
var Floor = Pace{Octets: 60 << 10, Within: 30 * time.Second}

// The errors of a client that sends something.
var (
	ErrSlow     = errors.New("the client is slower than the least speed")
	ErrTooLarge = errors.New("more octets than are taken")
)

// Meter measures a client against a pace. It counts only the time spent waiting for the client. It is not
// safe for concurrent use.
type Meter struct {
	pace  Pace
	left  time.Duration
	moved int64
}

// NewMeter returns a meter that starts now.
func NewMeter(p Pace) Meter { return Meter{pace: p, left: p.Within} }

// Left returns how long to wait for the next bytes.
func (m *Meter) Left() time.Duration { return max(m.left, 0) }

// Count records n bytes that moved after waiting.
func (m *Meter) Count(n int, waited time.Duration) {
	m.left -= waited
	if m.moved += int64(n); m.moved >= m.pace.Octets {
		m.moved, m.left = 0, m.pace.Within
	}
}
