package main

import (
	"context"
	"time"

	"github.com/postrider/postrider/cmd/bench/flood"
	"github.com/postrider/postrider/cmd/bench/process"
)

// benchGuessing measures accepts beside floods of bad log-ins.
func benchGuessing(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to accept mail and to refuse people")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0", "POSTRIDER_TRUSTED_PROXIES=127.0.0.1/32")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	reached, err := flood.Bench{
		URL: server.Ready.APIURL + "/session", Each: p.each, Rounds: p.rounds, Progress: progress,
		CPU: func() time.Duration { return process.UsageOf(server.cmd.Process.Pid).CPU },
		Accepts: func(ctx context.Context, clients int, length time.Duration) (float64, error) {
			rate, _, err := measureAccepts(ctx, server.Ready, clients, length)
			return rate, err
		},
	}.Measure(ctx)
	return []target{
		{name: "accepts beside bad log-ins of one /24", ratios: reached.OneNetwork, least: 0.9},
		{name: "accepts beside bad log-ins of many networks", ratios: reached.ManyNetworks, least: 0.5},
		{name: "percent of all cores for 1,000 refused log-ins/s", ratios: reached.Refusals, most: 10},
	}, err
}
