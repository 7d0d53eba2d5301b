// Package clock provides the time that all processes of an installation share: the time of the database. A
// machine whose clock error is small (the limit is in runtime/work/node) uses its own clock, without a
// correction.
package clock

import (
	"sync/atomic"
	"time"
)

// ahead is the time by which this machine's clock is ahead of the shared one.
var ahead atomic.Int64

// SetOffset sets how far this machine's clock is ahead of the shared one; negative if it is behind.
func SetOffset(by time.Duration) { ahead.Store(int64(by)) }

// Offset returns the value set by SetOffset.
func Offset() time.Duration { return time.Duration(ahead.Load()) }

// Now returns the shared time. Use it for times that are stored or that clients send. Use time.Now for
// measuring and signing.
func Now() time.Time {
	now := time.Now()
	if by := ahead.Load(); by != 0 {
		return now.Add(-time.Duration(by))
	}
	return now
}
