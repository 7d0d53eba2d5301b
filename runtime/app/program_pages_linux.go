package app

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// addressRange is a part of the memory of this process.
type addressRange struct{ start, end uintptr }

// releaseProgramPages unmaps the pages of the program file. The next access maps a page again from the page cache,
// which costs about a microsecond for 64 KiB.
func releaseProgramPages() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, r := range findCleanRanges(string(mappings), program) {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, r.start, r.end-r.start, unix.MADV_DONTNEED); errno != 0 {
			return fmt.Errorf("madvise: %w", errno)
		}
	}
	return nil
}

// findCleanRanges returns the read-only mappings of a file that equal the file: those without anonymous pages, which
// relocation or a debugger creates by changing a page. See proc_pid_smaps(5).
func findCleanRanges(mappings, file string) (clean []addressRange) {
	var current addressRange // zero if the mapping has another file or is writable
	for line := range strings.Lines(mappings) {
		var next addressRange
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &next.start, &next.end, &mode); n == 3 {
			current = addressRange{}
			if (mode == "r-xp" || mode == "r--p") && strings.HasSuffix(line, " "+file+"\n") {
				current = next
			}
		}
		var changed int
		if n, _ := fmt.Sscanf(line, "Anonymous: %d kB", &changed); n == 1 && changed == 0 && current.end > 0 {
			clean = append(clean, current)
		}
	}
	return clean
}
