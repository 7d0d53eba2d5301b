package assembly

import (
	"os"
	"runtime/debug"
)

// memoryLimit is where the garbage collector begins to work harder. What may be
// held at one time is bounded elsewhere, and is less: large bodies in package
// rest (256 MiB), composed large messages in package sending (256 MiB). Without
// it the collector lets the heap grow to twice of that.
const memoryLimit = 704 << 20

// gcPercent lets the heap grow to four times of what lives before it is collected.
// Little lives (some 15 MiB), so that this costs some tens of MiB and saves a
// seventh of the CPU that an accepted message takes.
const gcPercent = 300

// boundMemory sets both, unless the operator has (GOMEMLIMIT, GOGC).
func boundMemory() {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(memoryLimit)
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}
