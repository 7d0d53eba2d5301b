package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/client"
	"github.com/postrider/postrider/cmd/bench/machine"
)

var clientCounts = []int{1, 16, 64}

// measureAccepts compares POST /emails with inserts by pgbench. The server does not deliver.
func measureAccepts(ctx context.Context, o options, dir string) ([]result, error) {
	binary, err := machine.FindPgbench()
	if err != nil {
		return nil, err
	}
	logProgress("starting Postrider to accept emails")
	s, err := start(ctx, o, dir, acceptOnly)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	pgbench, err := machine.NewPgbench(ctx, binary, dir, s.DatabaseURL, s.db)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-10s %14s %14s %10s %10s\n", "clients", "pgbench/s", "accepts/s", "p50", "p95")
	var results []result
	for _, clients := range clientCounts {
		logProgress("accepts from %d clients and pgbench, %d rounds of %s each", clients, o.rounds, o.length)
		r, err := compareAccepts(ctx, o, s, pgbench, clients)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	s.printPeakMemory()
	return results, nil
}

func compareAccepts(ctx context.Context, o options, s *server, pgbench *machine.Pgbench, clients int) (result, error) {
	r := result{name: fmt.Sprintf("accepts / pgbench inserts, %d clients", clients)}
	r.min = map[int]float64{16: 0.3, 64: 0.45}[clients]
	var inserts, accepts []float64
	var all []time.Duration
	if _, _, err := postEmails(ctx, s, clients, time.Second); err != nil { // warm-up
		return r, err
	}
	for range o.rounds {
		inserted, err := pgbench.Run(ctx, clients, o.length)
		if err != nil {
			return r, err
		}
		accepted, took, err := postEmails(ctx, s, clients, o.length)
		if err != nil {
			return r, err
		}
		inserts, accepts, all = append(inserts, inserted), append(accepts, accepted), append(all, took...)
		r.rounds = append(r.rounds, accepted/inserted)
	}
	fmt.Printf("%-10d %14.0f %14.0f %10s %10s\n", clients,
		median(inserts), median(accepts), percentile(all, 50), percentile(all, 95))
	return r, nil
}

// poster is a client that posts repeatedly.
type poster interface {
	Post() error
	Close()
}

// measurePosts posts with concurrent clients and returns the posts per second and the time of each.
func measurePosts[P poster](
	ctx context.Context, length time.Duration, open func(context.Context) ([]P, error),
) (float64, []time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	clients, err := open(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer client.CloseAll(clients)
	took := make([][]time.Duration, len(clients))
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for i := range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				start := time.Now()
				if err := clients[i].Post(); err != nil && ctx.Err() == nil {
					failed.Store(&err)
					cancel()
				} else if err == nil {
					took[i] = append(took[i], time.Since(start))
				}
			}
		})
	}
	all.Wait()
	elapsed := time.Since(begin)
	if err := failed.Load(); err != nil {
		return 0, nil, *err
	}
	flat := slices.Concat(took...)
	if len(flat) == 0 {
		return 0, nil, errors.Join(errors.New("no post finished"), ctx.Err())
	}
	return float64(len(flat)) / elapsed.Seconds(), flat, nil
}

// postEmails posts single emails with concurrent clients.
func postEmails(ctx context.Context, s *server, clients int, length time.Duration) (float64, []time.Duration, error) {
	return measurePosts(ctx, length, func(ctx context.Context) ([]*client.Sender, error) {
		return client.NewSenders(ctx, s.Server, clients)
	})
}

// measureRelay compares emails over SMTP with POST /emails, from the same number of connections. The server does not
// deliver.
func measureRelay(ctx context.Context, o options, dir string) ([]result, error) {
	const clients = 16
	logProgress("starting Postrider to accept emails over SMTP and HTTP")
	s, err := start(ctx, o, dir, acceptOnly)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if s.Relay == nil {
		return nil, errors.New("the SMTP relay is disabled")
	}
	submit := func(length time.Duration) (float64, []time.Duration, error) {
		return measurePosts(ctx, length, func(ctx context.Context) ([]*client.Submitter, error) {
			return client.NewSubmitters(ctx, s.Server, clients)
		})
	}
	r := result{name: fmt.Sprintf("SMTP / POST /emails, %d clients", clients), min: 0.8}
	var posts, submissions []float64
	var all []time.Duration
	if _, _, err := submit(time.Second); err != nil { // warm-up
		return nil, err
	}
	for range o.rounds {
		posted, _, err := postEmails(ctx, s, clients, o.length)
		if err != nil {
			return nil, err
		}
		submitted, took, err := submit(o.length)
		if err != nil {
			return nil, err
		}
		posts, submissions, all = append(posts, posted), append(submissions, submitted), append(all, took...)
		r.rounds = append(r.rounds, submitted/posted)
	}
	fmt.Printf("%-36s %11.0f /s\n", "POST /emails", median(posts))
	fmt.Printf("%-36s %11.0f /s   p50 %s, p95 %s\n\n", "emails over SMTP",
		median(submissions), percentile(all, 50), percentile(all, 95))
	return []result{r}, nil
}

// batchSize is the largest size of a batch.
const batchSize = 100

// measureBatch compares batches from one client with single emails from one client and from many. The server does not
// deliver.
func measureBatch(ctx context.Context, o options, dir string) ([]result, error) {
	const many = 16
	logProgress("starting Postrider to accept batches")
	s, err := start(ctx, o, dir, acceptOnly)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	one := result{name: fmt.Sprintf("batches of %d / single emails, 1 client", batchSize), min: 2}
	all := result{name: fmt.Sprintf("batches, 1 client / single emails, %d clients", many)}
	var batches, singles, manySingles []float64
	if _, err := postBatches(ctx, s, time.Second); err != nil { // warm-up
		return nil, err
	}
	for range o.rounds {
		single, _, err := postEmails(ctx, s, 1, o.length)
		if err != nil {
			return nil, err
		}
		manySingle, _, err := postEmails(ctx, s, many, o.length)
		if err != nil {
			return nil, err
		}
		batch, err := postBatches(ctx, s, o.length)
		if err != nil {
			return nil, err
		}
		batches, singles, manySingles = append(batches, batch), append(singles, single), append(manySingles, manySingle)
		one.rounds, all.rounds = append(one.rounds, batch/single), append(all.rounds, batch/manySingle)
	}
	fmt.Printf("%-36s %11.0f /s\n", "single emails, 1 client", median(singles))
	fmt.Printf("%-36s %11.0f /s\n", fmt.Sprintf("single emails, %d clients", many), median(manySingles))
	fmt.Printf("%-36s %11.0f /s\n\n", fmt.Sprintf("emails in batches of %d, 1 client", batchSize), median(batches))
	return []result{one, all}, nil
}

// postBatches posts batches sequentially and returns the emails per second. A rejected email is an error.
func postBatches(ctx context.Context, s *server, length time.Duration) (float64, error) {
	emails := slices.Repeat([][]byte{s.SampleEmail("someone@example.net")}, batchSize)
	body := slices.Concat([]byte(`{"emails":[`), bytes.Join(emails, []byte(",")), []byte("]}"))
	sent, begin := 0, time.Now()
	for time.Since(begin) < length {
		answer, err := s.Post(ctx, "/emails/batch", body)
		if err != nil {
			return 0, err
		}
		if n := bytes.Count(answer, []byte(`"status":"sent"`)); n != batchSize {
			return 0, fmt.Errorf("%d of %d emails were sent: %s", n, batchSize, answer)
		}
		sent += batchSize
	}
	return float64(sent) / time.Since(begin).Seconds(), nil
}
