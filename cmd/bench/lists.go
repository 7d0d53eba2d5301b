package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/seed"
	"github.com/postrider/postrider/runtime/storage/db"
)

// measureLists compares pages of emails over a small and a large table.
func measureLists(ctx context.Context, o options, dir string) ([]result, error) {
	const few = 10_001 // more than a thousand pages
	many := max(few+1, cmp.Or(o.emails, 1_000_000))
	logProgress("starting Postrider to list emails")
	s, err := start(ctx, o, dir, acceptOnly)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	small, err := readLists(ctx, o, s, 0, few)
	if err != nil {
		return nil, err
	}
	large, err := readLists(ctx, o, s, few, many)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-42s %14s %14s\n", "99th percentile", fmt.Sprintf("%d emails", few-1), fmt.Sprintf("%d emails", many))
	var results []result
	for i, query := range client.ListQueries {
		fmt.Printf("%-42s %14s %14s\n", query.Name,
			percentile(slices.Concat(small[i]...), 99), percentile(slices.Concat(large[i]...), 99))
		r := result{name: fmt.Sprintf("%s: %d / %d", query.Name, many, few-1), max: 1.5}
		for round := range small[i] {
			r.rounds = append(r.rounds, percentile(large[i][round], 99).Seconds()/percentile(small[i][round], 99).
				Seconds())
		}
		results = append(results, r)
	}
	return results, nil
}

// readLists grows the table from one size to another and runs each list query. It returns the times by query and round.
func readLists(ctx context.Context, o options, s *server, from, to int) ([][][]time.Duration, error) {
	logProgress("storing %d emails", to-from)
	if err := seed.InsertEmails(ctx, s.db, from, to); err != nil {
		return nil, err
	}
	lists, err := s.openLists(ctx)
	if err != nil {
		return nil, err
	}
	logProgress("reading pages over %d emails, %d rounds", to, o.rounds)
	took := make([][][]time.Duration, len(client.ListQueries))
	for range o.rounds {
		for i, query := range client.ListQueries {
			reads, err := lists.MeasureRound(ctx, query)
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], reads)
		}
	}
	return took, nil
}

// openLists opens the lists of the account's emails, which all belong to one domain.
func (s *server) openLists(ctx context.Context) (client.Lists, error) {
	domainID, err := db.One(ctx, s.db, db.Value[string], `SELECT domain_id FROM emails ORDER BY id LIMIT 1`)
	if err != nil {
		return client.Lists{}, err
	}
	return client.OpenLists(ctx, s.Server, domainID)
}
