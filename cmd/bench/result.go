package main

import (
	"fmt"
	"slices"
	"time"
)

// result is a measured value with its target.
type result struct {
	name   string
	rounds []float64 // value of each round
	min    float64   // 0: no lower bound
	max    float64   // 0: no upper bound
}

func printResults(results []result) {
	fmt.Printf("\n%-50s %8s %8s   %s\n", "result (median of the rounds)", "value", "target", "rounds")
	for _, r := range results {
		target := "-"
		switch {
		case r.min > 0:
			target = fmt.Sprintf("≥ %.2f", r.min)
		case r.max > 0:
			target = fmt.Sprintf("≤ %.2f", r.max)
		}
		fmt.Printf("%-50s %8.2f %8s   %.2f\n", r.name, median(r.rounds), target, r.rounds)
	}
}

// median returns the median of at least one value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// percentile returns a percentile of at least one time, from 0 to 100.
func percentile(took []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)].Round(10 * time.Microsecond)
}
