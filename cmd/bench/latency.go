package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/runtime/storage/db"
)

// measured is the time to deliver messages, and their cost.
type measured struct {
	perSecond float64
	p50, p99  time.Duration // from the POST request to the arrival
	cost      cost          // cost per message
}

// measureLatency posts messages and measures how long each takes from its POST request to its arrival at a sink. With
// another binary, rounds alternate between the two, so that other load on the machine affects both.
func measureLatency(ctx context.Context, o options, dir string) ([]result, error) {
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	sink.Record()
	binaries := []string{o.binary}
	if o.base != "" {
		binaries = append(binaries, o.base)
	}
	servers := make([]*server, len(binaries))
	for i, binary := range binaries {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o755); err != nil { // for root, PostgreSQL runs as another user
			return nil, err
		}
		of := o
		of.binary = binary
		if servers[i], err = startCounting(ctx, of, folder, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr()); err != nil {
			return nil, err
		}
		defer servers[i].stop()
		if _, _, err := sendAndWait(ctx, servers[i], sink, o.messages/10, 16); err != nil { // warm-up
			return nil, err
		}
	}
	var results []result
	fmt.Printf("%-8s %-30s %8s %10s %10s %12s %12s %8s\n", "clients", "binary", "per s", "p50", "p99",
		"CPU server", "CPU Postgres", "WAL")
	for _, clients := range clientCounts {
		measuredHere, err := compareLatency(ctx, o, servers, binaries, sink, clients)
		if err != nil {
			return nil, err
		}
		results = append(results, measuredHere...)
	}
	for i, s := range servers {
		if err := s.printUpdates(ctx, binaries[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// compareLatency measures the servers in turn with a number of clients.
func compareLatency(ctx context.Context, o options, servers []*server, binaries []string, sink *receivers.Sink,
	clients int) ([]result, error) {
	messages := map[int]int{1: o.messages / 5, 16: o.messages, 64: o.messages}[clients]
	p50 := result{name: fmt.Sprintf("latency p50 (ms), %d clients", clients)}
	ratio := result{name: fmt.Sprintf("latency p50 / that of the other binary, %d clients", clients)}
	cpu := result{name: fmt.Sprintf("CPU / that of the other binary, %d clients", clients)}
	wal := result{name: fmt.Sprintf("WAL / that of the other binary, %d clients", clients)}
	for range o.rounds {
		m := make([]measured, len(servers))
		for i, s := range servers {
			var err error
			if m[i], err = postAndMeasure(ctx, s, sink, messages, clients); err != nil {
				return nil, err
			}
			fmt.Printf("%-8d %-30s %8.0f %10s %10s %9.2f ms %9.2f ms %8.0f\n", clients, binaries[i],
				m[i].perSecond, m[i].p50, m[i].p99, 1000*m[i].cost.server, 1000*m[i].cost.postgres, m[i].cost.wal)
		}
		p50.rounds = append(p50.rounds, m[0].p50.Seconds()*1000)
		if len(m) > 1 {
			ratio.rounds = append(ratio.rounds, m[0].p50.Seconds()/m[1].p50.Seconds())
			cpu.rounds = append(cpu.rounds,
				(m[0].cost.server+m[0].cost.postgres)/(m[1].cost.server+m[1].cost.postgres))
			wal.rounds = append(wal.rounds, m[0].cost.wal/m[1].cost.wal)
		}
	}
	if len(servers) > 1 {
		return []result{p50, ratio, cpu, wal}, nil
	}
	return []result{p50}, nil
}

const updatesSQL = `
SELECT relname, n_tup_upd, n_tup_hot_upd, pg_total_relation_size(relid), pg_table_size(relid) FROM pg_stat_user_tables
WHERE n_tup_upd > 100 ORDER BY n_tup_upd DESC LIMIT 8`

// printUpdates prints how many row updates changed no index (HOT), by table.
func (s *server) printUpdates(ctx context.Context, name string) error {
	fmt.Printf("\n%-30s %10s %8s %12s %12s\n", "updates of "+name, "rows", "HOT", "bytes", "table only")
	return db.Each(ctx, s.db, func(row db.Row) error {
		var table string
		var updated, hot, size, heap int64
		err := row.Scan(&table, &updated, &hot, &size, &heap)
		fmt.Printf("%-30s %10d %6.1f %% %12d %12d\n", table, updated, 100*float64(hot)/float64(max(1, updated)), size, heap)
		return err
	}, updatesSQL)
}

// postAndMeasure posts messages from concurrent clients, each to a separate address, and waits until their outcomes
// are stored. A lone client waits for each message to arrive before it posts the next one.
func postAndMeasure(ctx context.Context, s *server, sink *receivers.Sink, messages, clients int) (m measured,
	err error) {
	before, err := s.readCost(ctx)
	if err != nil {
		return m, err
	}
	each := messages / clients
	arrived := sink.Expect(each * clients)
	errs := make([]error, clients)
	posted := make([]map[string]time.Time, clients)
	var all sync.WaitGroup
	begin := time.Now()
	for i := range clients {
		all.Go(func() { posted[i], errs[i] = postToEach(ctx, s, sink, fmt.Sprintf("c%d-", i), each, clients == 1) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return m, err
		}
	}
	if err := waitArrived(ctx, sink, arrived); err != nil {
		return m, err
	}
	m.perSecond = float64(each*clients) / time.Since(begin).Seconds()
	if err := s.waitSettled(ctx); err != nil {
		return m, err
	}
	var latencies []time.Duration
	for _, list := range posted {
		for address, at := range list {
			if seen, ok := sink.Arrived(address); ok {
				latencies = append(latencies, seen.Sub(at))
			}
		}
	}
	m.p50, m.p99 = percentile(latencies, 50), percentile(latencies, 99)
	after, err := s.readCost(ctx)
	m.cost = after.since(before).divide(float64(each * clients))
	return m, err
}

// postToEach posts n messages on one connection, each to a separate address, and returns when each was posted.
func postToEach(ctx context.Context, s *server, sink *receivers.Sink, prefix string, n int,
	wait bool) (map[string]time.Time, error) {
	addresses := make([]string, n)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("%s%d@example.net", prefix, i)
	}
	senders, err := client.NewSenders(ctx, s.Server, 1, addresses...)
	if err != nil {
		return nil, err
	}
	defer client.CloseAll(senders)
	posted := make(map[string]time.Time, n)
	for _, address := range addresses {
		posted[address] = time.Now()
		if err := senders[0].Post(); err != nil {
			return nil, err
		}
		for wait && ctx.Err() == nil {
			if at, ok := sink.Arrived(address); ok && at.After(posted[address]) {
				break
			}
			<-time.After(200 * time.Microsecond)
		}
	}
	return posted, ctx.Err()
}
