//go:build !linux

package doctor

import "context"

// checkClock is not supported on this system.
func checkClock(context.Context) []Finding {
	return []Finding{subject{"clock", "the clock is synchronized by NTP"}.finding(Skipped,
		"not available on this system", "Check the clock manually.")}
}
