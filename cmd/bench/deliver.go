package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/caller"
	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/process"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/cmd/bench/signing"
	"github.com/postrider/postrider/cmd/bench/stored"
)

// benchDelivery posts messages from 16 clients to a server that delivers to a
// sink, and counts what the sink has accepted until all have arrived.
func benchDelivery(ctx context.Context, p plan, dir string) ([]target, error) {
	if p.split {
		return p.splitDelivery(ctx, dir)
	}
	t, err := endToEnd(ctx, p, dir)
	return []target{t}, err
}

// splitDelivery compares delivery from tables that are split into thirteen months with plain ones, in turns. Both hold the mail of these months.
func (p plan) splitDelivery(ctx context.Context, dir string) ([]target, error) {
	t := target{name: "end to end: tables by month / plain", least: 0.8}
	cpu := target{name: "PostgreSQL's time for a message: tables by month / plain", most: 1.5}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	var servers [2]*server // plain, split
	for i, name := range []string{"plain", "split"} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			return nil, err
		}
		progress("starting Postrider to deliver from tables that are %s", name)
		if servers[i], err = start(ctx, p.binary, folder, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr(), "POSTRIDER_MODULES=-retention"); err != nil {
			return nil, err
		}
		defer servers[i].stop()
		year := stored.MonthsBefore(time.Now(), "emails", 13)
		if name == "split" {
			if err := errors.Join(stored.Partition(ctx, p.binary, folder, stored.WithEmails...), stored.SplitEmails(ctx, servers[i].Ready.DatabaseURL, year)); err != nil {
				return nil, err
			}
		}
		if err := stored.Year(ctx, servers[i].Ready.DatabaseURL, cmp.Or(p.emails, 100_000), year); err != nil {
			return nil, err
		}
		if _, _, err := sendAndWait(ctx, servers[i].Ready, sink, p.messages/10, 16); err != nil { // warm-up
			return nil, err
		}
	}
	progress("%d rounds of %d messages from each", p.rounds, p.messages)
	var rates, costs [2][]float64
	for range p.rounds {
		for i, s := range servers {
			before := process.CPUBelow(s.cmd.Process.Pid) - process.UsageOf(s.cmd.Process.Pid).CPU
			took, _, err := sendAndWait(ctx, s.Ready, sink, p.messages, 16)
			if err != nil {
				return nil, err
			}
			after := process.CPUBelow(s.cmd.Process.Pid) - process.UsageOf(s.cmd.Process.Pid).CPU
			rates[i], costs[i] = append(rates[i], float64(p.messages)/took.Seconds()), append(costs[i], (after-before).Seconds()*1000/float64(p.messages))
		}
		last := len(rates[0]) - 1
		t.ratios, cpu.ratios = append(t.ratios, rates[1][last]/rates[0][last]), append(cpu.ratios, costs[1][last]/costs[0][last])
	}
	fmt.Printf("%-46s %9s %9s\n%-46s %7.0f/s %7.0f/s\n%-46s %7.2f s %7.2f s\n\n", "", "plain", "split", "messages end to end", figures.Median(rates[0]), figures.Median(rates[1]),
		"PostgreSQL for 1,000 messages", figures.Median(costs[0]), figures.Median(costs[1]))
	return []target{t, cpu}, nil
}

func endToEnd(ctx context.Context, p plan, dir string) (target, error) {
	t := target{name: "end to end / OpenSSL's RSA-2048 signatures", least: 0.2}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return t, err
	}
	defer sink.Close()
	progress("starting Postrider to deliver to a sink on loopback")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return t, err
	}
	defer server.stop()
	if _, _, err := sendAndWait(ctx, server.Ready, sink, p.messages/10, 16); err != nil { // warm-up
		return t, err
	}
	if !signing.HaveOpenSSL() {
		t.name, t.least = "end to end / Go's RSA-2048 signatures", 0.6
	}
	progress("%d rounds of signatures for %s and of %d messages end to end", p.rounds, p.each, p.messages)
	before := process.UsageOf(server.cmd.Process.Pid)
	var signatures, rates []float64
	var accepts []time.Duration
	for range p.rounds {
		signed, err := signing.Rate(ctx, p.each)
		if err != nil {
			return t, err
		}
		took, posts, err := sendAndWait(ctx, server.Ready, sink, p.messages, 16)
		if err != nil {
			return t, err
		}
		rate := float64(p.messages) / took.Seconds()
		signatures, rates, accepts = append(signatures, signed), append(rates, rate), append(accepts, posts...)
		t.ratios = append(t.ratios, rate/signed)
	}
	after := process.UsageOf(server.cmd.Process.Pid)
	fmt.Printf("%-36s %8.0f /s\n%-36s %8.0f /s\n", "RSA-2048 signatures, all cores", figures.Median(signatures), "messages end to end, DKIM-signed", figures.Median(rates))
	fmt.Printf("%-36s %11s %11s\n", "accepts meanwhile, p50 and p95", figures.Percentile(accepts, 50), figures.Percentile(accepts, 95))
	if after.Known {
		perThousand := (after.CPU - before.CPU).Seconds() * 1000 / float64(p.rounds*p.messages)
		fmt.Printf("%-36s %9.2f s\n", "CPU of the server per 1,000 messages", perThousand)
	}
	fmt.Printf("%-36s %11s\n\n", "peak memory of the server process", after)
	return t, nil
}

