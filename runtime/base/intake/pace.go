package intake

import (
	"errors"
	"time"
)

// Rate is the minimum speed of a client for which something is held: the next Bytes bytes, or all that are
// left, must move within each Period.
type Rate struct {
	Bytes  int64
	Period time.Duration
}

// DefaultRate is 2 KB a second. A phone at 100 kbit/s is six times as fast, and may stall for 25
// seconds. A client must keep sending to keep its resources.
var DefaultRate = Rate{Bytes: 60 << 10, Period: 30 * time.Second}

// The errors of a client that sends something.
var (
	ErrSlow     = errors.New("the client is slower than the minimum rate")
	ErrTooLarge = errors.New("the content is too large")
)

// Meter measures a client against a pace. It counts only the time spent waiting for the client. It is not
// safe for concurrent use.
type Meter struct {
	pace  Rate
	left  time.Duration
	moved int64
}

// NewMeter returns a meter that starts now.
func NewMeter(p Rate) Meter { return Meter{pace: p, left: p.Period} }

// TimeLeft returns how long to wait for the next bytes.
func (m *Meter) TimeLeft() time.Duration { return max(m.left, 0) }

// Count records n bytes that moved after waiting.
func (m *Meter) Count(n int, waited time.Duration) {
	m.left -= waited
	if m.moved += int64(n); m.moved >= m.pace.Bytes {
		m.moved, m.left = 0, m.pace.Period
	}
}
