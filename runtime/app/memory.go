package app

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/work/node/machine"
)

const (
	// maxGoMemory is where the garbage collector starts to work harder, however much memory there is. The
	// budget (runtime/base/intake) keeps live memory below that; without a limit the collector lets the heap
	// grow to two and a half times the live memory.
	maxGoMemory = 1 << 30
	// minMemory is the smallest process that survives a typical burst of batches (TestDrillMemoryOfSends).
	minMemory = 512 << 20
)

// gcPercent lets the heap grow to two and a half times the live memory before a collection. About 30 MiB are
// live at full load. 300 delivers 3 % more and uses 55 MiB more; 100 saves 5 MiB more and delivers 5 % less
// (docs/performance.md).
const gcPercent = 150

// boundMemory sets both, unless the operator has set them (GOMEMLIMIT, GOGC). Go manages two thirds of the memory of
// the process. The rest is for kernel stacks, files in memory and libcrypto.
func boundMemory(ctx context.Context, log *slog.Logger) {
	memory := machine.Memory()
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		limit := int64(maxGoMemory)
		if memory > 0 {
			limit = min(limit, memory/3*2)
		}
		debug.SetMemoryLimit(limit)
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	log.InfoContext(ctx, "memory", "available", memory, "limit", debug.SetMemoryLimit(-1))
	if memory > 0 && memory < minMemory {
		log.WarnContext(ctx, "less memory than the minimum: a burst of large requests can end the process", "available",
			memory, "minimum", minMemory)
	}
}

// usableMemory returns how much memory the budget may use: that of the process, or less if GOMEMLIMIT is
// lower. 0 means unlimited.
func usableMemory() int64 {
	memory := machine.Memory()
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64/2 && (memory == 0 || limit/2*3 < memory) {
		memory = limit / 2 * 3
	}
	return memory
}

// settleTime is how long the first runs of periodic tasks take after the start, on a slow machine.
const settleTime = 30 * time.Second

// returnMemory returns the memory that only the startup needed to the system: the garbage of migrations, schemas and
// templates, which an idle process would free late, and the pages of the program file, most of which the startup maps.
// It does so again after the first runs of the periodic tasks.
func returnMemory(ctx context.Context, log *slog.Logger) {
	go func() {
		releaseMemory(ctx, log)
		select {
		case <-ctx.Done():
		case <-time.After(settleTime):
			releaseMemory(ctx, log)
		}
	}()
}

func releaseMemory(ctx context.Context, log *slog.Logger) {
	debug.FreeOSMemory()
	if err := releaseProgramPages(); err != nil {
		log.DebugContext(ctx, "pages of the program file were not released", telemetry.KeyError, err)
	}
}
