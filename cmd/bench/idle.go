package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/process"
)

const (
	idleSettle = 15 * time.Second // after the start: what begins then has ended
	idleLength = 30 * time.Second
)

// benchIdle measures what a server with nothing to do costs: processor time of the server
// process and of PostgreSQL in hundredths of a core, and statements a second.
func benchIdle(ctx context.Context, p plan, dir string) ([]target, error) {
	t := target{name: "percent of a core when idle, with PostgreSQL", most: 0.5}
	progress("starting Postrider with nothing to do, for %s", idleSettle+time.Duration(p.rounds)*idleLength)
	server, err := startCounting(ctx, p.binary, dir)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	counts, err := newCounter(ctx, server)
	if err != nil {
		return nil, err
	}
	defer counts.close()
	if err := sleep(ctx, idleSettle); err != nil {
		return nil, err
	}
	fmt.Printf("%-44s %10s %12s %14s\n", "idle", "server", "PostgreSQL", "statements/s")
	for range p.rounds {
		before, err := counts.read(ctx)
		if err != nil {
			return nil, err
		}
		if err := sleep(ctx, idleLength); err != nil {
			return nil, err
		}
		after, err := counts.read(ctx)
		if err != nil {
			return nil, err
		}
		cost, seconds := after.since(before), idleLength.Seconds()
		fmt.Printf("%-44s %8.2f %% %10.2f %% %14.1f\n", "", 100*cost.server/seconds, 100*cost.postgres/seconds, cost.calls/seconds)
		t.ratios = append(t.ratios, 100*(cost.server+cost.postgres)/seconds)
	}
	if err := counts.top(ctx, 0); err != nil {
		return nil, err
	}
	fmt.Printf("%-44s %10s\n\n", "peak memory of the server process", process.UsageOf(server.cmd.Process.Pid))
	return []target{t}, nil
}

func sleep(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
