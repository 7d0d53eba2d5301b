package expect

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Work is the processor time that a function takes in its own goroutine, into which neither other load counts nor a
// machine that stands still.
func Work(t testing.TB, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime(t)
	f()
	return threadTime(t) - begin
}

func threadTime(t testing.TB) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	if err := syscall.Getrusage(thread, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
