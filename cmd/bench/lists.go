package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/reading"
	"github.com/postrider/postrider/cmd/bench/stored"
)

// The sizes that a page is compared over, and where the deep page is.
const (
	fewEmails, manyEmails = 10_001, 1_000_000
	pageSize, deepPage    = 10, 1_000
	pageReads             = 300 // of one kind of page in one round
)

// pages are the ways to ask that are compared: as the query adds to limit, or as GraphQL adds to first.
var pages = []struct {
	name, filter, graphql string
	deep                  bool
}{
	{name: "page 1"},
	{name: fmt.Sprintf("page %d", deepPage), deep: true},
	{name: "page 1, a word that all have", filter: "&q=receipt"},
	{name: "page 1, a tag that one in 1,000 has", filter: "&tag=rare:yes"},
	{name: "page 1, an address that ten have", filter: "&to=few@example.net"},
	{name: "page 1, a status that one in 1,000 has", filter: "&status=bounced"},
	{name: "page 1, a domain, by its id", filter: "&domain="},
	{name: "page 1, a word that none has", filter: "&q=nothing"},
	{name: "GraphQL: page 1", graphql: "first: 10"},
	{name: fmt.Sprintf("GraphQL: page %d", deepPage), graphql: "first: 10", deep: true},
	{name: "GraphQL: page 1, by status", graphql: `first: 10, filter: {status: BOUNCED}`},
	{name: "GraphQL: page 1, by words", graphql: `first: 10, filter: {query: "receipt"}`},
}

// benchLists compares pages of emails over a small and a large table.
func benchLists(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to list emails")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	most := manyEmails
	if p.emails > fewEmails {
		most = p.emails
	}
	few, err := timePages(ctx, p, server.Ready, 0, fewEmails)
	if err != nil {
		return nil, err
	}
	many, err := timePages(ctx, p, server.Ready, fewEmails, most)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-42s %14s %14s\n", "p99 of a list of emails", "10 thousand", fmt.Sprint(most))
	var out []target
	for i, kind := range pages {
		fmt.Printf("%-42s %14s %14s\n", kind.name, figures.Percentile(slices.Concat(few[i]...), 99), figures.Percentile(slices.Concat(many[i]...), 99))
		t := target{name: fmt.Sprintf("%s: %d / 10 thousand", kind.name, most), most: 1.5}
		for round := range few[i] {
			t.ratios = append(t.ratios, figures.NinetyNinth(many[i][round])/figures.NinetyNinth(few[i][round]))
		}
		out = append(out, t)
	}
	return out, nil
}

// timePages brings the table from one size to another and reads every kind of
// page, in rounds; the answer is by kind and round.
func timePages(ctx context.Context, p plan, r ready, from, to int) ([][][]time.Duration, error) {
	progress("storing %d emails", to-from)
	if err := stored.Emails(ctx, r.DatabaseURL, from, to); err != nil {
		return nil, err
	}
	domain, err := stored.DomainOf(ctx, r.DatabaseURL)
	if err != nil {
		return nil, err
	}
	deep, err := reading.CursorOf(ctx, r.reading(), pageSize, deepPage)
	if err != nil {
		return nil, err
	}
	after, err := reading.GraphQLCursorOf(ctx, r.reading(), pageSize, deepPage)
	if err != nil {
		return nil, err
	}
	progress("reading pages over %d emails, %d rounds", to, p.rounds)
	took := make([][][]time.Duration, len(pages))
	for range p.rounds {
		for i, kind := range pages {
			query, arguments := fmt.Sprintf("?limit=%d%s", pageSize, kind.filter), kind.graphql
			if strings.HasSuffix(query, "domain=") {
				query += domain
			}
			if kind.deep {
				query += "&cursor=" + deep
				arguments += fmt.Sprintf(", after: %q", after)
			}
			reads := make([]time.Duration, 0, pageReads)
			for range pageReads {
				begin := time.Now()
				if kind.graphql != "" {
					_, err = reading.GraphQLPage(ctx, r.reading(), arguments)
				} else {
					_, err = reading.ListPage(ctx, r.reading(), query)
				}
				if err != nil {
					return nil, err
				}
				reads = append(reads, time.Since(begin))
			}
			took[i] = append(took[i], reads)
		}
	}
	return took, nil
}
