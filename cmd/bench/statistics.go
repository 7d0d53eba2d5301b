package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/asking"
	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/stored"
)

// benchStatistics asks for a year of an account with ten million emails, by day, over GraphQL. Of 100 answers,
// 99 may take 50 ms.
func benchStatistics(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to count a year of mail")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	emails := p.emails
	if emails == 0 {
		emails = 10_000_000
	}
	progress("storing what statistics keep of %d emails", emails)
	if err := stored.Statistics(ctx, server.Ready.DatabaseURL, emails); err != nil {
		return nil, err
	}
	until := time.Now().UTC().Truncate(24 * time.Hour)
	fmt.Printf("%-46s %10s %10s\n", fmt.Sprintf("statistics of %d emails", emails), "p50", "p99")
	var out []target
	for _, q := range asking.Questions {
		t := target{name: q.Name + ": p99 in ms", most: 50}
		var all []time.Duration
		for round := range p.rounds + 1 {
			took, err := q.Round(ctx, server.Ready.reading(), until)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.Name, err)
			}
			if round == 0 {
				continue // the pages are in memory from here on
			}
			all = append(all, took...)
			t.ratios = append(t.ratios, 1000*figures.NinetyNinth(took))
		}
		fmt.Printf("%-46s %10s %10s\n", q.Name, figures.Percentile(all, 50), figures.Percentile(all, 99))
		out = append(out, t)
	}
	fmt.Println()
	return out, nil
}
