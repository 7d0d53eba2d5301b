package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"time"

	"github.com/postrider/postrider/cmd/bench/machine"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/cmd/bench/seed"
	"github.com/postrider/postrider/runtime/web/egress"
	"github.com/postrider/postrider/runtime/web/webhooksig"
)

// insertFunc inserts n events.
type insertFunc func(ctx context.Context, db *sql.DB, n int) error

// measureWebhooks compares webhook deliveries with POST requests of the same body, by the same HTTP client to the same
// receiver. It measures deliveries to 32 endpoints that are already in the queue, events that the server fans out at
// the same time, and queued deliveries to one endpoint.
func measureWebhooks(ctx context.Context, o options, dir string) ([]result, error) {
	queued := result{name: "webhook deliveries / signed POST requests", min: 0.5}
	fannedOut := result{name: "webhook deliveries with fan-out / signed POSTs"}
	receiver, err := receivers.NewWebhook(ctx)
	if err != nil {
		return nil, err
	}
	defer receiver.Close()
	s, err := startCounting(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := s.createEndpoints(ctx, receiver.URL()); err != nil {
		return nil, err
	}
	if _, err := deliverWebhooks(ctx, s, receiver, o.messages/10, seed.InsertDeliveries); err != nil { // warm-up
		return nil, err
	}
	logProgress("%d rounds of POST requests for %s and of 2 x %d deliveries", o.rounds, o.length, o.messages)
	var posts, queuedRates, fanOutRates []float64
	var postCPU, serverCPU, postgresCPU time.Duration // postCPU includes the receiver
	var posted float64
	for range o.rounds {
		before := machine.ReadUsage(os.Getpid()).CPU
		post, _, err := measurePosts(ctx, o.length, func(ctx context.Context) ([]*rawPoster, error) {
			return newRawPosters(ctx, receiver.URL()), nil
		})
		if err != nil {
			return nil, err
		}
		posted, postCPU = posted+post*o.length.Seconds(), postCPU+machine.ReadUsage(os.Getpid()).CPU-before
		server, tree := machine.ReadUsage(s.pid()).CPU, machine.ReadTreeCPU(s.pid())
		rate, err := deliverWebhooks(ctx, s, receiver, o.messages, seed.InsertDeliveries)
		if err != nil {
			return nil, err
		}
		server, tree = machine.ReadUsage(s.pid()).CPU-server, machine.ReadTreeCPU(s.pid())-tree
		serverCPU, postgresCPU = serverCPU+server, postgresCPU+tree-server
		both, err := deliverWebhooks(ctx, s, receiver, o.messages, seed.InsertEvents)
		if err != nil {
			return nil, err
		}
		posts, queuedRates, fanOutRates = append(posts, post), append(queuedRates, rate), append(fanOutRates, both)
		queued.rounds, fannedOut.rounds = append(queued.rounds, rate/post), append(fannedOut.rounds, both/post)
	}
	fmt.Printf("%-46s %8.0f /s\n", "signed POST requests", median(posts))
	fmt.Printf("%-46s %8.0f /s\n", "webhook deliveries, without fan-out", median(queuedRates))
	fmt.Printf("%-46s %8.0f /s\n", "webhook deliveries, with fan-out", median(fanOutRates))
	fmt.Printf("%-46s %8.2f s\n", "CPU per 1,000 POST requests, with the receiver", postCPU.Seconds()*1000/posted)
	thousands := float64(o.rounds*o.messages) / 1000
	fmt.Printf("%-46s %8.2f s, PostgreSQL %.2f s\n", "CPU per 1,000 deliveries: server",
		serverCPU.Seconds()/thousands, postgresCPU.Seconds()/thousands)
	if _, err := s.db.ExecContext(ctx, `SELECT pg_stat_statements_reset()`); err != nil {
		return nil, err
	}
	if _, err := deliverWebhooks(ctx, s, receiver, o.messages, seed.InsertDeliveries); err != nil {
		return nil, err
	}
	err = s.printTopStatements(ctx, fmt.Sprintf("%d deliveries, with their insertion", o.messages))
	if err != nil {
		return nil, err
	}
	if err := s.printDeliveryCost(ctx, receiver, o.messages); err != nil {
		return nil, err
	}
	return []result{queued, fannedOut}, s.printOneEndpoint(ctx, receiver, o)
}

// printOneEndpoint deletes all endpoints but one, and prints the rate of queued deliveries to it.
func (s *server) printOneEndpoint(ctx context.Context, receiver *receivers.Webhook, o options) error {
	if _, err := s.db.ExecContext(ctx, `DELETE FROM webhooks WHERE id <> (SELECT min(id) FROM webhooks)`); err != nil {
		return err
	}
	var rates []float64
	for range o.rounds {
		rate, err := deliverWebhooks(ctx, s, receiver, o.messages, seed.InsertDeliveries)
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	fmt.Printf("%-46s %8.0f /s\n\n", "webhook deliveries to one endpoint", median(rates))
	return nil
}

// printDeliveryCost prints what a delivery with its fan-out writes. The rows of events and of the bus count too.
func (s *server) printDeliveryCost(ctx context.Context, receiver *receivers.Webhook, n int) error {
	const costSQL = `
SELECT (SELECT sum(wal_bytes) FROM pg_stat_statements WHERE query NOT LIKE 'WITH stored AS%' AND query NOT LIKE '%INSERT INTO facts%'),
	(SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE relname LIKE 'webhook\_%')`
	var wal, rows [2]float64
	for i := range 2 {
		if i == 1 {
			if _, err := deliverWebhooks(ctx, s, receiver, n, seed.InsertEvents); err != nil {
				return err
			}
			if err := waitFor(ctx, time.After(2*time.Second)); err != nil { // backends report their row counts with a delay
				return err
			}
		}
		if err := s.db.QueryRowContext(ctx, costSQL).Scan(&wal[i], &rows[i]); err != nil {
			return err
		}
	}
	fmt.Printf("%-46s %8.0f B WAL, %.2f changed rows\n\n", "a delivery with its fan-out",
		(wal[1]-wal[0])/float64(n), (rows[1]-rows[0])/float64(n))
	return nil
}

// createEndpoint creates a webhook endpoint.
func (s *server) createEndpoint(ctx context.Context, url string) error {
	body, err := json.Marshal(map[string]string{"url": url})
	if err != nil {
		return err
	}
	_, err = s.Post(ctx, "/webhooks", body)
	return err
}

// createEndpoints creates one endpoint in each of 32 accounts, because a process limits concurrent requests to an
// endpoint. The accounts exist only as owners of the endpoints.
func (s *server) createEndpoints(ctx context.Context, url string) error {
	const accounts = 32
	for range accounts {
		if err := s.createEndpoint(ctx, url); err != nil {
			return err
		}
	}
	_, err := s.db.ExecContext(ctx, `UPDATE webhooks SET account_id = 'acc' || substr(id, 3)`)
	return err
}

// deliverWebhooks inserts n events, waits until their outcomes are stored, and returns the deliveries per second.
func deliverWebhooks(
	ctx context.Context, s *server, receiver *receivers.Webhook, n int, insert insertFunc,
) (float64, error) {
	arrived := receiver.Expect(n)
	begin := time.Now()
	if err := insert(ctx, s.db, n); err != nil {
		return 0, err
	}
	if receiver.Left() > int64(n/2) {
		begin = time.Now() // most deliveries started after the insertion
	}
	if err := waitArrived(ctx, receiver, arrived); err != nil {
		return 0, err
	}
	rate := float64(n) / time.Since(begin).Seconds()
	return rate, s.waitUntil(ctx, `SELECT NOT EXISTS (SELECT FROM webhook_works)`)
}

// rawPoster signs and posts an event with the HTTP client that the server uses for webhooks.
type rawPoster struct {
	ctx    context.Context // ends with the measurement
	client *http.Client
	url    string
	body   []byte
}

// newRawPosters returns as many posters as there can be concurrent deliveries.
func newRawPosters(ctx context.Context, url string) []*rawPoster {
	const concurrency = 128
	guard := egress.NewGuard([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	client := egress.NewClient(egress.ClientConfig{Guard: guard, PlainLoopback: true})
	context.AfterFunc(ctx, client.CloseIdleConnections)
	body := []byte(`{"type":"email.delivered","created_at":"2026-01-15T09:30:00.000Z","data":` +
		string(seed.SampleEvent()) + `}`)
	posters := make([]*rawPoster, concurrency)
	for i := range posters {
		posters[i] = &rawPoster{ctx: ctx, client: client, url: url, body: body}
	}
	return posters
}

// Post sends one signed request.
func (p *rawPoster) Post() error {
	req, err := http.NewRequestWithContext(p.ctx, http.MethodPost, p.url, bytes.NewReader(p.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Postrider-Webhooks/1")
	req.Header.Set("Service-Event-Id", "evt_01kf0m4w7he6x8q2v5b3n9c1ta")
	req.Header.Set(webhooksig.Header, webhooksig.Sign([]string{"whsec_5xQvT2mB9nK4rW7yZ1cF6hJ3pL8sD0aG"},
		time.Now(), p.body))
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return errors.Join(err, res.Body.Close())
}

// Close closes the connections of all posters.
func (p *rawPoster) Close() { p.client.CloseIdleConnections() }
