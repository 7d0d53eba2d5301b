package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/cmd/bench/caller"
	"github.com/postrider/postrider/cmd/bench/events"
	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// benchAutomations measures automations on two servers: one with a million waiting runs, one
// with none.
func benchAutomations(ctx context.Context, p plan, dir string) ([]target, error) {
	pgbench, err := postgres.Find()
	if err != nil {
		return nil, err
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	few, many := filepath.Join(dir, "none"), filepath.Join(dir, "million")
	for _, d := range []string{few, many} {
		if err := os.Mkdir(d, 0o755); err != nil { // PostgreSQL runs as another user when we are root
			return nil, err
		}
	}
	progress("starting two Postriders with automations")
	both, err := startPair(ctx, p, start, few, many, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer both.stop()
	inserts, err := postgres.New(ctx, pgbench, both.few.Ready.DatabaseURL, dir)
	if err != nil {
		return nil, err
	}
	byDatabase := map[string]ready{both.few.Ready.DatabaseURL: both.few.Ready, both.many.Ready.DatabaseURL: both.many.Ready}
	server := func(r ready) events.Server {
		return events.Server{DatabaseURL: r.DatabaseURL, AccountID: r.AccountID, VerifiedDomain: r.VerifiedDomain}
	}
	callers := func(ctx context.Context, s events.Server, event string, n int) (all []*caller.Caller, err error) {
		r := byDatabase[s.DatabaseURL]
		for range n {
			c, err := caller.New(ctx, r.APIURL+"/events", r.APIKey, []byte(event))
			if err != nil {
				caller.CloseAll(all)
				return nil, err
			}
			c.Want = http.StatusAccepted
			all = append(all, c)
		}
		return all, nil
	}
	reached, err := events.Bench{
		Each: p.each, Rounds: p.rounds, Messages: p.messages, Few: server(both.few.Ready), Many: server(both.many.Ready), Progress: progress, Inserts: inserts.Run,
		Accepts: func(ctx context.Context, clients int, length time.Duration) (float64, error) {
			rate, _, err := measureAccepts(ctx, both.few.Ready, clients, length)
			return rate, err
		},
		Post: func(ctx context.Context, s events.Server, path string, body []byte) ([]byte, error) {
			if path != "/events" {
				return postTo(ctx, http.DefaultClient, byDatabase[s.DatabaseURL], path, body)
			}
			one, err := callers(ctx, s, string(body), 1)
			if err != nil {
				return nil, err
			}
			defer caller.CloseAll(one)
			return nil, one[0].Post()
		},
		Events: func(ctx context.Context, s events.Server, event string, clients int, length time.Duration) (float64, []time.Duration, error) {
			return measurePosts(ctx, length, func(ctx context.Context) ([]*caller.Caller, error) { return callers(ctx, s, event, clients) })
		},
	}.Measure(ctx)
	var out []target
	for _, r := range reached {
		out = append(out, target{name: r.Name, ratios: r.Reached, least: r.Least, most: r.Most})
	}
	return out, err
}
