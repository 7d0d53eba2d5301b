// Package process tells what processes need: processor time and memory, as Linux counts it,
// and the end of their logs.
package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what Linux says of a process; on other systems it is not known.
type Usage struct {
	Known   bool
	CPU     time.Duration // user and system, of all threads
	PeakRSS int64         // octets
	FileRSS int64         // of them, now: pages of files, as the program itself, which others share and the kernel may drop
}

// clockTick is USER_HZ, which Linux keeps at 100 for all who read /proc.
const clockTick = time.Second / 100

// UsageOf reads /proc.
func UsageOf(pid int) Usage {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}
	}
	// proc(5): the name in brackets may hold anything; utime and stime are the 12th
	// and 13th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return Usage{}
	}
	var u Usage
	if u.CPU, err = sumTicks(fields[11:13]); err != nil {
		return Usage{}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Usage{}
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmHWM": &u.PeakRSS, "RssFile": &u.FileRSS}[name]
		if into == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		if err != nil {
			return Usage{}
		}
		*into, u.Known = kib<<10, true
	}
	return u
}

// String is the peak for people, and what of it is the program's file.
func (u Usage) String() string {
	if !u.Known {
		return "not known on this system"
	}
	return fmt.Sprintf("%d MiB (%d of files)", u.PeakRSS>>20, u.FileRSS>>20)
}

// sumTicks adds up fields of /proc that count clock ticks.
func sumTicks(fields []string) (sum time.Duration, err error) {
	for _, ticks := range fields {
		n, err := strconv.ParseInt(ticks, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * clockTick
	}
	return sum, nil
}

// CPUBelow is the CPU time of a process and of all below it, those that have ended
// included.
func CPUBelow(root int) time.Duration {
	type process struct {
		parent int
		cpu    time.Duration
	}
	all := map[int]process{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // ended meanwhile
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		cpu, err := sumTicks(fields[11:15]) // of its own, and of children that it has waited for
		if err != nil {
			continue
		}
		all[pid] = process{parent, cpu}
	}
	var sum time.Duration
	for pid := range all {
		for at := pid; at > 1; at = all[at].parent {
			if at == root {
				sum += all[pid].cpu
				break
			}
		}
	}
	return sum
}

// Tail returns the end of a log, or why it cannot be read.
func Tail(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}
