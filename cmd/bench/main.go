// Command bench measures Postrider beside the ceilings of the machine it runs on,
// in one run and on one scratch PostgreSQL with fsync on:
//
//   - durable accepts/s of POST /emails at 1, 16 and 64 clients, beside pgbench's
//     durable single-row inserts/s at the same concurrency;
//   - messages/s handed in over SMTP, beside POST /emails from as many clients;
//   - messages/s of batches of 100, beside single sends from one client and from 16;
//   - messages/s end to end (accepted, DKIM-signed, received by a sink on
//     loopback), beside OpenSSL's RSA-2048 signatures/s on all cores, with the time that
//     an accept takes meanwhile, and what the server process needs for it;
//   - messages/s by MX to 100 domains from 64 clients, compared with one smarthost, and
//     how long recipients wait;
//   - what a message costs from 1, 16 and 64 clients: statements, commits, planning,
//     executing, WAL, and CPU of the server process and of PostgreSQL; the CPU of a
//     server with nothing to do;
//   - the time that page 1 and page 1,000 of the emails take, plain and filtered, by REST and
//     GraphQL, with ten thousand emails and with a million (-emails: with so many);
//   - accepts/s, and how soon 1,000 emails for one moment are released, with no
//     scheduled emails waiting and with a million;
//   - messages/s to destinations that are well, beside as many messages for one
//     that takes connections and never answers;
//   - webhook deliveries/s, beside raw signed POSTs of the same client; how soon they
//     arrive, beside endpoints that hang and fail; events/s fanned out to 1, 10 and
//     100 endpoints; how soon an event is on an open stream;
//   - custom events/s, without HTTP and with it, beside pgbench, and beside a million runs of
//     automations that wait; how soon a run goes on after its event; delays, fairness between
//     accounts, and emails/s of send steps beside POST /emails.
//
// Some parts are measured only when they are asked for: -only guessing, accepts beside a flood of
// bad log-ins, which takes four minutes until its limits bite, -only peers, delivery beside
// Postfix with OpenDKIM, which has to be installed, -only inbound, mail that is taken
// in beside Postfix, and -only million, the memory
// and the connections of a process with a million recipients in its queue. Nor are -only rollups, the
// CPU that statistics and the API log take of a message, each beside a server without it, which waits a
// minute in each round until statistics have counted, and -only statistics, how soon a year of ten million
// emails is answered by day, by group and in other zones, which takes about 15 GB for a while, and -only months, accepts and
// pages over a year of emails in twelve months beside a plain table, and accepts while a month is dropped (-emails 10000000
// -limit 2h for ten million, which take about 30 GB for a while; else a million).
//
// The ratios are what counts; the rates belong to the machine. Each figure and
// its ceiling are measured in turns, in several rounds, and the median of the
// ratios is given: a machine that is busy with something else for a while then
// spoils a round and not the result. Everything stays on loopback, ends by
// itself and cleans up.
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

	"github.com/postrider/postrider/cmd/bench/figures"
)

// plan is how much to measure.
type plan struct {
	binary   string
	each     time.Duration // one measurement
	rounds   int
	messages int // of one end-to-end round
	emails   int // that tables are filled with; 0: as many as the part says
	split    bool
}

// target is a ratio to reach.
type target struct {
	name   string
	ratios []float64 // by round
	least  float64   // 0: no lower bound
	most   float64   // 0: no upper bound
}

func main() {
	var p plan
	flag.StringVar(&p.binary, "postrider", "bin/postrider", "the binary to measure")
	flag.DurationVar(&p.each, "for", 3*time.Second, "length of each measurement")
	flag.IntVar(&p.rounds, "rounds", 3, "times that each measurement is made")
	flag.IntVar(&p.messages, "messages", 3000, "messages of an end-to-end round")
	flag.IntVar(&p.emails, "emails", 0, "emails that lists, months and statistics are measured with; 0: a million, and ten millions for the last")
	flag.BoolVar(&p.split, "split", false, "measure webhooks with deliveries split by month, four of them; delivery beside tables that are split, thirteen months")
	limit := flag.Duration("limit", 25*time.Minute, "the end of a run that hangs")
	only := flag.String("only", "", "measure only this: "+strings.Join(partNames(), ", "))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeoutCause(ctx, *limit, fmt.Errorf("not done within %s", *limit))
	err := run(ctx, p, *only)
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

// part is a group of measurements on a scratch data directory of its own.
type part struct {
	name    string
	measure func(ctx context.Context, p plan, dir string) ([]target, error)
	asked   bool // measured only when asked for: it needs more than others, or takes long
}

var parts = []part{
	{name: "accepts", measure: benchAccepts},
	{name: "batch", measure: benchBatch},
	{name: "relay", measure: benchRelay},
	{name: "delivery", measure: benchDelivery},
	{name: "destinations", measure: benchDestinations},
	{name: "statements", measure: benchStatements},
	{name: "idle", measure: benchIdle},
	{name: "processes", measure: benchProcesses, asked: true},
	{name: "lists", measure: benchLists},
	{name: "scheduled", measure: benchScheduled},
	{name: "blackhole", measure: benchBlackhole},
	{name: "webhooks", measure: benchWebhooks},
	{name: "webhook-isolation", measure: benchWebhookIsolation},
	{name: "fanout", measure: benchFanout},
	{name: "streams", measure: benchStreams},
	{name: "automations", measure: benchAutomations},
	{name: "guessing", measure: benchGuessing, asked: true},
	{name: "peers", measure: benchPeers, asked: true},
	{name: "inbound", measure: benchInbound, asked: true},
	{name: "million", measure: benchMillion, asked: true},
	{name: "rollups", measure: benchRollups, asked: true},
	{name: "statistics", measure: benchStatistics, asked: true},
	{name: "months", measure: benchMonths, asked: true},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func run(ctx context.Context, p plan, only string) error {
	if p.rounds < 1 || p.messages < 10 || p.each < time.Second || (only != "" && !slices.Contains(partNames(), only)) {
		return fmt.Errorf("-rounds must be at least 1, -messages 10, -for 1s, and -only one of %s", strings.Join(partNames(), ", "))
	}
	if _, err := os.Stat(p.binary); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	var targets []target
	for _, part := range parts {
		if only != "" && only != part.name || only == "" && part.asked {
			continue
		}
		reached, err := inScratch(func(dir string) ([]target, error) { return part.measure(ctx, p, dir) })
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		targets = append(targets, reached...)
	}
	report(targets)
	return nil
}

// inScratch runs a part in a folder that is deleted after it.
func inScratch(measure func(dir string) ([]target, error)) (_ []target, err error) {
	dir, err := os.MkdirTemp("", "postrider-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user when we are root
		return nil, err
	}
	return measure(dir)
}

// progress is a line about what is going on, kept apart from the results.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

func report(targets []target) {
	fmt.Printf("\n%-46s %8s %8s   %s\n", "ratio (median of the rounds)", "reached", "wanted", "rounds")
	for _, t := range targets {
		wanted := "-"
		switch {
		case t.least > 0:
			wanted = fmt.Sprintf("≥ %.2f", t.least)
		case t.most > 0:
			wanted = fmt.Sprintf("≤ %.2f", t.most)
		}
		fmt.Printf("%-46s %8.2f %8s   %.2f\n", t.name, figures.Median(t.ratios), wanted, t.ratios)
	}
}
