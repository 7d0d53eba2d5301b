package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/cmd/bench/reading"
	"github.com/postrider/postrider/cmd/bench/stored"
)

// countedEmails is how many emails the statistics of the account have, over a year.
const countedEmails = 10_000_000

// statisticsReads is how often each question is asked in one round.
const statisticsReads = 60

// statisticsMost is how long an answer may take, 99 of 100.
const statisticsMost = 50 * time.Millisecond

// yearQuestions are asked of a year by day: what is added to the arguments.
var yearQuestions = []struct{ name, arguments, more string }{
	{"a year by day", ``, ``},
	{"a year by day, with latencies", ``, ` latency { p50 p95 }`},
	{"by domain", `, groupBy: DOMAIN`, ``},
	{"by recipients' domain (1,000 of them)", `, groupBy: RECIPIENT_DOMAIN`, ``},
	{"by tag", `, groupBy: TAG`, ``},
	{"of one domain", `, filter: {domainId: "dom_bench1"}`, ``},
	{"of one domain, by tag", `, groupBy: TAG, filter: {domainId: "dom_bench1"}`, ``},
	{"of one recipients' domain", `, filter: {recipientDomain: "d7.example"}`, ``},
	{"in a zone of half hours (Asia/Kolkata)", `, timezone: "Asia/Kolkata"`, ``},
	{"the same by domain", `, timezone: "Asia/Kolkata", groupBy: DOMAIN`, ``},
	{"the same by recipients' domain", `, timezone: "Asia/Kolkata", groupBy: RECIPIENT_DOMAIN`, ``},
	{"the same by tag", `, timezone: "Asia/Kolkata", groupBy: TAG`, ``},
	{"in a zone of whole hours (Europe/Vienna)", `, timezone: "Europe/Vienna"`, ``},
	{"the same by recipients' domain", `, timezone: "Europe/Vienna", groupBy: RECIPIENT_DOMAIN`, ``},
}

// benchStatistics asks for a year of an account with ten million emails, by day, over GraphQL.
func benchStatistics(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to count a year of mail")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	emails := p.emails
	if emails == 0 {
		emails = countedEmails
	}
	progress("storing what statistics keep of %d emails", emails)
	for _, statement := range stored.Statistics(emails) {
		if err := postgres.Exec(ctx, server.Ready.DatabaseURL, statement); err != nil {
			return nil, err
		}
	}
	until := time.Now().UTC().Truncate(24 * time.Hour)
	fmt.Printf("%-46s %10s %10s\n", fmt.Sprintf("statistics of %d emails", emails), "p50", "p99")
	var out []target
	for _, q := range yearQuestions {
		t := target{name: q.name + ": p99 in ms", most: float64(statisticsMost.Milliseconds())}
		text := fmt.Sprintf(`{ emailStatistics(range: {gte: %q, lt: %q}%s) { totals { %[4]s } buckets { start figures { %[4]s } } groups { key label totals { %[4]s } buckets { start figures { accepted delivered } } } } }`,
			until.AddDate(-1, 0, 0).Format(time.RFC3339), until.Format(time.RFC3339), q.arguments, `accepted recipients delivered bounced opened deliveryRate { numerator denominator }`+q.more)
		var all []time.Duration
		for round := range p.rounds + 1 {
			took, err := askStatistics(ctx, server.Ready, text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.name, err)
			}
			if round == 0 {
				continue // the pages are in memory from here on
			}
			all = append(all, took...)
			t.ratios = append(t.ratios, 1000*figures.NinetyNinth(took))
		}
		fmt.Printf("%-46s %10s %10s\n", q.name, figures.Percentile(all, 50), figures.Percentile(all, 99))
		out = append(out, t)
	}
	fmt.Println()
	return out, nil
}

func askStatistics(ctx context.Context, r ready, text string) (took []time.Duration, err error) {
	body, err := json.Marshal(map[string]string{"query": text})
	if err != nil {
		return nil, err
	}
	for range statisticsReads {
		begin := time.Now()
		answer, err := reading.Post(ctx, r.reading(), body)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
		var got struct {
			Data struct {
				EmailStatistics struct {
					Totals struct {
						Delivered int `json:"delivered"`
					} `json:"totals"`
					Buckets []struct{} `json:"buckets"`
				} `json:"emailStatistics"`
			} `json:"data"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return nil, err
		}
		if s := got.Data.EmailStatistics; len(s.Buckets) < 365 || s.Totals.Delivered == 0 {
			return nil, fmt.Errorf("the answer has %d days and %d delivered emails: %.300s", len(s.Buckets), s.Totals.Delivered, answer)
		}
	}
	return took, nil
}
