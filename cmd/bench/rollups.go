package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// watchers are modules that only look on: with the share of the processor time of a message
// that each may take, and how the statements are found that only it makes.
var watchers = []struct {
	module     string
	most       float64
	statements string
}{
	{"statistics", 0.03, `statistics`},
	{"apilog", 0.02, `api_requests`},
}

const rollupClients = 64

// watchedServer is a server that all modules are in, or all but one, and what it has spent.
type watchedServer struct {
	without string // empty: all are in
	server  *server
	counts  *counter
	before  spent
	idle    float64   // CPU seconds in a second
	cpu     []float64 // CPU seconds for 1,000 messages, by round
}

// benchRollups measures the processor time that modules take of a message which only look on:
// servers with all modules and with all but one send by turns. They run beside one another for
// the whole of a round, which ends when statistics have counted what was sent; what a server
// takes that has nothing to do is taken off.
func benchRollups(ctx context.Context, p plan, dir string) ([]target, error) {
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	servers, stop, err := startWatched(ctx, p, dir, sink.Addr())
	defer stop()
	if err != nil {
		return nil, err
	}
	messages := 3 * p.messages
	progress("%d rounds of %d messages to each, until statistics have counted them", p.rounds, messages)
	for round := range p.rounds {
		if err := watchedRound(ctx, servers, sink, messages, round); err != nil {
			return nil, err
		}
	}
	fmt.Printf("%-34s %16s %14s   %s\n", "CPU seconds per 1,000 messages", "median", "when idle", "rounds")
	for _, s := range servers {
		fmt.Printf("%-34s %14.3f s %12.2f %%   %.3f\n", s.name(), figures.Median(s.cpu), 100*s.idle, s.cpu)
	}
	fmt.Println()
	return watchedTargets(ctx, servers, p.rounds*messages)
}

func (s *watchedServer) name() string {
	if s.without == "" {
		return "with all modules"
	}
	return "without " + s.without
}

func startWatched(ctx context.Context, p plan, dir, sink string) (servers []*watchedServer, stop func(), err error) {
	stop = func() {
		for _, s := range servers {
			s.counts.close()
			s.server.stop()
		}
	}
	progress("starting a Postrider with all modules, and one without each of %d", len(watchers))
	names := []string{""}
	for _, w := range watchers {
		names = append(names, w.module)
	}
	for _, without := range names {
		env := []string{"POSTRIDER_OUTBOUND=smtp://" + sink}
		if without != "" {
			env = append(env, "POSTRIDER_MODULES=-"+without)
		}
		below := filepath.Join(dir, "without-"+without)
		if err := os.Mkdir(below, 0o755); err != nil { // PostgreSQL runs as another user when we are root
			return servers, stop, err
		}
		running, err := startCounting(ctx, p.binary, below, env...)
		if err != nil {
			return servers, stop, err
		}
		counts, err := newCounter(ctx, running)
		if err != nil {
			running.stop()
			return servers, stop, err
		}
		servers = append(servers, &watchedServer{without: without, server: running, counts: counts})
	}
	return servers, stop, err
}

// watchedRound sends to every server. The first one warms them up, and measures them at rest.
func watchedRound(ctx context.Context, servers []*watchedServer, sink *receivers.Sink, messages, round int) error {
	if round == 0 {
		for _, s := range servers {
			if _, _, err := sendAndWait(ctx, s.server.Ready, sink, messages/10, rollupClients); err != nil {
				return err
			}
		}
		if err := allCounted(ctx, servers); err != nil {
			return err
		}
		if err := restWatched(ctx, servers); err != nil {
			return err
		}
	}
	begin := time.Now()
	for i := range servers {
		s := servers[(i+round)%len(servers)]
		if _, _, err := sendAndWait(ctx, s.server.Ready, sink, messages, rollupClients); err != nil {
			return err
		}
	}
	if err := allCounted(ctx, servers); err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	for _, s := range servers {
		after, err := s.counts.read(ctx)
		if err != nil {
			return err
		}
		cost := after.since(s.before)
		s.before = after
		s.cpu = append(s.cpu, 1000*(cost.server+cost.postgres-s.idle*seconds)/float64(messages))
	}
	return nil
}

// restWatched measures servers with nothing to do, and begins to count.
func restWatched(ctx context.Context, servers []*watchedServer) (err error) {
	for _, s := range servers {
		if s.before, err = s.counts.read(ctx); err != nil {
			return err
		}
	}
	if err := sleep(ctx, idleLength); err != nil {
		return err
	}
	for _, s := range servers {
		after, err := s.counts.read(ctx)
		if err != nil {
			return err
		}
		cost := after.since(s.before)
		s.idle, s.before = (cost.server+cost.postgres)/idleLength.Seconds(), after
		if _, err := s.counts.conn.ExecContext(ctx, `SELECT pg_stat_statements_reset()`); err != nil {
			return err
		}
	}
	return nil
}

// allCounted waits until the outcome of every delivery is stored, and counted where statistics are on.
func allCounted(ctx context.Context, servers []*watchedServer) error {
	for _, s := range servers {
		if err := s.counts.settled(ctx); err != nil {
			return err
		}
		if s.without == "statistics" {
			continue
		}
		for counted := false; !counted; {
			if err := s.counts.conn.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT FROM facts WHERE id >= (SELECT fact_id FROM statistics_marks))`).Scan(&counted); err != nil {
				return err
			}
			if err := sleep(ctx, time.Second); err != nil { // so seldom that asking costs nothing
				return err
			}
		}
	}
	return nil
}

// watchedTargets compares the server with all modules to the others, and what PostgreSQL takes for
// statements that only one module makes to what a message takes: that is measured more sharply, and is
// more than their processor time where they wait.
func watchedTargets(ctx context.Context, servers []*watchedServer, messages int) (out []target, err error) {
	all := servers[0]
	for i, w := range watchers {
		t := target{name: w.module + ": CPU with it / without it", most: 1 + w.most}
		for round, cpu := range servers[i+1].cpu {
			t.ratios = append(t.ratios, all.cpu[round]/cpu)
		}
		out = append(out, t)
		var calls, took float64
		err := all.counts.conn.QueryRowContext(ctx, `SELECT coalesce(sum(calls), 0), coalesce(sum(total_plan_time + total_exec_time), 0) FROM pg_stat_statements WHERE query LIKE '%' || $1 || '%'`,
			w.statements).Scan(&calls, &took)
		if err != nil {
			return nil, err
		}
		perThousand := took / float64(messages) // milliseconds of a message are seconds of 1,000
		fmt.Printf("statements of %-20s %8.0f, %6.3f s per 1,000 messages\n", w.module, calls, perThousand)
		share := target{name: w.module + ": time of its statements / CPU of all", most: w.most}
		for _, cpu := range all.cpu {
			share.ratios = append(share.ratios, perThousand/cpu)
		}
		out = append(out, share)
	}
	fmt.Printf("peak memory of the server process: %s\n\n", process.UsageOf(all.server.cmd.Process.Pid))
	return out, nil
}

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
	if err := counts.top(ctx, "the time at rest"); err != nil {
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
