package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what Linux says of a process; on other systems it is not known.
type usage struct {
	known   bool
	cpu     time.Duration // user and system, of all threads
	peakRSS int64         // octets
}

// clockTick is USER_HZ, which Linux keeps at 100 for all who read /proc.
const clockTick = time.Second / 100

func usageOf(pid int) usage {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}
	}
	// proc(5): the name in brackets may hold anything; utime and stime are the 12th
	// and 13th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return usage{}
	}
	var u usage
	for _, ticks := range fields[11:13] {
		n, err := strconv.ParseInt(ticks, 10, 64)
		if err != nil {
			return usage{}
		}
		u.cpu += time.Duration(n) * clockTick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			if err != nil {
				return usage{}
			}
			u.peakRSS, u.known = kib<<10, true
		}
	}
	return u
}

// String is the peak for people.
func (u usage) String() string {
	if !u.known {
		return "not known on this system"
	}
	return fmt.Sprintf("%d MiB", u.peakRSS>>20)
}
