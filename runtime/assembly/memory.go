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

// gcPercent lets the heap grow to two and a half times of what lives before it is collected.
// Some 30 MiB live at full load. 300 delivers three in a hundred more and takes 55 MiB more; 100 saves
// 5 MiB more and loses five in a hundred (docs/performance.md).
const gcPercent = 150

// boundMemory sets both, unless the operator has (GOMEMLIMIT, GOGC).
func boundMemory() {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(memoryLimit)
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}
