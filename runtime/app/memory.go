package app

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/postrider/postrider/runtime/work/node/machine"
)

const (
	// mostMemory is where the garbage collector begins to work harder, however much memory there is. The
	// budget (runtime/base/intake) lets less live at one time; without a limit the collector lets the heap grow to
	// two and a half times of that.
	mostMemory = 1 << 30
	// leastMemory is the smallest process that stands an ordinary burst of batches (TestDrillMemory).
	leastMemory = 512 << 20
)

// gcPercent lets the heap grow to two and a half times of what lives before it is collected.
// Some 30 MiB live at full load. 300 delivers three in a hundred more and takes 55 MiB more; 100 saves
// 5 MiB more and loses five in a hundred (docs/performance.md).
const gcPercent = 150

// boundMemory sets both, unless the operator has (GOMEMLIMIT, GOGC). Two thirds of the memory of the
// process are for what Go manages. The rest is for stacks of the kernel, files in memory and libcrypto.
func boundMemory(ctx context.Context, log *slog.Logger) {
	memory := machine.Memory()
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		limit := int64(mostMemory)
		if memory > 0 {
			limit = min(limit, memory/3*2)
		}
		debug.SetMemoryLimit(limit)
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	log.InfoContext(ctx, "memory", "available", memory, "limit", debug.SetMemoryLimit(-1))
	if memory > 0 && memory < leastMemory {
		log.WarnContext(ctx, "less memory than the minimum: a burst of large requests can end the process", "available", memory, "minimum", leastMemory)
	}
}

// usableMemory returns how much memory the budget may count on: that of the process, or less where
// GOMEMLIMIT says so. 0: as much as it wants.
func usableMemory() int64 {
	memory := machine.Memory()
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64/2 && (memory == 0 || limit/2*3 < memory) {
		memory = limit / 2 * 3
	}
	return memory
}

// returnMemory returns the memory of the start back to the system: migrations, the schema and the
// templates take some 40 MiB that nothing needs any more, and the first collection of an idle process
// comes late.
func returnMemory() { go debug.FreeOSMemory() }
