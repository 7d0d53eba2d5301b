package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/postrider/postrider/runtime/base/expect"
)

// Cgroup bounds the memory of its processes: the kernel kills one that needs more.
type Cgroup struct {
	folder string
	peak   string // file
}

// NewCgroup creates a cgroup of version 2 or 1 with a limit in bytes. It is removed after the test, which is
// skipped if cgroups cannot be created on this machine.
func NewCgroup(t testing.TB, limit int64) *Cgroup {
	t.Helper()
	name := fmt.Sprintf("postrider-test-%d-%d", os.Getpid(), limit)
	var failed error
	for _, c := range []struct{ mount, limit, swap, peak string }{
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max", "memory.peak"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.swappiness", "memory.max_usage_in_bytes"},
	} {
		folder := filepath.Join(c.mount, name)
		if _, err := os.Stat(filepath.Join(c.mount, "cgroup.procs")); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if err := os.Mkdir(folder, 0o755); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		t.Cleanup(func() {
			expect.Eventually(t, "the cgroup is removed", func() bool {
				err := syscall.Rmdir(folder)
				return err == nil || errors.Is(err, os.ErrNotExist)
			})
		})
		if err := os.WriteFile(filepath.Join(folder, c.limit), []byte(strconv.FormatInt(limit, 10)),
			0o600); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		os.WriteFile(filepath.Join(folder, c.swap), []byte("0"), 0o600) // there may be no swap
		return &Cgroup{folder, filepath.Join(folder, c.peak)}
	}
	t.Skipf("cannot create a cgroup with a memory limit on this machine: %v", failed)
	return nil
}

// command returns the arguments that start a program within the cgroup, so that the limit applies from the
// beginning.
func (c *Cgroup) command(program string, args ...string) []string {
	return append([]string{"/bin/sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, c.folder, program}, args...)
}

// Peak returns the peak memory of the processes in bytes.
func (c *Cgroup) Peak(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile(c.peak)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
