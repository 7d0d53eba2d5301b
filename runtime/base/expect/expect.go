// Package expect has helpers for tests: conditions that become true eventually, golden files, logs that are
// read while they are written, and addresses that refuse connections or never respond. It does not depend on other
// packages, so that the tests of every package can use it; runtime/test/harness runs the whole service.
package expect

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Patience is how long a test waits for an expected result. A machine that runs every test concurrently
// occasionally stalls a process for many seconds, and a long limit costs nothing if it is not reached.
// Assert a promised duration in addition to the wait. Durations that a benchmark measures are not asserted
// by tests.
const Patience = 2 * time.Minute

// Eventually polls until the condition holds, and fails the test if it does not. The condition must stay
// true once it holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	EventuallyWithin(t, Patience, what, holds)
}

// EventuallyWithin is Eventually with a limit for conditions that may take longer than Patience; it never waits less
// than Patience.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	limit = max(limit, Patience)
	for begin := time.Now(); ; {
		over, looked := time.Since(begin) > limit, time.Now()
		if holds() {
			return
		}
		if over {
			t.Fatalf("not within %s: %s", limit, what)
		}
		// polling uses at most half of the time, for the sake of the code under test
		<-time.After(max(5*time.Millisecond, time.Since(looked)))
	}
}

// quickVariable is set by `make test`, which leaves the longest tests to other targets.
const quickVariable = "POSTRIDER_TEST_QUICK"

// SkipWhenQuick skips a test in `make test`. The target that always runs it is one of .ci/run.
func SkipWhenQuick(t testing.TB, target string) {
	t.Helper()
	if os.Getenv(quickVariable) != "" {
		t.Skip("left to " + target)
	}
}

// Golden compares got with a file in testdata. `go test -update` writes the file.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // a source file, readable by all
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", path, diff)
	}
}

// Log is a concurrency-safe buffer for log output.
type Log struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

// String returns everything written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// FreeAddress returns a loopback address without a listener, for example 127.0.0.1:20000. It is for
// programs that cannot report their port. The port is outside the range that systems assign to outgoing
// connections, because such a port could be taken again before the program listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	var last error
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(12_000+rand.IntN(20_000)))
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err == nil {
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			return address
		}
		last = err
	}
	t.Fatalf("no port is free: %v", last)
	return ""
}

// FreePort returns the port of a FreeAddress.
func FreePort(t testing.TB) string {
	t.Helper()
	_, port, err := net.SplitHostPort(FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}
