package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
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
	for _, statement := range fillStatistics(emails) {
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
			t.ratios = append(t.ratios, 1000*ninetyNinth(took))
		}
		fmt.Printf("%-46s %10s %10s\n", q.name, percentile(all, 50), percentile(all, 99))
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
		answer, err := postGraphQL(ctx, r, body)
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
		var got struct {
			Data struct {
				EmailStatistics struct {
					Totals  struct{ Delivered int }
					Buckets []struct{}
				}
			}
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

// postGraphQL gives the answer to a request, which must have no errors.
func postGraphQL(ctx context.Context, r ready, body []byte) (answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.GraphQLURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK || bytes.Contains(answer, []byte(`"errors":`)) {
		return nil, fmt.Errorf("GraphQL answered %d: %.500s", res.StatusCode, answer)
	}
	return answer, nil
}

// fillStatistics gives the statements that write what counting the facts of so many emails over a
// year would: of three domains with two keys each, to a thousand recipients' domains of which few
// have most of the mail, with two tags each.
func fillStatistics(emails int) []string {
	const dims = `domain_id, api_key_id, template_id, automation_id, key`
	const figures = `accepted, recipients, delivered, delayed, bounced, failed, complained, opened, clicked, unsubscribed, suppressed`
	sums := make([]string, 0, 11)
	for figure := range strings.SplitSeq(figures, ", ") {
		sums = append(sums, "sum("+figure+")")
	}
	mail := fmt.Sprintf(`CREATE UNLOGGED TABLE bench_mail AS SELECT date_bin('15 minutes', date_trunc('day', now(), 'UTC') - random() * interval '365 days', timestamptz '2000-01-01 00:00:00Z') AS start,
		floor(random() * 6)::int AS sender, floor(random() * 5)::int AS tag, random() < 0.8 AS prod, floor(1000 * power(random(), 4))::int AS destination,
		floor(20 + 4 * (random() + random() - 1))::int AS bin, (random() < 0.02)::int AS bounced, (random() < 0.3)::int AS opened FROM generate_series(1, %d)`, emails)
	out := []string{mail}
	const account = `(SELECT id FROM accounts ORDER BY id LIMIT 1)`
	kinds := []struct{ senders, key, from string }{
		{``, `''`, ``},
		{`yes`, `''`, ``},
		{`yes`, `t.name`, `, LATERAL (VALUES ('kind=' || tag), (CASE WHEN prod THEN 'env=prod' ELSE 'env=test' END)) t (name)`},
		{`yes`, `'d' || destination || '.example'`, ``},
		{`yes`, `'bad_address'`, ` WHERE bounced = 1`},
	}
	for kind, k := range kinds {
		senders := `'', ''`
		if k.senders != "" {
			senders = `'dom_bench' || sender / 2, 'key_bench' || sender`
		}
		sent := `count(*)`
		if kind == 4 {
			sent = `0`
		}
		out = append(out, fmt.Sprintf(`INSERT INTO statistics (account_id, grain, placed, kind, start, `+dims+`, `+figures+`)
			SELECT %s, 15, 0, %d, start, %s, '', '', %s, %s, %s, count(*) - sum(bounced), 0, sum(bounced), 0, 0, sum(opened), 0, 0, 0 FROM bench_mail%s GROUP BY 5, 6, 7, 10 ORDER BY 5, 6, 7, 10`,
			account, kind, senders, k.key, sent, sent, k.from),
			fmt.Sprintf(`INSERT INTO statistics_latencies (account_id, grain, placed, kind, start, `+dims+`, bin, recipients)
			SELECT %s, 15, 0, %d, start, %s, '', '', %s, bin, count(*) FROM bench_mail%s GROUP BY 5, 6, 7, 10, 11 ORDER BY 5, 6, 7, 10, 11`, account, kind, senders, k.key, strings.ReplaceAll(k.from, "bounced = 1", "false")))
	}
	for _, grain := range []struct {
		of, minutes int
		width       string
	}{{15, 60, `1 hour`}, {60, 1440, `1 day`}} {
		for table, columns := range map[string][2]string{"statistics": {figures, strings.Join(sums, ", ")}, "statistics_latencies": {"bin, recipients", "bin, sum(recipients)"}} {
			groups := `1, 2, 3, 4, 5, 6, 7, 8, 9, 10`
			if table != "statistics" {
				groups += `, 11`
			}
			out = append(out, fmt.Sprintf(`INSERT INTO %s (account_id, grain, placed, kind, start, %s, %s) SELECT account_id, %d, placed, kind, date_bin('%s', start, timestamptz '2000-01-01 00:00:00Z'), %[2]s, %[6]s
				FROM %[1]s WHERE grain = %[7]d GROUP BY %[8]s ORDER BY %[8]s`, table, dims, columns[0], grain.minutes, grain.width, columns[1], grain.of, groups))
		}
	}
	return slices.Concat(out, []string{`DROP TABLE bench_mail`, `VACUUM ANALYZE statistics`, `VACUUM ANALYZE statistics_latencies`})
}
