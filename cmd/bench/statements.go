package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/cmd/bench/caller"
	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/runtime/storage/db"
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

// In the part "processes", so many share a database while mail is sent, and while nothing is.
const (
	mostProcesses = 3
	atRest        = 7
)

// benchProcesses tells what a message costs, and what nothing costs, when one, two and three
// processes share a database: on one machine that says where the cost grows, not how fast many
// machines are. By what one more process that has nothing to do costs the database it reckons how
// many of them take 5 % of a core.
func benchProcesses(ctx context.Context, p plan, dir string) ([]target, error) {
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	progress("starting Postrider, which does nothing at first")
	env := []string{"POSTRIDER_OUTBOUND=smtp://" + sink.Addr(), "POSTRIDER_DATABASE_CONNECTIONS=12"} // all have room in the embedded server's 100
	first, err := startCounting(ctx, p.binary, dir, append(env, "POSTRIDER_NODE=node-1")...)
	if err != nil {
		return nil, err
	}
	defer first.stop()
	counts, err := newCounter(ctx, first)
	if err != nil {
		return nil, err
	}
	defer counts.close()
	for _, statement := range []string{`ALTER SYSTEM SET autovacuum = off`, `SELECT pg_reload_conf()`} { // it comes when it likes, and costs more than polling
		if err := postgres.Exec(ctx, first.Ready.DatabaseURL, statement); err != nil {
			return nil, err
		}
	}
	all := []*server{first}
	defer func() {
		for _, more := range all[1:] {
			more.stop()
		}
	}()
	one, err := counts.atRest(ctx)
	if err != nil {
		return nil, err
	}
	progress("starting %d more", atRest-1)
	for n := 2; n <= atRest; n++ {
		more, err := first.beside(ctx, p.binary, dir, n, env...)
		if err != nil {
			return nil, err
		}
		all = append(all, more)
	}
	many, err := counts.atRest(ctx)
	if err != nil {
		return nil, err
	}
	each := many.since(one).per(atRest - 1)
	fmt.Printf("%-46s %8.2f\n%-46s %8.3f %%\n%-46s %8.0f\n\n", "one more process at rest: statements a second", each.calls, "of a core of PostgreSQL", 100*each.postgres,
		"processes at rest that take 5 % of a core", 0.05/each.postgres)
	return counts.byProcesses(ctx, p, &all, sink)
}

// byProcesses sends through three processes, then two, then one.
func (c *counter) byProcesses(ctx context.Context, p plan, all *[]*server, sink *receivers.Sink) ([]target, error) {
	var whole [mostProcesses]float64
	fmt.Printf("%-10s %10s %10s %12s %10s %12s %12s\n", "processes", "calls", "commits", "executing", "WAL", "CPU servers", "CPU Postgres")
	for n := mostProcesses; n > 0; n-- {
		for len(*all) > n {
			last := len(*all) - 1
			(*all)[last].stop()
			*all = (*all)[:last]
		}
		c.others = nil
		for _, other := range (*all)[1:] {
			c.others = append(c.others, other.cmd.Process.Pid)
		}
		var cost spent
		for i := range p.rounds + 1 { // the first one warms up
			spent, err := c.during(ctx, p.messages, func() error { return sendByTurns(ctx, *all, sink, p.messages) })
			if err != nil {
				return nil, err
			}
			if i > 0 {
				cost = cost.plus(spent.per(p.rounds))
			}
		}
		whole[n-1] = cost.server + cost.postgres
		fmt.Printf("%-10d %10.2f %10.2f %9.3f ms %8.0f B %9.2f ms %9.2f ms\n", n, cost.calls, cost.commits, cost.executing, cost.wal, 1000*cost.server, 1000*cost.postgres)
	}
	fmt.Println()
	return []target{{name: "CPU per message: 3 processes / 1", ratios: []float64{whole[mostProcesses-1] / whole[0]}}}, nil
}

// beside is another process on the same database, with the same keys.
func (s *server) beside(ctx context.Context, binary, dir string, number int, env ...string) (*server, error) {
	own := filepath.Join(dir, fmt.Sprintf("node-%d", number))
	if err := os.Mkdir(own, 0o755); err != nil { // PostgreSQL runs as another user when we are root
		return nil, err
	}
	return start(ctx, binary, own, append(env, "DATABASE_URL="+s.Ready.DatabaseURL, fmt.Sprintf("POSTRIDER_NODE=node-%d", number), "POSTRIDER_DATA_DIR="+filepath.Join(dir, "data"),
		"POSTRIDER_INBOUND_ADDR=127.0.0.1:0")...)
}

// sendByTurns has 48 clients send through all servers alike.
func sendByTurns(ctx context.Context, all []*server, sink *receivers.Sink, messages int) error {
	const clients = 48
	var callers []*caller.Caller
	defer func() { caller.CloseAll(callers) }()
	for _, s := range all {
		some, err := newCallers(ctx, s.Ready, clients/len(all))
		if err != nil {
			return err
		}
		callers = append(callers, some...)
	}
	_, _, err := callAndWait(ctx, callers, sink, messages)
	return err
}

// atRest gives what a second of nothing costs.
func (c *counter) atRest(ctx context.Context) (spent, error) {
	if err := sleep(ctx, idleSettle); err != nil {
		return spent{}, err
	}
	before, err := c.read(ctx)
	if err != nil {
		return spent{}, err
	}
	if err := sleep(ctx, idleLength); err != nil {
		return spent{}, err
	}
	after, err := c.read(ctx)
	return after.since(before).per(int(idleLength.Seconds())), err
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
	others []int // process ids of more servers on the same PostgreSQL
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
	for _, other := range c.others {
		s.server += process.UsageOf(other).CPU.Seconds()
	}
	return s, err
}

func (s spent) plus(t spent) spent { return s.since(spent{}.since(t)) }

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
