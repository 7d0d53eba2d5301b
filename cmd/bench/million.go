package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/cmd/bench/stored"
)

const (
	queued        = 1_000_000 // recipients
	perEmail      = 50
	queuedDomains = 1000
	deadEvery     = 10 // one domain in ten is dead
)

// benchMillion watches a process that delivers from a queue of a million
// recipients: what it needs must not depend on how many wait.
func benchMillion(ctx context.Context, p plan, dir string) ([]target, error) {
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	_, port, err := net.SplitHostPort(sink.Addr())
	if err != nil {
		return nil, err
	}
	closer, err := receivers.OpenSilent(ctx, port)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := closer(); err != nil {
			progress("black hole: %v", err)
		}
	}()
	dns, err := receivers.ServeNames(ctx, func(domain string) string {
		number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(domain, "d"), ".test"))
		if err != nil || number%deadEvery == 0 {
			return receivers.DeadAddress
		}
		return "127.0.0.1"
	})
	if err != nil {
		return nil, err
	}
	defer dns.Close()
	env := []string{"POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS=" + dns.Addr(), "POSTRIDER_MX_PORT=" + port, "POSTRIDER_MX_ALLOW=127.0.0.0/8"}
	if err := queueMillion(ctx, p, dir, env); err != nil {
		return nil, err
	}
	sink.Expect(queued)
	server, err := start(ctx, p.binary, dir, env...)
	if err != nil {
		return nil, err
	}
	defer server.kill()
	return watchMillion(ctx, server, sink)
}

func queueMillion(ctx context.Context, p plan, dir string, env []string) error {
	progress("storing %d recipients of %d emails for %d destinations, one in %d of them dead", queued, queued/perEmail, queuedDomains, deadEvery)
	server, err := start(ctx, p.binary, dir, append([]string{"POSTRIDER_DELIVERY_CONCURRENCY=0"}, env...)...)
	if err != nil {
		return err
	}
	defer server.stop()
	for _, statement := range []string{fmt.Sprintf(stored.QueueSQL, queued/perEmail, perEmail, queuedDomains), `VACUUM ANALYZE emails`, `VACUUM ANALYZE recipients`} {
		if err := postgres.Exec(ctx, server.Ready.DatabaseURL, statement); err != nil {
			return err
		}
	}
	return nil
}

// watchMillion samples the process for a minute.
func watchMillion(ctx context.Context, s *server, sink *receivers.Sink) ([]target, error) {
	pid := s.cmd.Process.Pid
	begin := time.Now()
	fmt.Printf("%-10s %12s %14s %14s\n", "after", "delivered", "memory", "connections")
	const sampleEvery = 5 * time.Second
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	memory := target{name: "memory with a million queued / 150 MiB", most: 1}
	flat := target{name: "memory at the end / after 20 s", most: 1.2}
	var early, peak int64
	for time.Since(begin) < time.Minute {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		now, connections, err := holdings(pid)
		if err != nil {
			return nil, err
		}
		peak = max(peak, now)
		if early == 0 && time.Since(begin) > 20*time.Second {
			early = now
		}
		fmt.Printf("%-10s %12d %10.1f MiB %14d\n", time.Since(begin).Round(time.Second), queued-sink.Left(), float64(now)/(1<<20), connections)
		const wanted = 150 // MiB
		memory.ratios = []float64{float64(peak) / (wanted << 20)}
		flat.ratios = []float64{float64(now) / float64(max(early, 1))}
	}
	return []target{memory, flat}, nil
}

// holdings is the resident memory of a process and its open TCP connections.
func holdings(pid int) (octets int64, connections int, err error) {
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	defer status.Close()
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), "VmRSS:"); found {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
			if err != nil {
				return 0, 0, err
			}
			octets = kib << 10
		}
	}
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return 0, 0, err
	}
	for _, file := range files {
		if points, err := os.Readlink(file); err == nil && strings.HasPrefix(points, "socket:") {
			connections++
		}
	}
	return octets, connections, lines.Err()
}
