package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/machine"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/runtime/storage/db"
)

// measureStatements measures the cost of a message that is accepted, signed and delivered, with 1, 16 and 64 clients.
func measureStatements(ctx context.Context, o options, dir string) ([]result, error) {
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	s, err := startCounting(ctx, o, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if _, _, err := sendAndWait(ctx, s, sink, o.messages/10, 16); err != nil { // warm-up
		return nil, err
	}
	total := result{name: "CPU seconds per 1,000 messages, 64 clients", max: 1.5}
	ratio := result{name: "CPU per message: 1 client / 64 clients", max: 2}
	fmt.Printf("%-8s %10s %10s %12s %12s %10s %12s %12s\n",
		"clients", "statements", "commits", "planning", "execution", "WAL", "CPU server", "CPU Postgres")
	for round := range o.rounds {
		cpu := map[int]float64{} // seconds per message, by clients
		for _, clients := range clientCounts {
			messages := map[int]int{1: o.messages / 5, 16: o.messages, 64: o.messages}[clients]
			c, err := sendAndMeasureCost(ctx, s, sink, messages, clients)
			if err != nil {
				return nil, err
			}
			fmt.Printf("%-8d %10.2f %10.2f %9.3f ms %9.3f ms %8.0f B %9.2f ms %9.2f ms\n", clients,
				c.statements, c.commits, c.planning, c.execution, c.wal, 1000*c.server, 1000*c.postgres)
			cpu[clients] = c.server + c.postgres
			if round == 0 && clients == 1 {
				if err := s.printTopStatements(ctx,
					fmt.Sprintf("the warm-up and the first %d messages", messages)); err != nil {
					return nil, err
				}
			}
		}
		total.rounds, ratio.rounds = append(total.rounds, 1000*cpu[64]), append(ratio.rounds, cpu[1]/cpu[64])
	}
	fmt.Println()
	return []result{total, ratio}, nil
}

const (
	idleSettle = 15 * time.Second // until the startup work is finished
	idleLength = 30 * time.Second
)

// measureIdle measures the CPU time of an idle server and its PostgreSQL in percent of a core.
func measureIdle(ctx context.Context, o options, dir string) ([]result, error) {
	r := result{name: "percent of a core when idle, with PostgreSQL", max: 0.5}
	s, err := startCounting(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	logProgress("waiting for %s", idleSettle+time.Duration(o.rounds)*idleLength)
	if err := waitFor(ctx, time.After(idleSettle)); err != nil {
		return nil, err
	}
	fmt.Printf("%-20s %12s %14s\n", "CPU of the server", "PostgreSQL", "statements/s")
	for range o.rounds {
		before, err := s.readCost(ctx)
		if err != nil {
			return nil, err
		}
		if err := waitFor(ctx, time.After(idleLength)); err != nil {
			return nil, err
		}
		after, err := s.readCost(ctx)
		if err != nil {
			return nil, err
		}
		c := after.since(before).divide(idleLength.Seconds())
		fmt.Printf("%18.2f %% %10.2f %% %14.1f\n", 100*c.server, 100*c.postgres, c.statements)
		r.rounds = append(r.rounds, 100*(c.server+c.postgres))
	}
	if err := s.printTopStatements(ctx, "the idle time"); err != nil {
		return nil, err
	}
	s.printPeakMemory()
	return []result{r}, nil
}

// cost contains the resources that a server and its PostgreSQL have used: planning and execution in
// milliseconds, WAL in bytes, the CPU time of both in seconds.
type cost struct{ statements, commits, planning, execution, wal, server, postgres float64 }

// readCost reads the cost since the server started. The server must be started with startCounting.
func (s *server) readCost(ctx context.Context) (c cost, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT sum(calls), sum(total_plan_time), sum(total_exec_time), sum(wal_bytes),
		(SELECT sum(xact_commit) FROM pg_stat_database) FROM pg_stat_statements`).Scan(&c.statements, &c.planning, &c.execution, &c.wal, &c.commits)
	c.server = machine.ReadUsage(s.pid()).CPU.Seconds()
	c.postgres = machine.ReadTreeCPU(s.pid()).Seconds() - c.server
	return c, err
}

func (c cost) since(before cost) cost {
	return cost{c.statements - before.statements, c.commits - before.commits, c.planning - before.planning,
		c.execution - before.execution, c.wal - before.wal, c.server - before.server, c.postgres - before.postgres}
}

func (c cost) divide(n float64) cost {
	return cost{c.statements / n, c.commits / n, c.planning / n, c.execution / n, c.wal / n, c.server / n,
		c.postgres / n}
}

// sendAndMeasureCost sends messages, waits until their outcomes are stored, and returns the cost of a message.
func sendAndMeasureCost(ctx context.Context, s *server, sink *receivers.Sink, messages, clients int) (cost, error) {
	before, err := s.readCost(ctx)
	if err != nil {
		return cost{}, err
	}
	if _, _, err := sendAndWait(ctx, s, sink, messages, clients); err != nil {
		return cost{}, err
	}
	if err := s.waitSettled(ctx); err != nil {
		return cost{}, err
	}
	after, err := s.readCost(ctx)
	return after.since(before).divide(float64(messages)), err
}

// printTopStatements prints the statements that took the most time since the last reset of pg_stat_statements.
func (s *server) printTopStatements(ctx context.Context, period string) error {
	const limit = 12
	fmt.Printf("\n  Statements of %s:\n  %8s %8s %12s %12s  statement\n", period, "calls", "plans", "planning",
		"execution")
	err := db.Each(ctx, s.db, func(row db.Row) error {
		var calls, plans int64
		var planning, execution float64
		var text string
		err := row.Scan(&calls, &plans, &planning, &execution, &text)
		fmt.Printf("  %8d %8d %9.1f ms %9.1f ms  %s\n", calls, plans, planning, execution, text)
		return err
	}, `SELECT calls, plans, total_plan_time, total_exec_time, left(regexp_replace(query, '\s+', ' ', 'g'), 110)
		FROM pg_stat_statements ORDER BY total_plan_time + total_exec_time DESC LIMIT $1`, limit)
	fmt.Println()
	return err
}
