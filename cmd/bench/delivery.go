package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/machine"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

// measureDelivery posts messages from 16 clients to a server that delivers them to a sink, until all have arrived. It
// compares their rate with the RSA-2048 signatures of the machine.
func measureDelivery(ctx context.Context, o options, dir string) ([]result, error) {
	r := result{name: "delivered messages / OpenSSL's RSA-2048 signatures", min: 0.2}
	if !machine.HasOpenSSL() {
		r.name, r.min = "delivered messages / Go's RSA-2048 signatures", 0.6
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	logProgress("starting Postrider to deliver to a sink on loopback")
	s, err := start(ctx, o, dir, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if _, _, err := sendAndWait(ctx, s, sink, o.messages/10, 16); err != nil { // warm-up
		return nil, err
	}
	logProgress("%d rounds of signatures for %s and of %d messages", o.rounds, o.length, o.messages)
	before := machine.ReadUsage(s.pid())
	var signatures, deliveries []float64
	var accepts []time.Duration
	for range o.rounds {
		signed, err := machine.MeasureSignatures(ctx, o.length)
		if err != nil {
			return nil, err
		}
		elapsed, took, err := sendAndWait(ctx, s, sink, o.messages, 16)
		if err != nil {
			return nil, err
		}
		delivered := float64(o.messages) / elapsed.Seconds()
		signatures, deliveries, accepts = append(signatures, signed), append(deliveries, delivered), append(accepts,
			took...)
		r.rounds = append(r.rounds, delivered/signed)
	}
	after := machine.ReadUsage(s.pid())
	fmt.Printf("%-46s %8.0f /s\n", "RSA-2048 signatures, all cores", median(signatures))
	fmt.Printf("%-46s %8.0f /s\n", "messages accepted, signed and delivered", median(deliveries))
	fmt.Printf("%-46s %11s %11s\n", "time to accept a message, p50 and p95",
		percentile(accepts, 50), percentile(accepts, 95))
	if after.Known {
		thousands := float64(o.rounds*o.messages) / 1000
		fmt.Printf("%-46s %8.2f s\n", "CPU of the server per 1,000 messages", (after.CPU-before.CPU).
			Seconds()/thousands)
	}
	s.printPeakMemory()
	return []result{r}, nil
}

// sendAndWait posts messages from concurrent clients and waits until the sink has received all of them. It returns the
// elapsed time, and the time to accept each message.
func sendAndWait(
	ctx context.Context, s *server, sink *receivers.Sink, messages, clients int, addresses ...string,
) (time.Duration, []time.Duration, error) {
	senders, err := client.NewSenders(ctx, s.Server, clients, addresses...)
	if err != nil {
		return 0, nil, err
	}
	defer client.CloseAll(senders)
	arrived := sink.Expect(messages)
	accepts := make([][]time.Duration, clients)
	begin := time.Now()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for next.Add(1) <= int64(messages) && failed.Load() == nil {
				start := time.Now()
				if err := senders[i].Post(); err != nil {
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
	err = waitArrived(ctx, sink, arrived)
	return time.Since(begin), slices.Concat(accepts...), err
}

// measureDestinations compares delivery by MX to many domains with delivery through one smarthost. By MX, each domain
// has its own lane. A new lane is small and full most of the time, so recipients are parked. The lane of the smarthost
// has capacity for most of them.
func measureDestinations(ctx context.Context, o options, dir string) ([]result, error) {
	const domains, clients = 100, 64
	rate := result{name: fmt.Sprintf("delivered messages: %d domains by MX / smarthost", domains), min: 0.6}
	longest := result{name: "longest wait of a recipient by MX (s)", max: 2.5}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	_, port, err := net.SplitHostPort(sink.Addr())
	if err != nil {
		return nil, err
	}
	dns, err := receivers.NewNames(ctx)
	if err != nil {
		return nil, err
	}
	defer dns.Close()
	addresses := make([]string, domains)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("someone@d%d.test", i)
	}
	routes := []struct {
		name string
		env  []string
	}{
		{"one smarthost", []string{"POSTRIDER_OUTBOUND=smtp://" + sink.Addr()}},
		{fmt.Sprintf("%d domains by MX", domains), []string{"POSTRIDER_OUTBOUND=mx", "POSTRIDER_DNS=" + dns.Addr(),
			"POSTRIDER_MX_PORT=" + port, "POSTRIDER_MX_ALLOW=127.0.0.0/8"}},
	}
	var rates [2][]float64
	logProgress("%d rounds of %d messages to %d domains from %d clients, each with a new server",
		o.rounds, o.messages, domains, clients)
	fmt.Printf("%-36s %12s %12s %12s %12s\n", "route", "messages/s", "wait p50", "wait p99", "longest")
	for round := range o.rounds {
		for i, route := range routes {
			folder := filepath.Join(dir, fmt.Sprintf("%d-%d", round, i))
			perSecond, waits, err := deliverToDomains(ctx, o, folder, sink, clients, addresses, route.env)
			if err != nil {
				return nil, err
			}
			fmt.Printf("%-36s %12.0f %10.2f s %10.2f s %10.2f s\n", route.name,
				perSecond, waits.median, waits.p99, waits.longest)
			if rates[i] = append(rates[i], perSecond); i == 1 {
				longest.rounds = append(longest.rounds, waits.longest)
			}
		}
		rate.rounds = append(rate.rounds, rates[1][round]/rates[0][round])
	}
	for i, route := range routes {
		fmt.Printf("%-36s %12.0f\n", "median, "+route.name, median(rates[i]))
	}
	return []result{rate, longest}, nil
}

// waits are the times of recipients from acceptance to the end of their last attempt, in seconds. The start of an
// attempt does not show a wait, because an attempt is stored when its recipient is claimed.
type waits struct{ median, p99, longest float64 }

const waitsSQL = `
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY waited), percentile_cont(0.99) WITHIN GROUP (ORDER BY waited), max(waited)
FROM (SELECT extract(epoch FROM max(a.finished_at) - r.queued_at) AS waited
	FROM recipients r JOIN attempts a ON a.recipient_id = r.id GROUP BY r.id, r.queued_at) w`

// deliverToDomains returns the delivered messages per second of a new server. Lanes grow with each delivery, so a
// server that has delivered before would be faster.
func deliverToDomains(
	ctx context.Context, o options, dir string, sink *receivers.Sink, clients int, addresses, env []string,
) (rate float64, w waits, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil { // for root, PostgreSQL runs as another user
		return 0, w, err
	}
	s, err := start(ctx, o, dir, env...)
	if err != nil {
		return 0, w, err
	}
	defer s.stop()
	elapsed, _, err := sendAndWait(ctx, s, sink, o.messages, clients, addresses...)
	if err != nil {
		return 0, w, err
	}
	if err := s.waitSettled(ctx); err != nil {
		return 0, w, err
	}
	err = s.db.QueryRowContext(ctx, waitsSQL).Scan(&w.median, &w.p99, &w.longest)
	return float64(o.messages) / elapsed.Seconds(), w, err
}
