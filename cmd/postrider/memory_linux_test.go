//go:build !race

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
)

// An idle process returns what only its startup needed to the system. docs/running.md has the figure.
func TestIdleProcessUsesAtMost100MiB(t *testing.T) {
	t.Parallel()
	service := launchProcess(t, t.TempDir())
	expect.Eventually(t, "resident memory to fall to 100 MiB", func() bool {
		return residentMemory(t, service.PID) <= 100<<20
	})
	service.send(t, "after the pages of the program were released", "")
}

// residentMemory returns the resident memory of a process in bytes.
func residentMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	var kilobytes int64
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatalf("no VmRSS in the status of process %d: %v\n%s", pid, err, status)
	}
	return kilobytes << 10
}
