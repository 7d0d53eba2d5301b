package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
)

// benchFanout measures how many events a second the bus turns into deliveries, for an
// account with 1, 10 and 100 endpoints. Nothing is delivered meanwhile.
func benchFanout(ctx context.Context, p plan, dir string) ([]target, error) {
	progress("starting Postrider to fan events out, and deliver nothing")
	s, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer s.stop()
	h, err := newHooks(ctx, s.Ready)
	if err != nil {
		return nil, err
	}
	defer h.close()
	fmt.Printf("%-12s %12s %14s\n", "endpoints", "events/s", "deliveries/s")
	for _, endpoints := range []int{1, 10, 100} {
		if err := h.grow(ctx, endpoints); err != nil {
			return nil, err
		}
		events := max(200, p.messages/(1+endpoints/20))
		progress("%d rounds of %d events for %d endpoints", p.rounds, events, endpoints)
		var rates []float64
		for round := range p.rounds + 1 {
			rate, err := h.fanOut(ctx, events, endpoints)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one is a warm-up
				rates = append(rates, rate)
			}
		}
		fmt.Printf("%-12d %12.0f %14.0f\n", endpoints, figures.Median(rates), figures.Median(rates)*float64(endpoints))
	}
	return nil, nil
}

// grow gives the account n endpoints. It may have 50 by itself; so while one is made
// the others are another's.
func (h *hooks) grow(ctx context.Context, n int) error {
	const others = `UPDATE webhooks SET account_id = 'acc_00000000000000000000000000'`
	var have int
	if err := h.conn.QueryRowContext(ctx, `SELECT count(*) FROM webhooks`).Scan(&have); err != nil {
		return err
	}
	for ; have < n; have++ {
		if _, err := h.conn.ExecContext(ctx, others); err != nil {
			return err
		}
		if err := h.endpoints(ctx, 1, "http://127.0.0.1:9/hooks"); err != nil {
			return err
		}
	}
	_, err := h.conn.ExecContext(ctx, `UPDATE webhooks SET account_id = (SELECT id FROM accounts ORDER BY id LIMIT 1)`)
	return err
}

// fanOut gives how many events a second become deliveries.
func (h *hooks) fanOut(ctx context.Context, events, endpoints int) (float64, error) {
	const count = `SELECT count(*) FROM webhook_deliveries WHERE event_type = 'email.delivered'` // the account has others
	var before, after int
	if err := h.conn.QueryRowContext(ctx, count).Scan(&before); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := h.onTheBus(ctx, events); err != nil {
		return 0, err
	}
	if err := h.until(ctx, `SELECT count(*) = 0 FROM bus_messages`); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	if err := h.conn.QueryRowContext(ctx, count).Scan(&after); err != nil {
		return 0, err
	}
	if made := after - before; made != events*endpoints {
		return 0, fmt.Errorf("%d events for %d endpoints made %d deliveries", events, endpoints, made)
	}
	return float64(events) / took.Seconds(), nil
}
