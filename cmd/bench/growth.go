package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/cmd/bench/seed"
	"github.com/postrider/postrider/runtime/storage/db"
)

// grown is a server with stored emails, and its measurements by round.
type grown struct {
	*server
	lists    client.Lists
	emails   int
	sending  []measured
	webhooks []float64           // deliveries per second
	reads    [][][]time.Duration // by list query and round
}

// measureGrowth compares a server that has stored 100,000 emails with one that has stored many: the cost of sending,
// the rate of webhooks, and lists, filters and searches.
func measureGrowth(ctx context.Context, o options, dir string) ([]result, error) {
	const few = 100_000
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	sink.Record()
	receiver, err := receivers.NewWebhook(ctx)
	if err != nil {
		return nil, err
	}
	defer receiver.Close()
	both := [2]*grown{{emails: few}, {emails: max(few, cmp.Or(o.emails, 10_000_000))}}
	for i, g := range both {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o755); err != nil { // for root, PostgreSQL runs as another user
			return nil, err
		}
		if g.server, err = startCounting(ctx, o, folder, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr()); err != nil {
			return nil, err
		}
		defer g.stop()
		if err := g.grow(ctx, receiver.URL()); err != nil {
			return nil, err
		}
	}
	for round := range o.rounds + 1 {
		for _, g := range both {
			logProgress("round %d of %d, %d emails", round, o.rounds, g.emails)
			if err := g.measureRound(ctx, o, sink, receiver); err != nil {
				return nil, err
			}
			if round == 0 { // warm-up
				g.sending, g.webhooks, g.reads = nil, nil, make([][][]time.Duration, len(client.ListQueries))
			}
		}
	}
	return compareGrown(both[0], both[1]), nil
}

// grow stores the emails and creates webhook endpoints.
func (g *grown) grow(ctx context.Context, url string) error {
	begin := time.Now()
	err := seed.InsertHistory(ctx, g.db, g.emails, func(done int) {
		if done%1_000_000 == 0 || done == g.emails {
			logProgress("stored %d of %d emails, %s", done, g.emails, time.Since(begin).Round(time.Second))
		}
	})
	if err != nil {
		return err
	}
	if _, err := g.db.ExecContext(ctx, `CHECKPOINT`); err != nil { // or it would run while emails are sent
		return err
	}
	fmt.Printf("\n%-24s %14s %14s   of %d emails\n", "table", "bytes an email", "of which table", g.emails)
	err = db.Each(ctx, g.db, func(row db.Row) error {
		var table string
		var size, heap float64
		err := row.Scan(&table, &size, &heap)
		fmt.Printf("%-24s %14.0f %14.0f\n", table, size/float64(g.emails), heap/float64(g.emails))
		return err
	}, `SELECT relname, pg_total_relation_size(relid), pg_table_size(relid) FROM pg_stat_user_tables
		WHERE relname IN ('emails', 'recipients', 'attempts', 'facts', 'webhook_deliveries') ORDER BY 1`)
	if err != nil {
		return err
	}
	if err := g.createEndpoints(ctx, url); err != nil {
		return err
	}
	g.reads = make([][][]time.Duration, len(client.ListQueries))
	g.lists, err = g.openLists(ctx)
	return err
}

// measureRound measures sending with 16 clients, webhooks and each list query.
func (g *grown) measureRound(
	ctx context.Context, o options, sink *receivers.Sink, receiver *receivers.Webhook,
) error {
	sent, err := postAndMeasure(ctx, g.server, sink, o.messages, 16)
	if err != nil {
		return err
	}
	rate, err := deliverWebhooks(ctx, g.server, receiver, o.messages, seed.InsertEvents)
	if err != nil {
		return err
	}
	g.sending, g.webhooks = append(g.sending, sent), append(g.webhooks, rate)
	for i, query := range client.ListQueries {
		reads, err := g.lists.MeasureRound(ctx, query)
		if err != nil {
			return err
		}
		g.reads[i] = append(g.reads[i], reads)
	}
	return nil
}

// compareGrown prints what was measured of both servers, and returns the ratios.
func compareGrown(small, large *grown) []result {
	var results []result
	fmt.Printf("\n%-42s %14s %14s\n", "median of the rounds", fmt.Sprint(small.emails), fmt.Sprint(large.emails))
	compare := func(name, unit string, limits result, value func(g *grown, round int) float64) {
		r := result{name: name + ", large / small", min: limits.min, max: limits.max}
		var each [2][]float64
		for round := range small.sending {
			of := [2]float64{value(small, round), value(large, round)}
			each[0], each[1] = append(each[0], of[0]), append(each[1], of[1])
			r.rounds = append(r.rounds, of[1]/of[0])
		}
		fmt.Printf("%-42s %11.2f %-2s %11.2f %s\n", name, median(each[0]), unit, median(each[1]), unit)
		results = append(results, r)
	}
	compare("CPU of an email", "ms", result{max: 1.2}, func(g *grown, round int) float64 {
		return 1000 * (g.sending[round].cost.server + g.sending[round].cost.postgres)
	})
	compare("of which PostgreSQL", "ms", result{}, func(g *grown, round int) float64 {
		return 1000 * g.sending[round].cost.postgres
	})
	compare("WAL of an email", "B", result{max: 1.2}, func(g *grown, round int) float64 {
		return g.sending[round].cost.wal
	})
	compare("emails", "/s", result{min: 0.8}, func(g *grown, round int) float64 { return g.sending[round].perSecond })
	compare("latency p99", "ms", result{max: 1.5}, func(g *grown, round int) float64 {
		return 1000 * g.sending[round].p99.Seconds()
	})
	compare("webhook deliveries", "/s", result{min: 0.8}, func(g *grown, round int) float64 { return g.webhooks[round] })
	for i, query := range client.ListQueries {
		compare(query.Name+", p99", "ms", result{max: 1.5}, func(g *grown, round int) float64 {
			return 1000 * percentile(g.reads[i][round], 99).Seconds()
		})
	}
	return results
}