// sendAndWait gives the time until all have arrived, and that of each accept.
func sendAndWait(ctx context.Context, r ready, s *receivers.Sink, messages, clients int) (time.Duration, []time.Duration, error) {
	callers, err := newCallers(ctx, r, clients)
	if err != nil {
		return 0, nil, err
	}
	defer caller.CloseAll(callers)
	return callAndWait(ctx, callers, s, messages)
}

func callAndWait(ctx context.Context, callers []*caller.Caller, s *receivers.Sink, messages int) (time.Duration, []time.Duration, error) {
	clients := len(callers)
	arrived := s.Expect(messages)
	accepts := make([][]time.Duration, clients)
	begin := time.Now()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for next.Add(1) <= int64(messages) && failed.Load() == nil {
				start := time.Now()
				if err := callers[i].Post(); err != nil {
					failed.Store(&err)
				}
				accepts[i] = append(accepts[i], time.Since(start))
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, nil, *err
	}
	limit := time.NewTimer(2 * time.Minute)
	defer limit.Stop()
	select {
	case <-arrived:
		return time.Since(begin), slices.Concat(accepts...), nil
	case <-limit.C:
		return 0, nil, fmt.Errorf("the sink has not received every message within two minutes: %d are missing", s.Left())
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// benchDestinations compares delivery by MX to many domains with delivery through one
// smarthost, in turns. By MX each domain has a lane of its own, which begins small and
// is full most of the time, so recipients are parked; the smarthost's lane has room for
// most of them.
func benchDestinations(ctx context.Context, p plan, dir string) ([]target, error) {
	const domains, clients = 100, 64
	rate := target{name: fmt.Sprintf("end to end: %d domains by MX / one smarthost", domains), least: 0.6}
	longest := target{name: "longest wait of a recipient by MX (s)", most: 2.5}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	_, port, err := net.SplitHostPort(sink.Addr())
	if err != nil {
		return nil, err
	}
	dns, err := receivers.ServeNames(ctx, func(string) string { return "127.0.0.1" })
	if err != nil {
		return nil, err
	}
	defer dns.Close()
	ways := []struct {
		name string
		env  []string
	}{
		{"one smarthost", []string{"POSTRIDER_OUTBOUND=smtp://" + sink.Addr()}},
		{fmt.Sprintf("%d domains by MX", domains), []string{"POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS=" + dns.Addr(), "POSTRIDER_MX_PORT=" + port, "POSTRIDER_MX_ALLOW=127.0.0.0/8"}},
	}
	addresses := make([]string, domains)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("someone@d%d.test", i)
	}
	var rates [2][]float64
	progress("%d rounds of %d messages to %d domains from %d clients, each way from a new server", p.rounds, p.messages, domains, clients)
	fmt.Printf("%-46s %10s %10s %10s %10s\n", "end to end by round, with waits of recipients", "messages/s", "p50", "p99", "longest")
	for round := range p.rounds {
		for i, way := range ways {
			folder := filepath.Join(dir, fmt.Sprintf("%d-%d", round, i))
			perSecond, waits, err := p.deliverToDomains(ctx, folder, sink, clients, addresses, way.env)
			if err != nil {
				return nil, err
			}
			fmt.Printf("%-46s %10.0f %8.2f s %8.2f s %8.2f s\n", way.name, perSecond, waits.Median, waits.P99, waits.Longest)
			if rates[i] = append(rates[i], perSecond); i == 1 {
				longest.ratios = append(longest.ratios, waits.Longest)
			}
		}
		rate.ratios = append(rate.ratios, rates[1][round]/rates[0][round])
	}
	for i, way := range ways {
		fmt.Printf("%-46s %10.0f\n", "median, "+way.name, figures.Median(rates[i]))
	}
	return []target{rate, longest}, nil
}

// deliverToDomains starts a server and returns how many messages a second arrive. Every
// server is new, because lanes grow with what they have delivered.
func (p plan) deliverToDomains(ctx context.Context, dir string, sink *receivers.Sink, clients int, addresses, env []string) (rate float64, waits stored.Waits, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil { // PostgreSQL runs as another user when we are root
		return 0, stored.Waits{}, err
	}
	server, err := start(ctx, p.binary, dir, env...)
	if err != nil {
		return 0, stored.Waits{}, err
	}
	defer server.stop()
	callers, err := newCallers(ctx, server.Ready, clients, addresses...)
	if err != nil {
		return 0, stored.Waits{}, err
	}
	defer caller.CloseAll(callers)
	took, _, err := callAndWait(ctx, callers, sink, p.messages)
	if err != nil {
		return 0, stored.Waits{}, err
	}
	waits, err = stored.ReadWaits(ctx, server.Ready.DatabaseURL)
	return float64(p.messages) / took.Seconds(), waits, err
}
