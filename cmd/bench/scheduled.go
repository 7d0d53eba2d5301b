package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/receivers"
	"github.com/postrider/postrider/cmd/bench/stored"
)

// pickedBy is how the statement begins that the product picks due recipients by. What is
// measured is that statement itself, as PostgreSQL counts it.
const pickedBy = `^\s*WITH common AS \(\s*SELECT id, email_id, attempts, lane, destination, via, account_id FROM recipients WHERE due_at`

const (
	waitingEmails = 1_000_000 // scheduled for some later day
	burst         = 1_000     // scheduled for one moment
)

// benchScheduled compares a database in which a million scheduled emails wait with
// one in which none does: how soon emails are released and delivered that are
// scheduled for one moment, and how fast mail is accepted. Each has a server of its
// own, and they are measured in turns.
func benchScheduled(ctx context.Context, p plan, dir string) ([]target, error) {
	few, many := filepath.Join(dir, "none"), filepath.Join(dir, "million")
	released, err := benchRelease(ctx, p, few, many)
	if err != nil {
		return nil, err
	}
	accepts, err := benchAcceptsBeside(ctx, p, few, many)
	return append(released, accepts), err
}

// pair is two servers: beside nothing, and beside a million scheduled emails.
type pair struct{ few, many *server }

func startPair(ctx context.Context, p plan, start func(ctx context.Context, binary, dir string, env ...string) (*server, error), few, many string, env ...string) (pair, error) {
	var both pair
	var err error
	if both.few, err = start(ctx, p.binary, few, env...); err != nil {
		return pair{}, err
	}
	if both.many, err = start(ctx, p.binary, many, env...); err != nil {
		both.few.stop()
		return pair{}, err
	}
	return both, nil
}

func (b pair) stop() { b.few.stop(); b.many.stop() }

func benchRelease(ctx context.Context, p plan, few, many string) ([]target, error) {
	for _, dir := range []string{few, many} {
		if err := os.Mkdir(dir, 0o755); err != nil { // PostgreSQL runs as another user when we are root
			return nil, err
		}
	}
	sink, err := receivers.NewSink(ctx)
	if err != nil {
		return nil, err
	}
	defer sink.Close()
	progress("starting two Postriders to deliver to a sink on loopback")
	both, err := startPair(ctx, p, startCounting, few, many, "POSTRIDER_OUTBOUND=smtp://"+sink.Addr())
	if err != nil {
		return nil, err
	}
	defer both.stop()
	progress("storing %d scheduled emails in one of them", waitingEmails)
	if err := stored.Scheduled(ctx, both.many.Ready.DatabaseURL, waitingEmails); err != nil {
		return nil, err
	}
	release := target{name: "release of 1,000: beside 1 million / none", most: 1.1}
	lookup := target{name: "pick due recipients: 1 million / none", most: 1.1}
	var few95, many95, fewLook, manyLook []float64
	progress("%d rounds of %d emails for one moment", p.rounds, burst)
	for round := range p.rounds + 1 {
		a, err := timeBurst(ctx, both.few.Ready, sink)
		if err != nil {
			return nil, err
		}
		b, err := timeBurst(ctx, both.many.Ready, sink)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			continue // warm-up
		}
		few95, many95 = append(few95, a.last), append(many95, b.last)
		fewLook, manyLook = append(fewLook, a.lookup), append(manyLook, b.lookup)
		release.ratios, lookup.ratios = append(release.ratios, b.last/a.last), append(lookup.ratios, b.lookup/a.lookup)
	}
	fmt.Printf("%-42s %14s %14s\n", "scheduled emails that wait", "none", "1 million")
	fmt.Printf("%-42s %12.0f ms %11.0f ms\n", "the last of 1,000 is released after", 1000*figures.Median(few95), 1000*figures.Median(many95))
	fmt.Printf("%-42s %12.2f ms %11.2f ms\n", "PostgreSQL picks due recipients in", 1000*figures.Median(fewLook), 1000*figures.Median(manyLook))
	return []target{release, lookup}, nil
}

func benchAcceptsBeside(ctx context.Context, p plan, few, many string) (target, error) {
	t := target{name: "accepts, 16 clients: beside 1 million / none", least: 0.9}
	progress("starting two Postriders to accept mail only; %d rounds of %s each", p.rounds, p.each)
	both, err := startPair(ctx, p, start, few, many, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return t, err
	}
	defer both.stop()
	var fewRates, manyRates []float64
	for round := range p.rounds + 1 {
		a, _, err := measureAccepts(ctx, both.few.Ready, 16, p.each)
		if err != nil {
			return t, err
		}
		b, _, err := measureAccepts(ctx, both.many.Ready, 16, p.each)
		if err != nil {
			return t, err
		}
		if round == 0 {
			continue
		}
		fewRates, manyRates, t.ratios = append(fewRates, a), append(manyRates, b), append(t.ratios, b/a)
	}
	fmt.Printf("%-42s %12.0f /s %11.0f /s\n", "accepts from 16 clients", figures.Median(fewRates), figures.Median(manyRates))
	return t, nil
}

// timed is in seconds: from the scheduled moment until the last is released, and
// for the statement that picks due recipients while they are released and delivered.
type timed struct{ last, lookup float64 }

// timeBurst schedules emails for one moment and waits until all have arrived.
func timeBurst(ctx context.Context, r ready, s *receivers.Sink) (t timed, err error) {
	conn, err := sql.Open("postgres", r.DatabaseURL)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	arrived := s.Expect(burst)
	far := time.Now().AddDate(0, 1, 0).UTC().Truncate(time.Millisecond)
	if err := scheduleAll(ctx, r, far); err != nil {
		return t, err
	}
	// To one moment all at once: how long accepting them took does not matter then.
	var at time.Time
	const ahead = 3 * time.Second
	if err := conn.QueryRowContext(ctx, `SELECT date_trunc('second', now()) + $1 * interval '1 second'`, ahead.Seconds()).Scan(&at); err != nil {
		return t, err
	}
	if _, err := conn.ExecContext(ctx, `UPDATE emails SET scheduled_at = $1, release_at = $1 WHERE release_at = $2`, at, far); err != nil {
		return t, err
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_stat_statements_reset()`); err != nil {
		return t, err
	}
	select {
	case <-arrived:
	case <-time.After(time.Minute):
		return t, fmt.Errorf("the sink has not received every scheduled message within a minute: %d are missing", s.Left())
	case <-ctx.Done():
		return t, ctx.Err()
	}
	var first float64
	err = conn.QueryRowContext(ctx, `SELECT extract(epoch FROM min(sent_at) - $1), extract(epoch FROM max(sent_at) - $1) FROM emails WHERE scheduled_at = $1`, at).Scan(&first, &t.last)
	if err == nil && first < 0 {
		err = fmt.Errorf("an email was released %.3f s before its time", -first)
	}
	if err != nil {
		return t, err
	}
	err = conn.QueryRowContext(ctx, `SELECT sum(total_exec_time) / sum(calls) / 1000 FROM pg_stat_statements WHERE query ~ $1`, pickedBy).Scan(&t.lookup)
	if err != nil {
		return t, fmt.Errorf("the statement that picks due recipients has not run, or begins otherwise: %w", err)
	}
	return t, nil
}

func scheduleAll(ctx context.Context, r ready, at time.Time) error {
	var body map[string]any
	if err := json.Unmarshal(sampleEmail(r, "someone@example.net"), &body); err != nil {
		return err
	}
	body["scheduled_at"] = at
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	const clients = 16
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for next.Add(1) <= burst && failed.Load() == nil {
				if _, err := postTo(ctx, client, r, "/emails", encoded); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
