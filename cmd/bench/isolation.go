package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/receivers"
)

const (
	steadyEndpoints = 8
	steadyPause     = 25 * time.Millisecond // between two events, each for all endpoints
)

// benchWebhookIsolation measures how soon events arrive at endpoints that are well, at
// a steady pace: by themselves, and beside one that hangs for 10 s and one that always
// fails, which get the same events.
func benchWebhookIsolation(ctx context.Context, p plan, dir string) ([]target, error) {
	t := target{name: "p99 beside endpoints that hang and fail / alone", most: 2}
	w := &pace{since: map[string]time.Time{}}
	well, err := receivers.NewWebhook(ctx, "200 OK", 0, w.heard)
	if err != nil {
		return nil, err
	}
	defer well.Close()
	const hangFor = 10 * time.Second
	hanging, err := receivers.NewWebhook(ctx, "200 OK", hangFor, nil)
	if err != nil {
		return nil, err
	}
	defer hanging.Close()
	failing, err := receivers.NewWebhook(ctx, "500 Internal Server Error", 0, nil)
	if err != nil {
		return nil, err
	}
	defer failing.Close()
	progress("starting Postrider to deliver webhooks at a steady pace")
	s, err := start(ctx, p.binary, dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	h, err := newHooks(ctx, s.Ready)
	if err != nil {
		return nil, err
	}
	defer h.close()
	if err := h.endpoints(ctx, steadyEndpoints, well.URL()); err != nil {
		return nil, err
	}
	if err := h.endpoints(ctx, 2, hanging.URL(), failing.URL()); err != nil {
		return nil, err
	}
	// An endpoint that always fails would be switched off after a while.
	ill := func(on bool) error {
		_, err := h.conn.ExecContext(ctx, `UPDATE webhooks SET enabled = $1, updated_at = clock_timestamp() WHERE url IN ($2, $3)`, on, hanging.URL(), failing.URL())
		return err
	}
	progress("%d rounds of %s alone and %s beside them", p.rounds, p.each, p.each)
	var alones, besides []float64
	for round := range p.rounds + 1 {
		if err := ill(false); err != nil {
			return nil, err
		}
		alone, err := w.run(ctx, h, well, p.each)
		if err != nil {
			return nil, err
		}
		if err := ill(true); err != nil {
			return nil, err
		}
		beside, err := w.run(ctx, h, well, p.each)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			continue // warm-up
		}
		alones, besides, t.ratios = append(alones, alone), append(besides, beside), append(t.ratios, beside/alone)
	}
	fmt.Printf("%-46s %8.1f ms\n%-46s %8.1f ms\n\n", "p99 until a webhook arrives, alone", 1000*figures.Median(alones), "beside one that hangs and one that fails", 1000*figures.Median(besides))
	return []target{t}, nil
}

// pace notes when events happen and how much later they arrive.
type pace struct {
	mutex sync.Mutex
	since map[string]time.Time
	took  []time.Duration
}

func (w *pace) heard(event string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.took = append(w.took, time.Since(w.since[event]))
}

// run makes events for a while and gives the 99th percentile of their way, in seconds.
func (w *pace) run(ctx context.Context, h *hooks, well *receivers.Webhook, length time.Duration) (float64, error) {
	w.mutex.Lock()
	w.took = nil
	w.mutex.Unlock()
	events := int(length / steadyPause)
	arrived := well.Expect(events * steadyEndpoints)
	tick := time.NewTicker(steadyPause)
	defer tick.Stop()
	for range events {
		<-tick.C
		if err := h.publish(ctx, func(event string) {
			w.mutex.Lock()
			w.since[event] = time.Now()
			w.mutex.Unlock()
		}); err != nil {
			return 0, err
		}
	}
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		return 0, fmt.Errorf("%d of %d deliveries are missing after a minute", well.Left(), events*steadyEndpoints)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	slices.Sort(w.took)
	return w.took[len(w.took)*99/100].Seconds(), nil
}
