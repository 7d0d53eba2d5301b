// Command bench measures Postrider and, in alternation, a reference on the same machine: pgbench, OpenSSL, raw POST
// requests or Postfix. It runs parts, each on a scratch PostgreSQL with fsync on:
//
//   - accepts: POST /emails per second with 1, 16 and 64 clients, compared with inserts by pgbench
//   - batch: emails per second in batches of 100, compared with single emails
//   - relay: emails per second over SMTP, compared with POST /emails
//   - delivery: emails per second from POST /emails to an SMTP sink, compared with RSA-2048 signatures by OpenSSL
//   - destinations: the same by MX to 100 domains, compared with one smarthost, and how long recipients wait
//   - latency: the time from POST /emails to arrival with 1, 16 and 64 clients, and the cost of an email; with -base,
//     compared with another binary
//   - statements: the cost of an email with 1, 16 and 64 clients: statements, commits, WAL and CPU time
//   - idle: the CPU time of an idle server and its PostgreSQL
//   - lists: the time of list pages over ten thousand and over a million emails (-emails), in REST and GraphQL
//   - webhooks: deliveries per second, compared with signed POST requests by the same HTTP client
//   - fanout: events per second for 1, 10 and 100 endpoints
//
// Five parts run only when requested with -only, because they take long or require other programs:
//
//   - latency
//   - statistics: the time of GraphQL queries over a year of ten million emails (-emails)
//   - growth: sending, webhooks and lists with ten million stored emails (-emails), compared with 100,000
//   - peers: delivery, compared with Postfix and OpenDKIM
//   - inbound: inbound mail, compared with Postfix
//
// Compare the ratios, because absolute rates depend on the machine. Each ratio is the median of several rounds, so that
// other load on the machine affects a round and not the result. All traffic stays on loopback.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options configure a run.
type options struct {
	binary   string
	base     string        // binary to compare with; "": none
	length   time.Duration // duration of one measurement
	rounds   int
	messages int // in a round of delivery
	emails   int // that a list or statistics part stores; 0: the default of the part
}

func main() {
	var o options
	flag.StringVar(&o.binary, "postrider", "bin/postrider", "the binary to measure")
	flag.StringVar(&o.base, "base", "", "another binary, for latency to compare with")
	flag.DurationVar(&o.length, "for", 3*time.Second, "length of each measurement")
	flag.IntVar(&o.rounds, "rounds", 3, "number of rounds")
	flag.IntVar(&o.messages, "messages", 3000, "number of messages in a round of delivery")
	flag.IntVar(&o.emails, "emails", 0,
		"number of emails for lists (default 1000000), statistics and growth (default 10000000)")
	limit := flag.Duration("limit", 25*time.Minute, "time limit of the run")
	only := flag.String("only", "", "run one part: "+strings.Join(partNames(), ", "))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not finished within %s", *limit))
	err := run(ctx, o, *only)
	cause := context.Cause(ctx)
	cancel()
	stop()
	if err != nil {
		if cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is a group of measurements in a scratch directory.
type part struct {
	name     string
	measure  func(ctx context.Context, o options, dir string) ([]result, error)
	optional bool // runs only when requested
}

var parts = []part{
	{name: "accepts", measure: measureAccepts},
	{name: "batch", measure: measureBatch},
	{name: "relay", measure: measureRelay},
	{name: "delivery", measure: measureDelivery},
	{name: "destinations", measure: measureDestinations},
	{name: "latency", measure: measureLatency, optional: true},
	{name: "statements", measure: measureStatements},
	{name: "idle", measure: measureIdle},
	{name: "lists", measure: measureLists},
	{name: "webhooks", measure: measureWebhooks},
	{name: "fanout", measure: measureFanout},
	{name: "statistics", measure: measureStatistics, optional: true},
	{name: "growth", measure: measureGrowth, optional: true},
	{name: "peers", measure: measurePeers, optional: true},
	{name: "inbound", measure: measureInbound, optional: true},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func run(ctx context.Context, o options, only string) error {
	if o.rounds < 1 || o.messages < 10 || o.length < time.Second {
		return errors.New("-rounds must be at least 1, -messages at least 10 and -for at least 1s")
	}
	if only != "" && !slices.Contains(partNames(), only) {
		return fmt.Errorf("-only must be one of %s", strings.Join(partNames(), ", "))
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("%w; run make build first", err)
	}
	var results []result
	for _, part := range parts {
		if only != "" && only != part.name || only == "" && part.optional {
			continue
		}
		measured, err := runPart(ctx, o, part)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		results = append(results, measured...)
	}
	printResults(results)
	return nil
}

// runPart runs a part in a directory that it deletes afterwards.
func runPart(ctx context.Context, o options, p part) (_ []result, err error) {
	dir, err := os.MkdirTemp("", "postrider-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // for root, PostgreSQL runs as another user
		return nil, err
	}
	return p.measure(ctx, o, dir)
}

// logProgress prints a line about the run to stderr, apart from the results.
func logProgress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }
