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

// memory is the file system in memory that Linux has.
const memory = "/dev/shm"

// serversFolder is where the folder of all test servers goes: where POSTRIDER_TEST_DIR
// says, else in memory where there is room, else among the temporary files.
func serversFolder() (string, error) {
	if given := os.Getenv("POSTRIDER_TEST_DIR"); given != "" {
		return given, os.MkdirAll(given, 0o711)
	}
	if hasRoom(memory) {
		return memory, nil
	}
	return os.TempDir(), nil
}

// hasRoom says whether servers of as many packages as go test runs at once fit into a
// file system in memory, and leave room for what else needs memory.
func hasRoom(folder string) bool {
	const perServer = 1 << 30 // some have 300 MB
	needed := uint64(runtime.NumCPU()) * perServer
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return false
	}
	available, err := availableMemory()
	return err == nil && disk.Bavail*uint64(disk.Bsize) >= needed && available >= 2*needed
}

// availableMemory is what processes can have without swapping; it is known on Linux.
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
	return 0, errors.New("/proc/meminfo does not say what is available")
}
