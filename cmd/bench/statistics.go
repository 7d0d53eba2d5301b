package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/seed"
)

// measureStatistics runs GraphQL queries over a year of statistics.
func measureStatistics(ctx context.Context, o options, dir string) ([]result, error) {
	emails := cmp.Or(o.emails, 10_000_000)
	logProgress("starting Postrider to query statistics")
	s, err := start(ctx, o, dir, acceptOnly)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	logProgress("storing the statistics of %d emails", emails)
	if err := seed.InsertStatistics(ctx, s.DatabaseURL, emails); err != nil {
		return nil, err
	}
	until := time.Now().UTC().Truncate(24 * time.Hour)
	fmt.Printf("%-46s %10s %10s\n", fmt.Sprintf("a year of %d emails by day", emails), "p50", "p99")
	var results []result
	for _, query := range client.StatisticsQueries {
		r := result{name: query.Name + ": p99 (ms)", max: 50}
		var all []time.Duration
		for round := range o.rounds + 1 {
			took, err := query.MeasureRound(ctx, s.Server, until)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", query.Name, err)
			}
			if round == 0 {
				continue // warm-up
			}
			all = append(all, took...)
			r.rounds = append(r.rounds, 1000*percentile(took, 99).Seconds())
		}
		fmt.Printf("%-46s %10s %10s\n", query.Name, percentile(all, 50), percentile(all, 99))
		results = append(results, r)
	}
	fmt.Println()
	return results, nil
}
