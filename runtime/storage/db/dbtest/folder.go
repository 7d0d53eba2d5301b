package dbtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// memory is the in-memory file system of Linux.
const memory = "/dev/shm"

// serversFolder returns the folder for all test servers: POSTRIDER_TEST_DIR if set, else in memory if there
// is room, else among the temporary files.
func serversFolder() (string, error) {
	if given := os.Getenv("POSTRIDER_TEST_DIR"); given != "" {
		return given, os.MkdirAll(given, 0o711)
	}
	if hasRoom(memory) {
		return memory, nil
	}
	return os.TempDir(), nil
}

// hasRoom reports whether the servers of as many packages as go test runs concurrently fit into an
// in-memory file system, with memory left for everything else.
func hasRoom(folder string) bool {
	const perServer = 1 << 30 // some use 300 MB
	needed := uint64(runtime.NumCPU()) * perServer
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return false
	}
	available, err := availableMemory()
	return err == nil && disk.Bavail*uint64(disk.Bsize) >= needed && available >= 2*needed
}

// availableMemory returns how much memory processes can use without swapping; supported on Linux only.
func availableMemory() (uint64, error) {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), "MemAvailable:"); found {
			kilobytes, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("/proc/meminfo: %w", err)
			}
			return kilobytes << 10, nil
		}
	}
	return 0, errors.New("/proc/meminfo does not report the available memory")
}
