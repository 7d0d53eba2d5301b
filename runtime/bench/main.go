// Command bench measures Postrider beside the ceilings of the machine it runs on,
// in one run and on one scratch PostgreSQL with fsync on:
//
//   - durable accepts/s of POST /emails at 1, 16 and 64 clients, beside pgbench's
//     durable single-row inserts/s at the same concurrency;
//   - messages/s end to end (accepted, DKIM-signed, received by a sink on
//     loopback), beside RSA-2048 signatures/s on all cores.
//
// The ratios are what counts; the rates belong to the machine. Everything stays
// on loopback and ends by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// target is a ratio to reach.
type target struct {
	name  string
	ratio float64
	least float64 // 0: no target
}

func main() {
	binary := flag.String("postrider", "bin/postrider", "the binary to measure")
	each := flag.Duration("for", 5*time.Second, "length of each measurement")
	messages := flag.Int("messages", 4000, "messages of the end-to-end run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *binary, *each, *messages)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary string, each time.Duration, messages int) error {
	dir, err := os.MkdirTemp("", "postrider-bench-")
	if err != nil {
		return err
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}()
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user when we are root
		return err
	}
	// Delivery first: accepting leaves a queue behind.
	endToEnd, err := benchDelivery(ctx, binary, dir, each, messages)
	if err != nil {
		return err
	}
	targets, err := benchAccepts(ctx, binary, dir, each)
	if err != nil {
		return err
	}
	report(append(targets, endToEnd))
	return nil
}

func report(targets []target) {
	fmt.Printf("\n%-46s %8s %8s\n", "ratio", "reached", "wanted")
	for _, t := range targets {
		wanted := "-"
		if t.least > 0 {
			wanted = fmt.Sprintf("≥ %.2f", t.least)
		}
		fmt.Printf("%-46s %8.2f %8s\n", t.name, t.ratio, wanted)
	}
}
