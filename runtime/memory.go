package runtime

import (
	"os"
	"runtime/debug"
)

// memoryLimit is where the garbage collector begins to work harder. What may be
// held at one time is bounded elsewhere, and is less: large bodies in package
// rest (256 MiB), composed large messages in package sending (256 MiB). Without
// it the collector lets the heap grow to twice of that.
const memoryLimit = 704 << 20

// boundMemory sets the limit, unless the operator has set one (GOMEMLIMIT).
func boundMemory() {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(memoryLimit)
	}
}
