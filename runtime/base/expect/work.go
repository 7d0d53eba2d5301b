package expect

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// MeasureCPU returns the processor time that f takes in its own goroutine. Load from other processes and stalls
// of the machine do not count.
func MeasureCPU(t testing.TB, f func()) time.Duration {
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
