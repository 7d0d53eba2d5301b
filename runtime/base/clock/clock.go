// Package clock tells the time that all processes of an installation share: that of the database. A machine whose own
// clock is wrong by less than a process says (runtime/work/node) uses its own, which is as good and needs no question.
package clock

import (
	"sync/atomic"
	"time"
)

// ahead is how far the clock of this machine is before the shared one.
var ahead atomic.Int64

// Correct says how far the clock of this machine is before the shared one; behind is negative.
func Correct(by time.Duration) { ahead.Store(int64(by)) }

// Ahead is what Correct said last.
func Ahead() time.Duration { return time.Duration(ahead.Load()) }

// Now is the shared time: for what is stored, and for times that callers give. What is measured, and what is
// signed, goes by time.Now.
func Now() time.Time {
	now := time.Now()
	if by := ahead.Load(); by != 0 {
		return now.Add(-time.Duration(by))
	}
	return now
}
