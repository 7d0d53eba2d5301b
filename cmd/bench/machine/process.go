package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is the resource usage of a process. It is available only on Linux.
type Usage struct {
	Known   bool
	CPU     time.Duration // user and system time of all threads
	PeakRSS int64         // bytes
	FileRSS int64         // bytes now used by pages of files, such as the program, which the kernel can share and drop
}

// clockTick is USER_HZ, which is always 100 in /proc.
const clockTick = time.Second / 100

// ReadUsage reads the usage of a process from /proc.
func ReadUsage(pid int) Usage {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Usage{}
	}
	// proc(5): utime and stime are the 12th and 13th field after the name, which is in parentheses and can contain any
	// character.
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

// String returns the peak memory and the pages of files in it.
func (u Usage) String() string {
	if !u.Known {
		return "unknown on this system"
	}
	return fmt.Sprintf("%d MiB (%d of files)", u.PeakRSS>>20, u.FileRSS>>20)
}

// sumTicks adds up fields of /proc that are in clock ticks.
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

// ReadTreeCPU returns the CPU time of a process and all its descendants, including those that have exited.
func ReadTreeCPU(root int) time.Duration {
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
			continue // exited in the meantime
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		cpu, err := sumTicks(fields[11:15]) // its own, and those of exited children
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

// ReadTail returns the end of a log file, or the error from reading it.
func ReadTail(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}
