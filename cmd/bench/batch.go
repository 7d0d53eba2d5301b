package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
)

// batchSize is as large as a batch may be.
const batchSize = 100

// benchBatch measures messages/s of POST /emails/batch from one client beside
// single sends from one client and from many, in turns. Delivery is switched off.
func benchBatch(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to accept batches")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	const many = 16
	one := target{name: fmt.Sprintf("batches of %d / single sends, one client", batchSize), least: 2}
	all := target{name: fmt.Sprintf("one client's batches / %d clients' single sends", many)}
	var batches, singles, manySingles []float64
	if _, err := measureBatches(ctx, server.Ready, time.Second); err != nil { // warm-up
		return nil, err
	}
	for range p.rounds {
		single, _, err := measureAccepts(ctx, server.Ready, 1, p.each)
		if err != nil {
			return nil, err
		}
		manySingle, _, err := measureAccepts(ctx, server.Ready, many, p.each)
		if err != nil {
			return nil, err
		}
		batch, err := measureBatches(ctx, server.Ready, p.each)
		if err != nil {
			return nil, err
		}
		batches, singles, manySingles = append(batches, batch), append(singles, single), append(manySingles, manySingle)
		one.ratios, all.ratios = append(one.ratios, batch/single), append(all.ratios, batch/manySingle)
	}
	fmt.Printf("%-36s %11s\n", "messages/s", "")
	fmt.Printf("%-36s %11.0f\n", "single sends, one client", figures.Median(singles))
	fmt.Printf("%-36s %11.0f\n", fmt.Sprintf("single sends, %d clients", many), figures.Median(manySingles))
	fmt.Printf("%-36s %11.0f\n", fmt.Sprintf("batches of %d, one client", batchSize), figures.Median(batches))
	return []target{one, all}, nil
}

// measureBatches posts one batch after the other and gives messages/s. An item
// that was refused is an error.
func measureBatches(ctx context.Context, r ready, length time.Duration) (float64, error) {
	client := &http.Client{}
	defer client.CloseIdleConnections()
	item := sampleEmail(r, "someone@example.net")
	body := append([]byte(`{"emails":[`), bytes.Join(slices.Repeat([][]byte{item}, batchSize), []byte(","))...)
	body = append(body, "]}"...)
	sent, begin := 0, time.Now()
	for time.Since(begin) < length {
		answer, err := postTo(ctx, client, r, "/emails/batch", body)
		if err != nil {
			return 0, err
		}
		if n := bytes.Count(answer, []byte(`"status":"sent"`)); n != batchSize {
			return 0, fmt.Errorf("%d of %d items were sent: %s", n, batchSize, answer)
		}
		sent += batchSize
	}
	return float64(sent) / time.Since(begin).Seconds(), nil
}
