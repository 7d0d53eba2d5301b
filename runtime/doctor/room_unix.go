//go:build unix

package doctor

import (
	"fmt"
	"syscall"
)

// room is how many bytes of the disk of a folder are free for us, and how many it has.
func room(dir string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", dir, err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), uint64(s.Blocks) * uint64(s.Bsize), nil //nolint:unconvert // the types differ by system
}
