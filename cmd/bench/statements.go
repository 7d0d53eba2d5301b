package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/runtime/db"
)

// benchStatements counts what one message costs, accepted, signed and delivered, from 1,
// 16 and 64 clients: statements, commits, the time PostgreSQL plans and executes, what it
// writes ahead, and the processor time of the server process and of PostgreSQL. Needs
// pg_stat_statements, which comes with PostgreSQL's contrib modules.
func benchStatements(ctx context.Context, p plan, dir string) ([]target, error) {
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	progress("starting Postrider twice: PostgreSQL counts statements from its second start on")
	server, err := startCounting(ctx, p.binary, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer server.stop()
	counts, err := newCounter(ctx, server)
	if err != nil {
		return nil, err
	}
	defer counts.close()
	if _, _, err := sendAndWait(ctx, server.Ready, sink, p.messages/10, 16); err != nil { // warm-up
		return nil, err
	}
	alone := target{name: "CPU per message: 1 client / 64 clients", most: 2}
	whole := target{name: "CPU seconds per 1,000 messages, 64 clients", most: 1.5}
	fmt.Printf("%-8s %10s %10s %12s %12s %10s %12s %12s\n", "clients", "calls", "commits", "planning", "executing", "WAL", "CPU server", "CPU Postgres")
	for range p.rounds {
		var cpu [2]time.Duration // of 1 and of 64 clients
		for _, clients := range clientCounts {
			messages := map[int]int{1: p.messages / 5, 16: p.messages, 64: p.messages}[clients]
			cost, err := counts.during(ctx, messages, func() error {
				_, _, err := sendAndWait(ctx, server.Ready, sink, messages, clients)
				return err
			})
			if err != nil {
				return nil, err
			}
			fmt.Printf("%-8d %10.2f %10.2f %9.3f ms %9.3f ms %8.0f B %9.2f ms %9.2f ms\n", clients, cost.calls, cost.commits, cost.planning, cost.executing, cost.wal,
				1000*cost.server, 1000*cost.postgres)
			if total := time.Duration((cost.server + cost.postgres) * float64(time.Second)); clients == 1 {
				cpu[0] = total
				if len(alone.ratios) == 0 {
					if err := counts.top(ctx, fmt.Sprintf("the first %d messages and the warm-up", messages)); err != nil {
						return nil, err
					}
				}
			} else {
				cpu[1] = total
			}
		}
		alone.ratios = append(alone.ratios, float64(cpu[0])/float64(cpu[1]))
		whole.ratios = append(whole.ratios, cpu[1].Seconds()*1000)
	}
	fmt.Println()
	return []target{whole, alone}, nil
}

// startCounting starts the server on a PostgreSQL that counts statements.
func startCounting(ctx context.Context, binary, dir string, env ...string) (*server, error) {
	first, err := start(ctx, binary, dir, env...)
	if err != nil {
		return nil, err
	}
	err = postgres.Exec(ctx, first.Ready.DatabaseURL, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`)
	first.stop()
	if err != nil {
		return nil, fmt.Errorf("let PostgreSQL count statements: %w", err)
	}
	second, err := start(ctx, binary, dir, env...)
	if err != nil {
		return nil, fmt.Errorf("%w (without the contrib modules PostgreSQL does not start with pg_stat_statements)", err)
	}
	for _, statement := range []string{`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`, `ALTER SYSTEM SET pg_stat_statements.track_planning = on`, `SELECT pg_reload_conf()`} {
		if err := postgres.Exec(ctx, second.Ready.DatabaseURL, statement); err != nil {
			second.stop()
			return nil, fmt.Errorf("let PostgreSQL count statements: %w", err)
		}
	}
	return second, nil
}

// counter reads what a server and its PostgreSQL have spent.
type counter struct {
	server *server
	conn   *sql.DB
}

func newCounter(ctx context.Context, s *server) (*counter, error) {
	conn, err := sql.Open("postgres", s.Ready.DatabaseURL)
	if err != nil {
		return nil, err
	}
	conn.SetMaxOpenConns(1)
	return &counter{server: s, conn: conn}, conn.PingContext(ctx)
}

func (c *counter) close() {
	if err := c.conn.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "bench: statements:", err)
	}
}

// spent is in milliseconds, octets and, of processors, seconds.
type spent struct{ calls, commits, planning, executing, wal, server, postgres float64 }

func (c *counter) read(ctx context.Context) (s spent, err error) {
	err = c.conn.QueryRowContext(ctx, `SELECT sum(calls), sum(total_plan_time), sum(total_exec_time), sum(wal_bytes),
		(SELECT sum(xact_commit) FROM pg_stat_database) FROM pg_stat_statements`).Scan(&s.calls, &s.planning, &s.executing, &s.wal, &s.commits)
	pid := c.server.cmd.Process.Pid
	s.server = process.UsageOf(pid).CPU.Seconds()
	s.postgres = process.CPUBelow(pid).Seconds() - s.server
	return s, err
}

func (s spent) since(before spent) spent {
	return spent{s.calls - before.calls, s.commits - before.commits, s.planning - before.planning, s.executing - before.executing, s.wal - before.wal,
		s.server - before.server, s.postgres - before.postgres}
}

func (s spent) per(messages int) spent {
	n := float64(messages)
	return spent{s.calls / n, s.commits / n, s.planning / n, s.executing / n, s.wal / n, s.server / n, s.postgres / n}
}

// settled waits until the outcome of every delivery is stored.
func (c *counter) settled(ctx context.Context) error {
	h := hooks{ready: c.server.Ready, conn: c.conn}
	return h.until(ctx, `SELECT NOT EXISTS (SELECT FROM recipients WHERE settled_at IS NULL)`)
}

// during gives what each of some messages costs that work sends.
func (c *counter) during(ctx context.Context, messages int, work func() error) (spent, error) {
	before, err := c.read(ctx)
	if err != nil {
		return spent{}, err
	}
	if err := work(); err != nil {
		return spent{}, err
	}
	if err := c.settled(ctx); err != nil {
		return spent{}, err
	}
	after, err := c.read(ctx)
	return after.since(before).per(messages), err
}

// top lists the statements that took the most time since the counts began.
func (c *counter) top(ctx context.Context, of string) error {
	const listed = 12
	fmt.Printf("\n  of %s:\n  %8s %8s %12s %12s  statement\n", of, "calls", "plans", "planning", "executing")
	err := db.Each(ctx, c.conn, func(row db.Row) error {
		var calls, plans int64
		var planning, executing float64
		var text string
		err := row.Scan(&calls, &plans, &planning, &executing, &text)
		fmt.Printf("  %8d %8d %9.1f ms %9.1f ms  %s\n", calls, plans, planning, executing, text)
		return err
	}, `SELECT calls, plans, total_plan_time, total_exec_time, left(regexp_replace(query, '\s+', ' ', 'g'), 110)
		FROM pg_stat_statements ORDER BY total_plan_time + total_exec_time DESC LIMIT $1`, listed)
	fmt.Println()
	return err
}
