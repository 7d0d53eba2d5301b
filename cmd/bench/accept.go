package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postrider/postrider/cmd/bench/caller"
	"github.com/postrider/postrider/cmd/bench/figures"
	"github.com/postrider/postrider/cmd/bench/postgres"
	"github.com/postrider/postrider/cmd/bench/process"
)

var clientCounts = []int{1, 16, 64}

// benchAccepts measures with delivery switched off, so that the cores serve the
// requests and nothing else.
func benchAccepts(ctx context.Context, p plan, dir string) ([]target, error) {
	pgbench, err := postgres.Find() // known before anything is started
	if err != nil {
		return nil, err
	}
	progress("starting Postrider to accept mail only")
	server, err := start(ctx, p.binary, dir, "POSTRIDER_DELIVERY_CONCURRENCY=0")
	if err != nil {
		return nil, err
	}
	defer server.stop()
	inserts, err := postgres.New(ctx, pgbench, server.Ready.DatabaseURL, dir)
	if err != nil {
		return nil, err
	}
	fmt.Printf("%-10s %14s %14s %10s %10s\n", "clients", "pgbench/s", "accepts/s", "p50", "p95")
	var out []target
	for _, clients := range clientCounts {
		progress("accepts from %d clients beside pgbench, %d rounds of %s each", clients, p.rounds, p.each)
		t, err := acceptRounds(ctx, p, server.Ready, inserts, clients)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	fmt.Printf("%-36s %11s\n", "peak memory of the server process", process.UsageOf(server.cmd.Process.Pid))
	return out, nil
}

func acceptRounds(ctx context.Context, p plan, r ready, inserts *postgres.Pgbench, clients int) (target, error) {
	t := target{name: fmt.Sprintf("accepts / pgbench inserts, %d clients", clients)}
	t.least = map[int]float64{16: 0.3, 64: 0.45}[clients]
	var bases, rates []float64
	var all []time.Duration
	if _, _, err := measureAccepts(ctx, r, clients, time.Second); err != nil { // warm-up
		return t, err
	}
	for range p.rounds {
		base, err := inserts.Run(ctx, clients, p.each)
		if err != nil {
			return t, err
		}
		rate, took, err := measureAccepts(ctx, r, clients, p.each)
		if err != nil {
			return t, err
		}
		bases, rates, all = append(bases, base), append(rates, rate), append(all, took...)
		t.ratios = append(t.ratios, rate/base)
	}
	fmt.Printf("%-10d %14.0f %14.0f %10s %10s\n", clients, figures.Median(bases), figures.Median(rates), figures.Percentile(all, 50), figures.Percentile(all, 95))
	return t, nil
}

// newCallers returns callers that post the sample email to the addresses in turn, each
// beginning with another one; without addresses they all post to the same.
func newCallers(ctx context.Context, r ready, n int, addresses ...string) (all []*caller.Caller, err error) {
	if len(addresses) == 0 {
		addresses = []string{"someone@example.net"}
	}
	bodies := make([][]byte, len(addresses))
	for i, address := range addresses {
		bodies[i] = sampleEmail(r, address)
	}
	for i := range n {
		first := i % len(bodies)
		c, err := caller.New(ctx, r.APIURL+"/emails", r.APIKey, slices.Concat(bodies[first:], bodies[:first])...)
		if err != nil {
			caller.CloseAll(all)
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// measureAccepts posts from the given number of clients and gives accepts/s and
// the time that each took. Any answer but 200 is an error.
func measureAccepts(ctx context.Context, r ready, clients int, length time.Duration) (float64, []time.Duration, error) {
	return measurePosts(ctx, length, func(ctx context.Context) ([]*caller.Caller, error) { return newCallers(ctx, r, clients) })
}

// measurePosts has callers post for so long and gives posts/s and the time that each took. An
// answer that a caller does not want is an error.
func measurePosts(ctx context.Context, length time.Duration, open func(context.Context) ([]*caller.Caller, error)) (float64, []time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	callers, err := open(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer caller.CloseAll(callers)
	took := make([][]time.Duration, len(callers))
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	begin := time.Now()
	for i := range callers {
		all.Go(func() {
			for ctx.Err() == nil {
				start := time.Now()
				if err := callers[i].Post(); err != nil && ctx.Err() == nil {
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
	return float64(len(flat)) / elapsed.Seconds(), flat, nil
}

// postTo gives the body of the answer, which must be 200.
func postTo(ctx context.Context, client *http.Client, r ready, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.APIURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(res.Body)
	if closeErr := res.Body.Close(); err == nil {
		err = closeErr
	}
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST %s answered %d: %s", path, res.StatusCode, answer)
	}
	return answer, err
}

// sampleEmail returns an ordinary transactional message: about 2 KB of HTML and a
// short text.
func sampleEmail(r ready, to string) []byte {
	html := "<html><body><h1>Your receipt</h1>" + strings.Repeat("<p>One line of what was bought, with its price.</p>", 40) + "</body></html>"
	body, err := json.Marshal(map[string]any{
		"from": "Bench <bench@" + r.VerifiedDomain + ">", "to": to, "subject": "Your receipt",
		"html": html, "text": "Your receipt: one line of what was bought.", "tags": map[string]string{"kind": "receipt"},
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return body
}
