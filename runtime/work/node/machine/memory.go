package machine

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory returns how many bytes this process may use: the memory of the machine, or less if a cgroup limits
// it. It returns 0 if the system does not report it.
func Memory() int64 { return memoryBelow("/") }

// memoryBelow is Memory with the kernel file systems mounted below root.
func memoryBelow(root string) int64 {
	least := int64(math.MaxInt64)
	for _, limit := range append(cgroupLimits(root), totalMemory(root)) {
		if limit > 0 {
			least = min(least, limit)
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// totalMemory reads the memory of the machine.
func totalMemory(root string) int64 {
	info, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(info) {
		if fields := strings.Fields(string(line)); len(fields) == 3 && fields[0] == "MemTotal:" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// cgroupLimits reads the limits of the cgroup of this process and of all its ancestors, in versions 1 and
// 2. In a container the path may be that of the host, which is not mounted there; then the root of the
// mount is the container's own cgroup.
func cgroupLimits(root string) (limits []int64) {
	f, err := os.Open(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// hierarchy:controllers:path, see cgroups(7). Version 2 names no controllers.
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, files := "sys/fs/cgroup", []string{"memory.max", "memory.high"}
		switch {
		case parts[1] == "":
		case listContains(parts[1], "memory"):
			mount, files = "sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}
		default:
			continue
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) {
			for _, file := range files {
				limits = append(limits, readLimit(filepath.Join(root, mount, path, file)))
			}
			if path == "/" {
				break
			}
		}
	}
	return limits
}

func listContains(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == name {
			return true
		}
	}
	return false
}

// readLimit returns a limit in bytes; 0 for none ("max" in version 2, a number near 2^63 in version 1).
func readLimit(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n >= math.MaxInt64>>1 {
		return 0
	}
	return n
}
