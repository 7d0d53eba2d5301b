// Package figures says what measurements come to.
package figures

import (
	"slices"
	"time"
)

// Median is the middle of the values, of which there is at least one.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Percentile shows the time that p of 100 did not exceed.
func Percentile(took []time.Duration, p int) string {
	if len(took) == 0 {
		return "-"
	}
	slices.Sort(took)
	return took[min(len(took)-1, len(took)*p/100)].Round(10 * time.Microsecond).String()
}

// NinetyNinth is the time that 99 of 100 did not exceed, in seconds.
func NinetyNinth(took []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*99/100].Seconds()
}
