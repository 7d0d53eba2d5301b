package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postrider/postrider/cmd/bench/seed"
)

// measureFanout measures how many events per second the bus turns into deliveries, for 1, 10 and 100 endpoints. The
// server does not deliver.
func measureFanout(ctx context.Context, o options, dir string) ([]result, error) {
	logProgress("starting Postrider to fan out events")
	s, err := start(ctx, o, dir, acceptOnly)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	fmt.Printf("%-12s %12s %14s\n", "endpoints", "events/s", "deliveries/s")
	for _, endpoints := range []int{1, 10, 100} {
		if err := growEndpoints(ctx, s, endpoints); err != nil {
			return nil, err
		}
		events := max(200, o.messages/(1+endpoints/20))
		logProgress("%d rounds of %d events for %d endpoints", o.rounds, events, endpoints)
		var rates []float64
		for round := range o.rounds + 1 {
			rate, err := fanOut(ctx, s, events, endpoints)
			if err != nil {
				return nil, err
			}
			if round > 0 { // the first one is a warm-up
				rates = append(rates, rate)
			}
		}
		fmt.Printf("%-12d %12.0f %14.0f\n", endpoints, median(rates), median(rates)*float64(endpoints))
	}
	return nil, nil
}

// growEndpoints increases the number of endpoints of the account to n. The limit of an account is 50, so the existing
// ones move to another account while a new one is created.
func growEndpoints(ctx context.Context, s *server, n int) error {
	var count int
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM webhooks`).Scan(&count); err != nil {
		return err
	}
	for ; count < n; count++ {
		if _, err := s.db.ExecContext(ctx, `UPDATE webhooks SET account_id = 'acc_00000000000000000000000000'`); err != nil {
			return err
		}
		if err := s.createEndpoint(ctx, "http://127.0.0.1:9/hooks"); err != nil {
			return err
		}
	}
	_, err := s.db.ExecContext(ctx, `UPDATE webhooks SET account_id = (SELECT id FROM accounts ORDER BY id LIMIT 1)`)
	return err
}

// fanOut inserts events and returns how many per second become deliveries.
func fanOut(ctx context.Context, s *server, events, endpoints int) (float64, error) {
	const countSQL = `SELECT count(*) FROM webhook_deliveries WHERE event_type = 'email.delivered'`
	var before, after int
	if err := s.db.QueryRowContext(ctx, countSQL).Scan(&before); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := seed.InsertEvents(ctx, s.db, events); err != nil {
		return 0, err
	}
	if err := s.waitUntil(ctx, `SELECT count(*) = 0 FROM bus_messages`); err != nil {
		return 0, err
	}
	elapsed := time.Since(begin)
	if err := s.db.QueryRowContext(ctx, countSQL).Scan(&after); err != nil {
		return 0, err
	}
	if added := after - before; added != events*endpoints {
		return 0, fmt.Errorf("%d events for %d endpoints became %d deliveries", events, endpoints, added)
	}
	return float64(events) / elapsed.Seconds(), nil
}
