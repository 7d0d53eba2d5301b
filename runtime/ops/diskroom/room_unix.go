//go:build unix

package diskroom

import (
	"fmt"
	"syscall"
)

// Stat returns the free and total bytes of a folder's disk, as available to this process.
func Stat(dir string) (Room, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return Room{}, fmt.Errorf("%s: %w", dir, err)
	}
	return Room{Free: uint64(s.Bavail) * uint64(s.Bsize), Total: uint64(s.Blocks) * uint64(s.Bsize)}, nil //nolint:unconvert // the types differ by system
}
